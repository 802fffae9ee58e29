"""Cuts changes down to the rows that joins with filtered tables keep, before anything is planned.

Where a table that did not change filters others by a join (definition/asking/dynamic_filters.py), Spark is asked for
the keys of its rows that pass. This is the dynamic filtering of Trino, and the dynamic partition pruning of Spark, done
for the changed rows: what partitions and column bounds say of them is met with the keys. Where nothing is left, no row
of the view can be affected, and no changed row was read. Otherwise less of the change is read by all that follows.

The filter reads one table, whose rows are the same before and after the change. So it holds for both versions of the
others, and in every step from the old rows of the view to the new ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.catalog.reader import schema_columns
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import StaleDataConstraints
from dbt.adapters.icebergmv.maintenance.definition.asking.dynamic_filters import DynamicFilter
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Track
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import is_small_beside
from dbt.adapters.icebergmv.maintenance.planning.queries.pinned_queries import read_pinned
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import Asker
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import MOST_COLLECTED, NotListed, values_of
from dbt.adapters.icebergmv.maintenance.planning.regions import FEW_TERMS
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain, union_of
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import is_computed, preimage
from dbt.adapters.icebergmv.maintenance.predicates.simplification import simplify, within_bounds
from dbt.adapters.icebergmv.maintenance.predicates.transform_lattice import in_terms_of
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, identifier
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables

_Usable: TypeAlias = Mapping[Occurrence, Sequence[tuple[DynamicFilter, Track]]]
"""The filters of each use of a table, each with the base column that it cuts down."""

_SCATTERED = 20
"""A filter hardly ever keeps nothing of a change in so many partitions, and what it keeps takes a question to know."""


@dataclass(frozen=True)
class DynamicFiltering:
    """What cuts changes down: a definition, its base tables, and what runs questions."""

    definition: ViewDefinition
    bases: BaseTables
    run: Asker

    def status(self, status: MaterializedViewStatus, references: Collection[int]) -> MaterializedViewStatus:
        """Return the status in which the tables of some references changed only where joins keep their rows.

        Without a disjunct they say that no row can be affected.
        """
        usable = filters_to_ask(self.definition, status, references)
        asked = list(dict.fromkeys(one for filters in usable.values() for one, _ in filters))
        keys = dict(zip(asked, self.run.each(self._keys, asked), strict=True))

        def cut_down(base: BaseTableStatus) -> BaseTableStatus:
            uses = self.definition.uses_of_all(base.references)
            if not uses or not usable.keys() >= {*uses}:
                return base
            return _cut_down(base, [_kept(usable[use], keys) for use in uses])

        return replace(status, base_tables=tuple(map(cut_down, status.base_tables)))

    def _keys(self, one: DynamicFilter, run: Spark) -> Domain:
        """Return the keys of the rows of a table that pass its terms; all where they are too many, or not known."""
        text = self._question(one)
        found = None if text is None else values_of(text, run, MOST_COLLECTED)
        return Domain.all() if found is None or isinstance(found, NotListed) else _in_runs(found)

    def _question(self, one: DynamicFilter) -> str | None:
        reference = self.definition.references[one.reference]
        source = self.bases.of(reference).source
        types = {} if source is None else {c.name: c.type for c in schema_columns(source.table_schema)}
        key = internal_form(types.get(one.column, ""), f"{identifier(one.alias)}.{identifier(one.column)}")
        if source is None or key is None:
            return None
        table = read_pinned(replace(reference, has_alias=True), source, None, Dialect(self.bases.catalog_name, False))
        terms = " AND ".join(f"({term}\n)" for term in one.terms)
        return f"SELECT DISTINCT {key} FROM {table} AS {identifier(one.alias)} WHERE {terms}"


def filters_to_ask(definition: ViewDefinition, status: MaterializedViewStatus, references: Collection[int]) -> _Usable:
    """Return the filters that may cut down what changed of the tables of some references, for each of their uses.

    A table of which some use has no filter is left as it is: so much of a change is kept as any use keeps.
    """
    found: dict[Occurrence, list[tuple[DynamicFilter, Track]]] = {}
    for base in status.stale if definition.rewritable else ():
        is_scattered = len(base.change.constraints.data_disjuncts) > _SCATTERED
        if is_scattered or not base.may_reach or not base.is_among(references):
            continue
        uses = definition.uses_of_all(base.references)
        of_uses = {use: list(_filters_of(use, base, definition, status)) for use in uses}
        if all(of_uses.values()):
            found |= of_uses
    return found


def _filters_of(
    use: Occurrence, base: BaseTableStatus, definition: ViewDefinition, status: MaterializedViewStatus
) -> Iterable[tuple[DynamicFilter, Track]]:
    tables = status.by_reference
    for one in definition.filters:
        filtering = None if definition.references[one.reference].pinned else tables.get(one.reference)
        if filtering is None or not _is_same(filtering) or not is_small_beside(filtering, status):
            continue
        tracks = (t for t in one.tracks if t.occurrence == use and not is_computed(t.function))
        yield from ((one, track) for track in tracks if not _changed_values(base, track.column).is_all)


def _changed_values(base: BaseTableStatus, column: str) -> Domain:
    """Return the values of a column that changed rows may have, as far as it partitions the table or is followed.

    Column bounds of other keys are hardly ever apart from the keys that a filter keeps.
    """
    found = (in_terms_of(rows, ()).domains.get(ColumnKey(column)) for rows in base.change.constraints.data_disjuncts)
    return union_of([Domain.all() if domain is None else domain for domain in found])


def _is_same(base: BaseTableStatus) -> bool:
    """Return whether a table has the rows that it had, as far as the view reads them."""
    return base.change.status == "fresh" or (base.change.status == "stale" and not base.may_reach)


def _kept(filters: Sequence[tuple[DynamicFilter, Track]], keys: Mapping[DynamicFilter, Domain]) -> TupleDomain:
    """Return the base rows that filters of one use keep."""
    kept = TupleDomain.all_of((ColumnKey(t.column), preimage(t.function, keys[one])) for one, t in filters)
    return kept if kept.is_none else within_bounds(kept, FEW_TERMS)


def _cut_down(base: BaseTableStatus, kept: Sequence[TupleDomain]) -> BaseTableStatus:
    """Return the status of a base table that changed only where some use of it keeps rows."""
    before, kept = base.change.constraints.data_disjuncts, simplify(kept, FEW_TERMS)
    if any(rows.is_all for rows in kept):
        return base
    both = (_both(disjunct, rows) for disjunct in before for rows in kept)
    constraints = StaleDataConstraints(tuple(rows for rows in both if not rows.is_none), is_part=True)
    return replace(base, change=replace(base.change, constraints=constraints))


def _both(rows: TupleDomain, others: TupleDomain) -> TupleDomain:
    """Return the rows in both, as partitions say it, where ranges that their transforms stand for meet the others."""
    return TupleDomain.none() if in_terms_of(rows, ()).intersect(others).is_none else rows.intersect(others)


def _in_runs(domain: Domain) -> Domain:
    """Return whole numbers that follow each other as ranges, which are far fewer for the days of a year."""
    if not domain.is_discrete or not all(type(r.low) is int for r in domain.ranges):
        return domain
    runs: list[Range] = []
    for one in domain.ranges:
        last = runs[-1].high if runs else None
        if type(last) is int and one.low == last + 1:
            runs[-1] = Range(runs[-1].low, one.high)
        else:
            runs.append(one)
    return domain.with_ranges(runs)
