"""The groups of a SELECT that are not merged: what rows below them a change reaches says which they are.

`SELECT country, median(total) … FROM (SELECT customer, country, sum(amount) AS total …) GROUP BY country`: a new order
changes the total of its customer, which is a row below the outer groups (rows_below.py). The keys of the rows that are
reached, as they were and as they are, are those of all groups that may be others now.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Known
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit
from dbt.adapters.icebergmv.maintenance.definition.merging.row_states import ungrouped
from dbt.adapters.icebergmv.maintenance.definition.merging.rows_below import RowsBelow, need_rows, rows_below
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import list_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql
from dbt.adapters.icebergmv.maintenance.definition.syntax.select_items import item_of, select_items
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedRelation


@dataclass(frozen=True)
class GroupKeys:
    """Keys of the groups of a SELECT that a region may name: their places in its list, and the rows `below`.

    `edits` make of its text the SELECT of the keys of each of these rows.
    """

    keys: tuple[int, ...]
    below: RowsBelow
    edits: tuple[TextEdit, ...]


def group_keys(
    parsed: ParsedSql, relation: TrackedRelation, references: Sequence[TableReference], known: Known
) -> GroupKeys | None:
    """Return the keys of the groups of a parsed SELECT, where some change is answered by no output column.

    None where they are not all listed, where a region may name none of them, where a row depends on other
    groups than its own, or where the rows below are not the same at every evaluation.
    """
    select, grouped = parsed.tree, relation.deltas.grouped
    if not isinstance(select, exp.Select) or grouped is None or not grouped.keys or grouped.has_sets:
        return None
    live = frozenset(r.index for r in references if not r.pinned)
    if not grouped.columns or grouped.has_ties or not need_rows(relation, live) or _reads_more(select):
        return None
    keys = tuple(i for i in grouped.keys if i in grouped.nameable)
    edits = _edits(parsed, select, keys) if keys else None
    below = None if edits is None else rows_below(parsed, grouped.columns, known)
    return None if edits is None or below is None else GroupKeys(keys, below, edits)


def _reads_more(select: exp.Select) -> bool:
    """Return whether a row depends on more than its group: by a window over groups, or a subquery in HAVING."""
    having = select.args.get("having")
    has_query = having is not None and having.find(exp.Query) is not None
    return has_query or any(item.find(exp.Window) for item in select.expressions)


def _edits(parsed: ParsedSql, select: exp.Select, keys: Collection[int]) -> tuple[TextEdit, ...] | None:
    """Return what makes of a text the SELECT of the keys of each row; None where it cannot be taken apart for certain.

    A key is text of its own: it reads no other item by its alias.
    """
    tokens, items = parsed.tokens, select_items(parsed.tokens)
    listed = list_of(select, tokens)
    nodes = [select.expressions[i] for i in keys]
    left_out = {e.output_name.lower() for i, e in enumerate(select.expressions) if i not in keys}
    read = {column.name.lower() for node in nodes for column in node.find_all(exp.Column)}
    if listed is None or left_out & read or any(node.find(exp.Query, exp.Star) for node in nodes):
        return None
    written = []
    for node in nodes:
        of_item = item_of(node, items)
        if not of_item:
            return None
        written.append((parsed.sql[of_item[0].start : of_item[-1].end + 1], node))
    return ungrouped(parsed, listed, written, ())
