"""The sign of a row, 1 for one that came and -1 for one that went, handed on to the aggregate that merges it.

One query then reads both versions of a table, and all other tables once. Queries on the way hand it on by `*`, or by
one more item of their list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import SIGN
from dbt.adapters.icebergmv.maintenance.definition.references.column_lists import (
    is_read_by_name,
    read_in_full,
    reads_by_name,
)
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import REFERENCE_INDEX, cte_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import characters, list_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes, own_nodes, relations_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parses_to


def with_sign(edits: Sequence[TextEdit], handed_on: Sequence[TextEdit]) -> tuple[TextEdit, ...]:
    """Return edits of `row_states.ungrouped` whose SELECT gives besides the SIGN of its rows.

    One of its tables has it; `handed_on` are the edits of `signed` for that one.
    """
    items, *others = edits
    return replace(items, text=f"{items.text}, {SIGN}"), *others, *handed_on


def signed(parsed: ParsedSql, wanted: Collection[int]) -> dict[int, tuple[TextEdit, ...]]:
    """Return those of the wanted references whose SIGN a SELECT could give, with what hands it on to its FROM.

    Having the SIGN has no other effect: no `*` or place in a list makes a query read what it does not name.
    """
    select, nodes = parsed.tree, Nodes(parsed.tree)
    if not isinstance(select, exp.Select) or SIGN in parsed.sql.lower():
        return {}
    in_full, items = read_in_full(nodes), _items(select)
    found: dict[int, tuple[TextEdit, ...]] = {}
    if in_full is not None:
        own = (index for item in items if (index := _index(item)) is not None)
        found = {index: () for index in own if index in wanted and index not in in_full}
    if not reads_by_name(nodes):
        return found
    # Tables of one query below are handed on in the same way.
    handed_on: dict[tuple[int, ...], tuple[TextEdit, ...] | None] = {}
    for index, queries in (way for item in items for way in _ways_of(item, ())):
        if index not in wanted:
            continue
        key = tuple(map(id, queries))
        if key not in handed_on:
            handed_on[key] = _handing_on(queries, parsed)
        edits = handed_on[key]
        if edits is not None:
            found[index] = edits
    return found


def _ways_of(item: exp.Expr, above: tuple[exp.Select, ...]) -> Iterator[tuple[int, tuple[exp.Select, ...]]]:
    """Yield the references that an item of FROM is, or reads, with the lists on the way that lack the SIGN.

    `above` are those around it.
    """
    index = _index(item)
    if index is not None:
        yield index, above
        return
    named = cte_of(item) if isinstance(item, exp.Table) else item
    query = None if named is None else named.this
    if not isinstance(query, exp.Select) or not is_read_by_name(query) or not _is_of_single_rows(query):
        return
    for inner in _items(query):
        shown = sum(_shows_all(listed, inner) for listed in query.expressions)
        if shown <= 1:
            yield from _ways_of(inner, above if shown else (*above, query))


def _items(select: exp.Select) -> list[exp.Expr]:
    """Return the items of a FROM whose columns a SELECT sees, but for those that are more than a name or a query."""
    return [
        item
        for item in relations_of(select)
        if not (isinstance(item.parent, exp.Join) and item.parent.kind in ("SEMI", "ANTI"))
        and not any(item.args.get(a) for a in ("joins", "laterals", "pivots", "sample"))
    ]


def _index(item: exp.Expr) -> int | None:
    return item.meta.get(REFERENCE_INDEX) if isinstance(item, exp.Table) else None


def _is_of_single_rows(query: exp.Select) -> bool:
    """Return whether nothing in the list of a query looks at several rows."""
    return not any(isinstance(node, exp.AggFunc | exp.Window) for item in query.expressions for node in own_nodes(item))


def _shows_all(listed: exp.Expr, item: exp.Expr) -> bool:
    """Return whether an item of a list hands on all columns of an item of FROM."""
    if isinstance(listed, exp.Star):
        return True
    if not isinstance(listed, exp.Column) or not isinstance(listed.this, exp.Star):
        return False
    return bool(listed.table.lower() == item.alias_or_name.lower())


def _handing_on(queries: Sequence[exp.Select], parsed: ParsedSql) -> tuple[TextEdit, ...] | None:
    """Return what adds the SIGN to the lists of some queries; None where a place in the text is in doubt."""
    if not queries:
        return ()
    spans = [list_of(query, parsed.tokens) for query in queries]
    ends = sorted(characters(span, parsed.tokens)[1] for span in spans if span is not None)
    edits = tuple(TextEdit(end, end, f", {SIGN}") for end in ends)
    tree = parsed.tree.copy()
    nodes = list(tree.walk())
    for query in queries:
        nodes[parsed.numbers[id(query)]].append("expressions", exp.column(SIGN))
    return edits if len(edits) == len(queries) and parses_to(with_edits(parsed.sql, edits), tree) else None
