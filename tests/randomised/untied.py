"""Views as the engine stores them: with more columns in the ORDER BY of windows whose rows tie."""

from __future__ import annotations

import re
from functools import lru_cache

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import scope_of
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import with_edits
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import find_references
from dbt.adapters.icebergmv.maintenance.definition.row_order.window_orders import (
    is_of_rows,
    numbers_rows,
    settled_nodes,
)
from dbt.adapters.icebergmv.maintenance.definition.rules import track
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from tests.randomised.planners import analysed

MOST_ROUNDS = 5


@lru_cache(maxsize=64)
def untied(sql: str, keys: tuple[str, ...] = ()) -> str:
    """Return a view as its rows tie no longer; the last items of its list are these hidden keys."""
    for _ in range(MOST_ROUNDS):
        ties = analysed(sql, keys=keys).ties
        if not ties:
            return sql
        sql = with_edits(sql, ties)
    raise AssertionError(f"rows still tie: {sql}")


def may_tie(sql: str) -> bool:
    """Return whether rows of a view may be numbered in several orders."""
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    find_references(parsed.tree, "ns")
    settled = settled_nodes(track(parsed.tree, scope_of(parsed, analysed(sql).known)).findings)
    windows = (window for window in parsed.tree.find_all(exp.Window) if id(window) not in settled)
    return any(numbers_rows(window) or is_of_rows(window) for window in windows)


def ranked(sql: str) -> str:
    """Return a view in which rows that tie have one number."""
    by_rank = sql.replace("row_number()", "rank()").replace(" ROWS 1 PRECEDING", "")
    return re.sub(r"\blag\(", "max(", by_rank)
