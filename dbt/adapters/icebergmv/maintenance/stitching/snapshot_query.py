"""The current rows of a view as one query, planned at this moment: the changed rows are told by literals.

Every table is read at a snapshot, so the result is the definition at one cut, however long the query waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.partitioning import can_prune
from dbt.adapters.icebergmv.maintenance.planning import pinned_queries as render
from dbt.adapters.icebergmv.maintenance.planning.planner import RefreshPlan
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction, identifier
from dbt.adapters.icebergmv.maintenance.sql.spark_types import ddl_type, spark_type
from dbt.adapters.icebergmv.maintenance.status.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.status.pinned_view import view_query
from dbt.adapters.icebergmv.maintenance.stitching.complement import outside


@dataclass(frozen=True)
class StoredRows:
    """The rows of the last refresh: the storage table at the snapshot that the view pins."""

    name: TableName
    table: Table
    snapshot_id: int

    @property
    def schema(self) -> Schema:
        """Return the schema under which the snapshot is read."""
        snapshot = self.table.metadata.snapshot_by_id(self.snapshot_id)
        if snapshot is None or snapshot.schema_id is None:
            return self.table.schema()
        return self.table.schemas()[snapshot.schema_id]

    @property
    def never_null(self) -> frozenset[str]:
        """Return the columns that partition the rows by their values, of which no partition is NULL.

        Manifest lists tell (Iceberg spec, "Manifest Lists", `contains_null`).
        """
        snapshot, spec = self.table.metadata.snapshot_by_id(self.snapshot_id), self.table.spec()
        manifests = [] if snapshot is None else snapshot.manifests(self.table.io)
        if not manifests or any(m.partition_spec_id != spec.spec_id or m.partitions is None for m in manifests):
            return frozenset()
        return frozenset(
            self.schema.find_column_name(field.source_id) or ""
            for n, field in enumerate(spec.fields)
            if isinstance(field.transform, IdentityTransform)
            and not any(m.partitions[n].contains_null for m in manifests if m.partitions is not None)
        )

    @property
    def query(self) -> str:
        """Return the SELECT of all of them."""
        return view_query(self.name, [f.name for f in self.schema.fields], self.snapshot_id)


def literal_query(
    definition: ViewDefinition, bases: BaseTables, plan: RefreshPlan, columns: Sequence[str], stored: StoredRows | None
) -> str:
    """Return the SELECT of the view's current rows, every table at a snapshot.

    none: the stored rows. append: and the rows that came (the RFC's filter-based mode). overwrite: the stored rows
    outside the region, and the definition inside it (partition-based). full: the definition, whose `columns` are given.
    Unless the plan is full, the stored columns must be able to hold the definition's; they give names, order and types.
    """
    if plan.kind == "full" or stored is None:
        query = render.pinned_query(definition, bases, {}, bases.catalog_name)
        return f"SELECT {', '.join(map(identifier, columns))} FROM (\n{query}\n)"
    if plan.kind == "none":
        return stored.query
    names, catalog = [f.name for f in stored.schema.fields], bases.catalog_name
    if plan.kind == "append":
        appended = render.appended_query(definition, bases, plan, names, catalog)
        return f"{stored.query}\nUNION ALL\n{as_stored(appended, stored.schema)}"
    types = {f.name: spark_type(f.field_type) for f in stored.schema.fields}
    region = _named(plan.region, {n.lower(): n for n in names})
    kept = outside(region, types, Dialect(catalog, can_prune(stored.table, stored.schema, region)))
    in_query = render.bases_can_prune(definition, bases, plan.base_filters, region)
    stale = disjunction(region, types, Dialect(catalog, in_query))
    recomputed = render.pinned_query(definition, bases, plan.base_filters, catalog)
    return f"{stored.query} WHERE {kept}\nUNION ALL\n{as_stored(recomputed, stored.schema)} WHERE {stale}"


def as_stored(query: str, schema: Schema) -> str:
    """Return the SELECT of a query's rows in the types of the storage, so that these are the types of the union."""
    items = ", ".join(
        f"CAST({identifier(f.name)} AS {ddl_type(f.field_type)}) AS {identifier(f.name)}" for f in schema.fields
    )
    return f"SELECT {items} FROM (\n{query}\n)"


def _named(region: Sequence[TupleDomain], names: Mapping[str, str]) -> tuple[TupleDomain, ...]:
    """Return the region with its columns named as the storage names them."""
    return tuple(
        TupleDomain.where({replace(key, column=names[key.column.lower()]): domain for key, domain in d.constraints})
        for d in region
        if not d.is_none
    )
