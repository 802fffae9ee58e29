"""What a query reads, counted apart from the rules: a check that none of them looked past a place."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.references.table_references import CTE_USE, REFERENCE_INDEX, cte_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence

MOST_OCCURRENCES = 500
"""CTEs that use each other twice, many levels deep, make exponentially many occurrences."""


def occurrences_in(query: exp.Expr) -> frozenset[Occurrence]:
    """Return every occurrence that the output can depend on: all but those inside CTEs that nothing uses."""
    tables: dict[int | None, list[exp.Table]] = {}
    for table in query.find_all(exp.Table):
        within = table.find_ancestor(exp.CTE)
        tables.setdefault(None if within is None else id(within), []).append(table)
    known: dict[int | None, frozenset[Occurrence]] = {}

    def read_in(place: int | None) -> frozenset[Occurrence]:
        if place not in known:
            known[place] = frozenset()  # A recursive CTE reads itself; what else it reads counts once.
            known[place] = frozenset(o for table in tables.get(place, ()) for o in read_by(table))
        return known[place]

    def read_by(table: exp.Table) -> frozenset[Occurrence]:
        cte = cte_of(table) if isinstance(table.this, exp.Identifier) else None
        if cte is None:
            return frozenset([Occurrence(table.meta[REFERENCE_INDEX])] if REFERENCE_INDEX in table.meta else [])
        return seen_by(read_in(id(cte)), table.meta.get(CTE_USE))

    return read_in(None)


def seen_by(occurrences: frozenset[Occurrence], use: int | None) -> frozenset[Occurrence]:
    """Return the occurrences of a CTE as one use of it sees them; `use` is None for the first one."""
    if use is None or len(occurrences) > MOST_OCCURRENCES:
        return occurrences
    return frozenset(Occurrence(o.index, (use, *o.uses)) for o in occurrences)
