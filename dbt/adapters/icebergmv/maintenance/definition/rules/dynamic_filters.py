"""Which rows of other tables an inner join with a filtered table keeps: Trino's dynamic filters, as data.

In `sales JOIN dates ON sales.day_key = dates.day_key WHERE dates.year = 2024` a row of sales comes to nothing unless a
row of dates passes WHERE that has its key. So what is known of the changed rows of sales and the keys of these few rows
may show that no row of the view depends on the change, without a look at sales.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.rules.equalities import conjuncts
from dbt.adapters.icebergmv.maintenance.definition.rules.from_columns import Sources
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import Filter, Occurrence, Track
from dbt.adapters.icebergmv.maintenance.definition.table_references import CTE_INDEX

_OF_OTHER_ROWS = ("connect", "match", "kind", "pivots", "sample")
"""Clauses behind which the rows of a SELECT are not those that pass its FROM and WHERE."""


def filters_of(select: exp.Select, sources: Sources) -> Iterator[Filter]:
    """Yield what each table in FROM that WHERE filters says of the tables that are equated with it.

    `sources` is FROM behind WHERE. A column of a table that an outer join may show as NULL does not track itself as it
    is, so such a table filters nothing. Rows that pass some terms are those that pass all of them, and more.
    """
    if any(map(select.args.get, _OF_OTHER_ROWS)):
        return
    terms = list(_terms(select))
    for table in _tables(select):
        alias, occurrence = table.alias_or_name, Occurrence(table.meta[CTE_INDEX])
        own = {i for i, slot in enumerate(sources.slots) if slot.alias == alias.lower()}
        passed = frozenset(id(term) for term in terms if _is_of(term, own, sources))
        for slot in (sources.slots[i] for i in sorted(own) if passed):
            itself = Track(occurrence, slot.column.name)
            others = (t for t in slot.column.tracks if t.occurrence != occurrence and not t.is_of_literal)
            tracks = frozenset(others) if itself in slot.column.tracks else frozenset[Track]()
            if tracks:
                yield Filter(occurrence, alias, slot.column.name, passed, tracks)


def _tables(select: exp.Select) -> list[exp.Table]:
    """Return the base tables that are items of FROM by themselves, each with a name of its own."""
    from_ = select.args.get("from_")
    items = [] if from_ is None else [from_.this, *(join.this for join in select.args.get("joins") or ())]
    names = [item.alias_or_name.lower() for item in items]
    return [
        item
        for item, name in zip(items, names, strict=True)
        if isinstance(item, exp.Table) and CTE_INDEX in item.meta and names.count(name) == 1 and _is_plain(item)
    ]


def _is_plain(table: exp.Table) -> bool:
    clauses = ("joins", "laterals", "pivots", "sample")
    return not table.alias_column_names and not any(map(table.args.get, clauses))


def _terms(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the conditions that hold for every row: the terms of WHERE, and of the ON of inner joins."""
    where = select.args.get("where")
    yield from conjuncts(where.this if where is not None else None)
    for join in select.args.get("joins") or ():
        side, kind, method = (str(join.args.get(a) or "").upper() for a in ("side", "kind", "method"))
        if not side and not method and kind in ("", "INNER", "CROSS"):
            yield from conjuncts(join.args.get("on"))


def _is_of(term: exp.Expr, own: set[int], sources: Sources) -> bool:
    """Return whether a term reads nothing but columns of one table."""
    columns = list(term.find_all(exp.Column))
    if not columns or term.find(exp.Query) is not None:
        return False
    return all((c.table or not sources.unknown) and sources.resolve(c) in own for c in columns)
