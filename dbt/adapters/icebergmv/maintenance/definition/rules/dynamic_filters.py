"""Which rows of other tables a join with a filtered table keeps: Trino's dynamic filters, as data.

In `sales JOIN dates ON sales.day_key = dates.day_key WHERE dates.year = 2024` a row of sales comes to nothing unless a
row of dates passes WHERE that has its key. So what is known of the changed rows of sales and the keys of these few rows
may show that no row of the view depends on the change, without a look at sales.

A term of a SELECT above filters too, if it reads columns that track columns of dates as they are: a row that shows the
year 2024 depends on no row of dates of another year, and so not on what these are joined with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.references.table_references import REFERENCE_INDEX
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import relations_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import conditions_of, conjuncts
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import Filter, FilterTerm, Finding
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Sources
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Track, null_supplied

_OF_OTHER_ROWS = ("connect", "match", "kind", "pivots", "sample")
"""Clauses behind which the rows of a SELECT are not those that pass its FROM and WHERE."""

_COMPARE = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


def filters_of(select: exp.Select, names: Names) -> tuple[Finding, ...]:
    """Return what tables in FROM say of those that are equated with them, and what was found below, in this SELECT.

    `names` are those of FROM behind WHERE. Rows that pass some terms are those that pass all of them, and more.
    """
    sources = names.sources
    if reads_other_rows(select):
        return sources.relation.findings
    terms = [term for term in conditions_of(select) if term.find(exp.Query) is None]
    below = (_met(one, terms, names) if isinstance(one, Filter) else one for one in sources.relation.findings)
    return (*below, *(one for table in _tables(select) for one in _own(table, select, terms, sources)))


def reads_other_rows(select: exp.Select) -> bool:
    """Return whether a clause makes other rows of those that pass FROM and WHERE, or before they do."""
    return any(map(select.args.get, _OF_OTHER_ROWS))


def _met(below: Filter, terms: Iterable[exp.Expr], names: Names) -> Filter:
    """Return a filter of a SELECT below with the terms of this one that read nothing but its table."""
    found = (_of_table(term, below.occurrence, names) for term in terms)
    return replace(below, terms=below.terms | {term for term in found if term is not None})


def _of_table(term: exp.Expr, occurrence: Occurrence, names: Names) -> FilterTerm | None:
    """Return a term as one of the columns of a base table; None where it reads others, or these in another form."""
    types = {c.name: c.type for c in names.scope.columns.get(occurrence.index) or ()}
    read: list[tuple[int, str]] = []
    for column in term.find_all(exp.Column):
        slot = names.sources.resolve(column) if column.table or not names.sources.unknown else None
        shown = None if slot is None else names.sources.slots[slot].column
        tracks = () if shown is None else (t for t in shown.tracks if t.occurrence == occurrence and not t.function)
        base = next((t.column for t in tracks), None)
        if base is None or shown is None or not shown.exact or shown.type != types.get(base):
            return None
        read.append((id(column), base))
    is_same = isinstance(term, exp.EQ) and len(read) > 1 and len({base for _, base in read}) == 1
    return FilterTerm(id(term), tuple(read)) if read and not is_same else None


def _own(table: exp.Table, select: exp.Select, terms: Iterable[exp.Expr], sources: Sources) -> Iterator[Filter]:
    """Yield what a table in FROM says of those that its columns are equated with.

    What an outer join may show as NULL does not track itself as it is. It does where WHERE lets no such NULL pass; the
    NULLs that columns may show for other reasons stay.
    """
    alias, occurrence = table.alias_or_name, Occurrence(table.meta[REFERENCE_INDEX])
    own = {i for i, slot in enumerate(sources.slots) if slot.alias == alias.lower()}
    passed = [term for term in terms if _is_of(term, own, sources)]
    where = select.args.get("where")
    is_there = where is not None and any(_rejects_null(t) and _is_of(t, own, sources) for t in conjuncts(where.this))
    may_be_absent = _is_null_supplied(table, select) and not is_there
    for slot in (sources.slots[i] for i in sorted(own)):
        itself, tracks = frozenset([Track(occurrence, slot.column.name)]), slot.column.tracks
        shows_itself = not may_be_absent and (itself <= tracks or (is_there and null_supplied(itself) <= tracks))
        others = frozenset(t for t in tracks if t.occurrence != occurrence and not t.is_of_literal)
        if others and shows_itself:
            yield Filter(occurrence, alias, slot.column.name, frozenset(FilterTerm(id(t)) for t in passed), others)


def _is_null_supplied(table: exp.Table, select: exp.Select) -> bool:
    """Return whether an outer join of this FROM may show NULL in place of the columns of an item."""
    joins = select.args.get("joins") or []
    place = next((n for n, join in enumerate(joins, start=1) if join.this is table), 0)
    sides = [join.side for join in joins]
    return (place > 0 and sides[place - 1] in ("LEFT", "FULL")) or any(s in ("RIGHT", "FULL") for s in sides[place:])


def _tables(select: exp.Select) -> list[exp.Table]:
    """Return the base tables that are items of FROM by themselves, each with a name of its own."""
    items = relations_of(select)
    names = [item.alias_or_name.lower() for item in items]
    return [
        item
        for item, name in zip(items, names, strict=True)
        if isinstance(item, exp.Table) and REFERENCE_INDEX in item.meta and names.count(name) == 1 and _is_plain(item)
    ]


def _is_plain(table: exp.Table) -> bool:
    clauses = ("joins", "laterals", "pivots", "sample")
    return not table.alias_column_names and not any(map(table.args.get, clauses))


def _is_of(term: exp.Expr, own: set[int], sources: Sources) -> bool:
    """Return whether a term reads nothing but columns of one table."""
    columns = list(term.find_all(exp.Column))
    # With a schema in front, a name is not understood in a question about one table.
    if not columns or any(column.args.get("db") for column in columns):
        return False
    return all((c.table or not sources.unknown) and sources.resolve(c) in own for c in columns)


def _rejects_null(term: exp.Expr) -> bool:
    """Return whether it is plain that a comparison is not true of a row whose columns are all NULL."""
    if isinstance(term, _COMPARE):
        return isinstance(term.this, exp.Column) or isinstance(term.expression, exp.Column)
    return isinstance(term, (exp.Between, exp.Like)) and isinstance(term.this, exp.Column)
