"""Views that look wrongly when they are read: defects of stitching, each to be found by the machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.stitching import base_reads, change_detection, key_groups, reader_sql
from integration.randomised.generator import Focus
from integration.randomised.history import History
from integration.randomised.mutants import Mutant

_GROUPED = frozenset({"group_by", "distinct", "cte"})
_NULL_SIDE = frozenset({"left_join_null_side"})
_ROWS = frozenset({"insert", "insert nulls", "delete", "move", "wipe a partition"})
_KEYS = frozenset({"d", "k", "r"})


def _focus(kinds: frozenset[str], shapes: frozenset[str] = _GROUPED) -> Focus:
    """Return histories whose every change is followed by stitched reads."""
    behaviors = {"use_stitching": 1}
    return Focus(shapes, kinds, _KEYS, views=2, rounds=2, storm=False, dbt=0, looks=2, behaviors=behaviors)


def _rewrite(module: Any, name: str, wrong: Callable[[Any], Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """Return a defect: what a function of the module returns, made wrong."""
    right = getattr(module, name)
    return lambda patch: patch.setattr(module, name, lambda *given: wrong(right(*given)))


def _replaced(module: Any, name: str, old: str, new: str) -> Callable[[pytest.MonkeyPatch], None]:
    """Return a defect: in the SQL that a function returns, other words."""

    def wrong(text: Any) -> Any:
        if isinstance(text, str):
            return text.replace(old, new)
        return type(text)(wrong(part) for part in text) if isinstance(text, (list, tuple)) else text

    return _rewrite(module, name, wrong)


def _filters_behind_outer_joins(patch: pytest.MonkeyPatch) -> None:
    right = base_reads.needed_by

    def wrong(relation: str, table: str, filters: Any) -> list[str]:
        return right(relation, table, [replace(f, may_be_null=False) for f in filters])

    patch.setattr(reader_sql, "needed_by", wrong)


def _without_null_keys(grain: Any) -> Any:
    return None if grain is None else replace(grain, adds_null=False)


def _without_null_rows(reads: list[str]) -> list[str]:
    return [read.replace("<=> k.", "= k.") for read in reads[:1]]


def _any_spec(patch: pytest.MonkeyPatch) -> None:
    right = key_groups.found_query
    patch.setattr(reader_sql, "found_query", lambda *given: right(*given).replace("spec_id NOT IN (", "-1 IN ("))


def _shares_deletion_vectors(history: History) -> bool:
    """Return whether the first table writes one file of deletion vectors for rows of several partitions."""
    table = history.tables[0]
    return table.version == 3 and table.mode == "merge-on-read" and len(table.rows) > 5


STITCHING_MUTANTS = (
    Mutant("fresh keys match without NULL", _replaced(reader_sql, "without_keys", "k0 IS NULL", "false"), _focus(_ROWS)),
    Mutant("NULL keys read nothing", _rewrite(reader_sql, "needed_by", _without_null_rows), _focus(_ROWS)),
    Mutant(
        "other columns are not seen",
        _rewrite(change_detection, "is_altered", lambda _: "false"),
        _focus(frozenset({"another column of a name"}), frozenset({"filter", "star"})),
    ),
    Mutant(
        "files are counted, not compared",
        _replaced(
            reader_sql, "changed", "GROUP BY file_path, content_offset HAVING count_if(side = 0) <> count_if(side = 1)",
            "GROUP BY file_path HAVING count(*) = 1",
        ),
        _focus(frozenset({"delete"})),
        _shares_deletion_vectors,
    ),
    Mutant(
        "stored rows beside the whole definition",
        _replaced(reader_sql, "fresh_arm", " LEFT ANTI JOIN icebergmv_whole", ""),
        _focus(frozenset({"evolve the partitions", "add a column", "another column of a name"})),
    ),
    Mutant("base filters behind outer joins", _filters_behind_outer_joins, _focus(_ROWS, _NULL_SIDE)),
    Mutant(
        "an outer join adds no NULL key", _rewrite(key_groups, "common_grain", _without_null_keys), _focus(_ROWS, _NULL_SIDE)
    ),
    Mutant(
        "files of other specs have the same fields",
        _any_spec,
        _focus(frozenset({"evolve the partitions", "wipe a partition", "delete", "empty"})),
    ),
)  # fmt: skip
"""Defects of the SQL of `use_stitching`."""
