"""Can the storage hold the rows of the definition, and how is a new storage table partitioned?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.reader import table_columns
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_hidden
from dbt.adapters.icebergmv.maintenance.definition.partitioning import (
    PartitionField,
    derive_partitioning,
    parse_partition_by,
    stored_partitioning,
)
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.cost.partition_grain import (
    Grain,
    filled_grains,
    stays_coarser,
    stored_grains,
)
from dbt.adapters.icebergmv.maintenance.planning.kept_columns import keeps
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column, describe, other_columns
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified
from dbt.adapters.icebergmv.maintenance.status.configured.clustering import SortColumn, parse_cluster_by
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, RefreshedView
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.status.tables.column_shapes import shape

PARTITIONED_OTHERWISE = "its storage table is partitioned otherwise"
_NESTED = ("array<", "map<", "struct<", "variant", "geometry", "geography")


def misfit_to_write(lake: Lake, view: Inspection, columns: Sequence[Column]) -> str | None:
    """Return why the storage table cannot take rows with these columns, or None when it can."""
    config = view.request.config
    if view.storage is None:
        return "its storage table was dropped"
    if config.partition_by is not None:
        wanted = parse_partition_by(config.partition_by, [c.name for c in columns])
        if wanted != stored_partitioning(view.storage):
            return PARTITIONED_OTHERWISE
    if isinstance(view, RefreshedView) and not view.stored.has_columns_of_today:
        return "a column of its storage table was altered by something else than a refresh"
    return other_columns(_shown(lake, config.storage_table, tuple(columns)), columns)


def _shown(lake: Lake, storage: TableName, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns of the storage table now, hidden ones aside.

    Spark is asked where the catalog shows others than the given ones.
    """
    table = lake.catalog.table(storage[1], storage[2])
    found = () if table is None else tuple(Column(c.name, c.type) for c in table_columns(table))
    if _without_hidden(found) == columns:
        return columns
    return _without_hidden(describe(lake, f"SELECT * FROM {qualified(*storage)}"))


def _without_hidden(columns: Sequence[Column]) -> tuple[Column, ...]:
    return tuple(c for c in columns if not is_hidden(c.name))


def misfit_to_read(lake: Lake, view: Inspection, columns: Sequence[Column]) -> str | None:
    """Return why rows with these columns cannot be read beside the stored ones, or None when they can."""
    if not isinstance(view, RefreshedView):
        return None
    return other_columns(describe(lake, view.stored.query), columns)


def partitioning_of(settled: Settled) -> tuple[PartitionField, ...]:
    """Return the partitioning that a new storage table gets: as configured, or derived from the base tables.

    A coarser one that the stored rows have stays, if they are as few as they were.
    """
    view = settled.view
    if view.request.config.partition_by is not None:
        return parse_partition_by(view.request.config.partition_by, settled.names)
    derived = derived_partitioning(view.definition, view.bases)
    if isinstance(view, RefreshedView) and view.state.partial is None:
        types = {c.name: c.type for c in (*settled.columns, *settled.hidden)}
        grains, stored = tuple(Grain(f, types[f.column]) for f in derived), stored_partitioning(view.storage)
        rows = view.stored.row_count
        if rows is not None and stays_coarser(stored, rows, grains, settled.stored_names):
            return stored
    return derived


def derived_partitioning(definition: ViewDefinition, bases: BaseTables) -> tuple[PartitionField, ...]:
    """Return how stored rows are partitioned after the base tables as these are partitioned now."""
    sources = bases.sources(definition.references)
    return derive_partitioning(definition, [(r.index, s.table.spec(), s.table_schema) for r, s in sources.items()])


def order_of(config: ViewConfig, columns: Sequence[Column]) -> tuple[SortColumn, ...]:
    """Return the write order of rows with these columns. Raises InvalidConfig for what rows cannot be ordered by."""
    types = {c.name: c.type for c in columns if not is_hidden(c.name)}
    order = parse_cluster_by(config.cluster_by, [*types])
    for sort in order:
        if types[sort.column].startswith(_NESTED):
            raise InvalidConfig(
                f"cluster_by has {sort.column}, which is {types[sort.column]}. Name a column of one value."
            )
    return order


def is_as_planned(settled: Settled, storage: Table) -> bool:
    """Return whether a storage table has the columns that a plan was made for, and they hold what it expects.

    Rows are written by the places of columns, and another refresh may have made the table anew meanwhile.
    """
    names = [field.name for field in storage.schema().fields]
    if names != [*settled.stored_names] or not keeps(storage, settled.hidden, settled.view.definition):
        return False
    before = settled.view.storage
    if settled.makes_storage or before is None:
        return True
    return [*map(shape, storage.schema().fields)] == [*map(shape, before.schema().fields)]


def coarser_partitioning(settled: Settled, stored: StoredRows) -> tuple[PartitionField, ...] | None:
    """Return what to partition the rows of a new storage table by, which do not fill its derived partitions.

    None where they do, and where the model says how they are partitioned. Of a part of the rows (`--sample`, `--empty`)
    nothing follows for all of them.
    """
    request = settled.view.request
    if not settled.makes_storage or request.config.partition_by is not None or request.partial is not None:
        return None
    grains, keys = stored_grains(stored.table, stored.snapshot_id)
    rows = stored.row_count
    filled = None if rows is None else filled_grains(grains, keys, rows, settled.stored_names)
    return None if filled is None else tuple(g.field for g in filled)


def with_grain(settled: Settled, stored: StoredRows, coarser: Sequence[PartitionField]) -> Settled:
    """Return the plan with the partitioning in its reason that its rows get in place of the derived one."""
    by = f"partitioned by {', '.join(f.ddl() for f in coarser)}" if coarser else "not partitioned"
    derived = ", ".join(f.ddl() for f in stored_partitioning(stored.table))
    reason = f"{settled.plan.reason}; {by}, as the rows are too few for {derived}"
    return replace(settled, plan=replace(settled.plan, reason=reason))
