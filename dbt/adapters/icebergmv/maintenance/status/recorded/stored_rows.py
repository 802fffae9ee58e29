"""The rows of the last refresh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform

from dbt.adapters.icebergmv.maintenance.catalog.manifests import manifests_of
from dbt.adapters.icebergmv.maintenance.catalog.reader import column_types, schema_id_at, stored_columns, summary_count
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_hidden, is_key
from dbt.adapters.icebergmv.maintenance.definition.partitioning import (
    can_prune,
    has_times_before_1970,
    is_whole_partitions,
    stored_partitioning,
)
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.key_lists import in_lists
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction
from dbt.adapters.icebergmv.maintenance.status.recorded.hidden_columns import shown
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import view_query


@dataclass(frozen=True)
class StoredRows:
    """The rows of the last refresh: the storage table at the snapshot that the view pins."""

    name: TableName
    table: Table
    snapshot_id: int

    @property
    def row_count(self) -> int | None:
        """Return how many rows there are; None where the snapshot does not say."""
        return self.count("total-records")

    def count(self, what: str) -> int | None:
        """Return a count of the snapshot's summary; None where it does not say."""
        return summary_count(self.table, self.snapshot_id, what)

    @property
    def schema(self) -> Schema:
        """Return the schema under which the snapshot is read, without hidden columns."""
        return shown(self._schema)

    @property
    def has_hidden_of_today(self) -> bool:
        """Return whether the rows have the hidden columns that the table has now.

        They have others where a refresh made the table anew and died before it wrote rows.
        """
        schemas = (self._schema, self.table.schema())
        before, today = ([f for f in stored_columns(schema) if is_hidden(f[1])] for schema in schemas)
        return before == today

    @property
    def is_written_as_read(self) -> bool:
        """Return whether the table has the columns now that the rows were written with, so that they may be copied."""
        return stored_columns(self._schema) == stored_columns(self.table.schema())

    @property
    def has_columns_of_today(self) -> bool:
        """Return whether no column of the rows gave its name to another one of the table that rows are written to.

        In a column that was dropped and added again by hand, rows that no write touches are NULL.
        """
        today = {f.name: f.field_id for f in self.table.schema().fields}
        return all(today.get(f.name, f.field_id) == f.field_id for f in self.schema.fields)

    @property
    def _schema(self) -> Schema:
        snapshot = self.table.metadata.snapshot_by_id(self.snapshot_id)
        return self.table.schema() if snapshot is None else self.table.schemas()[schema_id_at(self.table, snapshot)]

    @property
    def never_null(self) -> frozenset[str]:
        """Return the columns that partition the rows by their values, of which no partition is NULL.

        Manifest lists say so (Iceberg spec, "Manifest Lists", `contains_null`).
        """
        snapshot, spec = self.table.metadata.snapshot_by_id(self.snapshot_id), self.table.spec()
        manifests = manifests_of(self.table.io, snapshot)
        if not manifests or any(m.partition_spec_id != spec.spec_id or m.partitions is None for m in manifests):
            return frozenset()
        return frozenset(
            self._schema.find_column_name(field.source_id) or ""
            for n, field in enumerate(spec.fields)
            if isinstance(field.transform, IdentityTransform)
            and not any(m.partitions[n].contains_null for m in manifests if m.partitions is not None)
        )

    @property
    def query(self) -> str:
        """Return the SELECT of all of them."""
        return view_query(self.name, [f.name for f in self.schema.fields], self.snapshot_id)

    def dialect_of(self, catalog: str, region: tuple[TupleDomain, ...]) -> Dialect:
        """Return how the predicate of a region is written so that Iceberg prunes these rows by it, where it can."""
        return Dialect(catalog, can_prune(self.table, self._schema, region))

    def where(self, region: Sequence[TupleDomain]) -> str:
        """Return the predicate of a region on rows that are all read: Iceberg leaves out no file by it."""
        return in_lists(region, self.types, Dialect(self.name[0], pushable=False, long_lists=True))

    def where_of_partitions(self, region: Sequence[TupleDomain]) -> str | None:
        """Return the predicate of a region of the table that is made of whole partitions; None where it is not.

        Iceberg then drops files by it, and reads none.
        """
        table, schema = self.table, self.table.schema()
        fields = stored_partitioning(table)
        if not region or not can_prune(table, schema, region) or not self._is_of_one_spec:
            return None
        if not is_whole_partitions(region, fields, schema) or has_times_before_1970(region, fields):
            return None
        return disjunction(region, column_types(schema), Dialect(self.name[0]))

    @property
    def _is_of_one_spec(self) -> bool:
        """Return whether all files are written under the table's current partition spec."""
        snapshot = self.table.metadata.snapshot_by_id(self.snapshot_id)
        manifests = manifests_of(self.table.io, snapshot)
        return all(m.partition_spec_id == self.table.metadata.default_spec_id for m in manifests)

    @property
    def columns_and_keys(self) -> tuple[str, ...]:
        """Return the names of their columns, and of the hidden keys behind these."""
        return tuple(f.name for f in self._schema.fields if is_key(f.name) or not is_hidden(f.name))

    @property
    def types(self) -> dict[str, str]:
        """Return the Spark types of all columns, hidden ones included."""
        return column_types(self._schema)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of their columns."""
        return tuple(f.name for f in self.schema.fields)
