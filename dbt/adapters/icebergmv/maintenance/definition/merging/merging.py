"""Aggregates whose groups can be merged: whose changed rows give the changes of the states (`merged_states.py`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp
from sqlglot.tokens import Token

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Known
from dbt.adapters.icebergmv.maintenance.definition.merging.merged_items import ItemReader, called_aggregates
from dbt.adapters.icebergmv.maintenance.definition.merging.merged_states import Merging
from dbt.adapters.icebergmv.maintenance.definition.merging.row_signs import signed
from dbt.adapters.icebergmv.maintenance.definition.merging.rows_below import need_rows, rows_below
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import REFERENCE_INDEX, TableReference
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import Span, list_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Additive, TrackedRelation


def merging_of(
    parsed: ParsedSql,
    relation: TrackedRelation,
    references: Sequence[TableReference],
    known: Known,
) -> Merging | None:
    """Return how the groups of a parsed SELECT are merged; None where that is not proven."""
    select, grouped = parsed.tree, relation.deltas.grouped
    if not isinstance(select, exp.Select) or grouped is None or not grouped.shows_all:
        return None
    listed = list_of(select, parsed.tokens)
    if listed is None:
        return None
    additive = additive_by_index(grouped.below, relation, references)
    # What came may be there already, or an aggregate beside those of the list may read it.
    if grouped.compared is not None or _aggregates(parsed.tokens, outside=listed):
        additive = {}
    live = frozenset(r.index for r in references if not r.pinned)
    # A query below that is run again may find other rows than those that the stored states come from.
    need_keys = bool(grouped.columns) and not grouped.has_ties and need_rows(relation, live.difference(additive))
    found = ItemReader(parsed, listed, grouped).merging(select, additive) if additive or need_keys else None
    if found is None:
        return None
    below = rows_below(parsed, grouped.columns, known) if need_keys else None
    with_sign = {} if found.ungrouped is None else signed(parsed, additive)
    found = replace(found, below=below, compared=grouped.compared, whole=_read_whole(select), signed=with_sign)
    found = replace(found, only_adds=grouped.has_ties)
    return found if additive or found.below is not None else None


def additive_by_index(
    additive: Additive, relation: TrackedRelation, references: Sequence[TableReference]
) -> dict[int, frozenset[int]]:
    """Return the references whose changes add up, by their place in the text, with those that are read as empty.

    A reference that is used several times would be cut down for all of them; a pinned one is never rewritten.
    """
    uses = Counter(o.index for o in relation.occurrences)
    once = {r.index for r in references if uses[r.index] == 1 and not r.pinned}
    return {
        occurrence.index: frozenset(o.index for o in emptied)
        for occurrence, emptied in additive.items()
        if all(o.index in once for o in (occurrence, *emptied))
    }


def _read_whole(select: exp.Select) -> int | None:
    """Return the reference that a SELECT reads alone and without a WHERE, so that every row of it is in a group."""
    table = select.args["from_"].this
    is_alone = isinstance(table, exp.Table) and not any(table.args.get(a) for a in ("joins", "pivots", "sample"))
    is_filtered = any(select.args.get(a) for a in ("joins", "laterals", "where", "having", "pivots", "sample"))
    return table.meta.get(REFERENCE_INDEX) if is_alone and not is_filtered else None


def _aggregates(tokens: Sequence[Token], outside: Span) -> bool:
    """Return whether aggregates are called outside a SELECT list: the parser does not know each of them as one."""
    return bool(called_aggregates(tokens[: outside.start]) | called_aggregates(tokens[outside.end :]))
