"""The storage table: made, given other columns and partitioning, or altered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.catalog.reader import table_columns
from dbt.adapters.icebergmv.maintenance.definition.partitioning import PartitionField, stored_partitioning
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, RefreshConflict
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.kept_columns import hidden_properties
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.planning.storage_fit import order_of, partitioning_of
from dbt.adapters.icebergmv.maintenance.planning.write import DISTRIBUTION_KEY, Rows, query_of
from dbt.adapters.icebergmv.maintenance.refresh import statements
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.spark_types import is_float, spark_type
from dbt.adapters.icebergmv.maintenance.status.configured.clustering import stored_order
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import LostView, NewView, RefreshedView
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import view_query
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import STORAGE_OF
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import refuse_rows_aside

_FANOUT = "write.spark.fanout.enabled"
_ROWS_OF_A_TASK = 1_000_000
_PLACEHOLDER = "icebergmv_no_column"
_REFUSED_BY_HIVE = "have types incompatible with the existing columns"


def make_storage(lake: Lake, settled: Settled) -> None:
    """Create the storage table, or give it the columns and partitioning of the definition; it holds no rows then.

    Raises RefreshConflict as `alone` does, InvalidConfig before anything is written.
    """
    order_of(settled.view.request.config, settled.columns)
    name, before = settled.view.request.config.storage_table, settled.view.storage
    refuse_rows_aside(lake, storage_properties(settled), {} if before is None else before.properties)
    with alone(lake, name, before):
        if name[1] != settled.view.request.view[1]:
            lake.spark(statements.create_namespace(name))
        if inherits_a_transform(settled, settled.view.storage):
            lake.spark(_create_statement(settled, [_PLACEHOLDER], f"SELECT 1 AS {_PLACEHOLDER}", ()))
            before = lake.catalog.table(name[1], name[2])
    with alone(lake, name, before):
        lake.spark(_create_statement(settled, settled.stored_names, query_of(settled), partitioning_of(settled)))
    made = lake.catalog.table(name[1], name[2])
    with _still_made(lake, name, made):
        gone = sorted(_no_longer_asked(settled.view, made) - storage_properties(settled).keys())
        if gone:
            lake.spark(statements.unset_table_properties(name, gone))
        order_rows(lake, settled.view.request.config, settled.view.storage)


def partition_otherwise(lake: Lake, settled: Settled, stored: StoredRows, fields: Sequence[PartitionField]) -> Rows:
    """Give the storage table another partitioning; return the rows that it held, to be written into it again.

    Raises RefreshConflict as `alone` does.
    """
    query = view_query(stored.name, settled.stored_names, stored.snapshot_id)
    with alone(lake, stored.name, stored.table):
        lake.spark(_create_statement(settled, settled.stored_names, query, fields))
    with _still_made(lake, stored.name, lake.catalog.table(*stored.name[1:])):
        order_rows(lake, settled.view.request.config, settled.view.storage)
    return gathered(settled, stored, fields)


def gathered(settled: Settled, stored: StoredRows, fields: Sequence[PartitionField]) -> Rows:
    """Return the rows that are stored, to be written into partitions by some fields, or into few files."""
    query = view_query(stored.name, settled.stored_names, stored.snapshot_id)
    if fields:
        return Rows(settled.stored_names, query)
    # Iceberg does not gather rows that are not partitioned: each task that reads some of the many files writes one.
    tasks = 1 + (stored.row_count or 0) // _ROWS_OF_A_TASK
    return Rows(settled.stored_names, query.replace("SELECT", f"SELECT /*+ COALESCE({tasks}) */", 1))


@contextmanager
def alone(lake: Lake, name: TableName, before: Table | None) -> Iterator[None]:
    """Raise RefreshConflict if the table is another one than before: it would get columns that are of before, too.

    Raises InvalidConfig where a Hive metastore does not let columns change their types.
    """
    if _is_another(lake.catalog.table(name[1], name[2]), before):
        raise _changed_meanwhile(name)
    try:
        yield
    except Exception as error:
        # Whatever the statement failed of, a table that was made or changed meanwhile is the reason that counts.
        if _is_another(lake.catalog.table(name[1], name[2]), before):
            raise _changed_meanwhile(name) from error
        if _REFUSED_BY_HIVE in str(error):
            raise InvalidConfig(
                f"the Hive metastore refuses other column types for the storage table {show(name)}. Nothing was "
                "published; set hive.metastore.disallow.incompatible.col.type.changes to false in its hive-site.xml."
            ) from error
        raise


@contextmanager
def _still_made(lake: Lake, name: TableName, made: Table | None) -> Iterator[None]:
    """Raise RefreshConflict if a statement fails on a table that is no longer the one that this refresh made.

    The statements change its properties and its sort order alone.
    """
    try:
        yield
    except Exception as error:
        # What another run did to the table is the reason that counts.
        if _made_of(lake.catalog.table(name[1], name[2])) != _made_of(made):
            raise _changed_meanwhile(name) from error
        raise


def _made_of(table: Table | None) -> tuple[object, ...]:
    """Return what CREATE OR REPLACE and writes make another one of: columns, partitioning and snapshot."""
    if table is None:
        return ()
    found = table.metadata
    return found.table_uuid, found.current_schema_id, found.default_spec_id, found.current_snapshot_id


def _is_another(now: Table | None, before: Table | None) -> bool:
    return now is not None and (before is None or now.metadata_location != before.metadata_location)


def _changed_meanwhile(name: TableName) -> RefreshConflict:
    return RefreshConflict(
        f"another run made or changed the storage table {show(name)} meanwhile. Nothing was published; run again."
    )


def inherits_a_transform(settled: Settled, storage: Table | None) -> bool:
    """Return whether a column would be partitioned, in a former spec, by a transform that its type may not take.

    Or one would have the name of the partitions of another column there, which Iceberg refuses as well.

    CREATE OR REPLACE keeps the field id of a column that keeps its name, and Iceberg cannot read a former partition
    spec whose transform does not take the new type (`days` of a bigint): the table can no longer be replaced. After a
    first replacement without the column it gets a new id. Old snapshots are read under their own schemas, so readers
    of the view notice neither.
    """
    if storage is None:
        return False
    wanted = {c.name.lower(): c.type for c in (*settled.columns, *settled.hidden)}
    sources = {f.source_id for spec in storage.specs().values() for f in spec.fields}
    had = {f.name.lower(): spark_type(f.field_type) for f in storage.schema().fields if f.field_id in sources}
    has_another_type = any(name in wanted and wanted[name] != type_ for name, type_ in had.items())
    fields = (field for spec in storage.specs().values() for field in spec.fields)
    taken = {f.name for f in fields if storage.schema().find_column_name(f.source_id) not in (None, f.name)}
    return has_another_type or not taken.isdisjoint(settled.stored_names)


def _create_statement(
    settled: Settled, columns: Sequence[str], query: str, partitioning: Sequence[PartitionField]
) -> str:
    """Return the statement that creates the storage table, or gives it new columns and partitioning, without rows.

    Old snapshots stay readable, so a view that pins one is not disturbed.
    """
    name, rows = settled.view.request.config.storage_table, Rows(tuple(columns), query, "false")
    return statements.create_table(name, rows, partitioning, storage_properties(settled))


def storage_properties(settled: Settled) -> dict[str, str]:
    """Return the properties that a new table with the rows of a view gets."""
    config = settled.view.request.config
    fanout = "true" if _has_a_partition_of_each_zero(settled) else "false"
    properties = {_FANOUT: fanout, **config.tblproperties, STORAGE_OF: settled.view.request.name}
    return {**properties, **hidden_properties(settled.view.definition)} if settled.hidden else properties


def _has_a_partition_of_each_zero(settled: Settled) -> bool:
    """Return whether rows are partitioned by a float, which is only where the model asks for it.

    Spark sorts 0.0 and -0.0 as one value, and Iceberg has a partition for each, which only its fanout writer takes in
    turns. That keeps a file open, and its buffers in memory, for every partition of a full refresh: others go without.
    """
    types = {c.name: c.type for c in settled.columns}
    return any(is_float(types.get(field.column, "")) for field in partitioning_of(settled))


def alter_storage(lake: Lake, view: LostView | RefreshedView) -> None:
    """Bring the properties of the storage table, and the order of rows to come, to what the model asks for."""
    config, storage = view.request.config, view.storage
    if storage is None:
        return
    gone = sorted(_no_longer_asked(view, storage))
    new = {k: v for k, v in config.tblproperties.items() if storage.properties.get(k) != v}
    if new:
        lake.spark(statements.set_table_properties(config.storage_table, new))
    if gone:
        lake.spark(statements.unset_table_properties(config.storage_table, gone))
    order_rows(lake, config, storage)


def _no_longer_asked(view: NewView | LostView | RefreshedView, storage: Table | None) -> set[str]:
    """Return the properties of a table that the model asked for at the last refresh and does not ask for now.

    CREATE OR REPLACE keeps them.
    """
    had = None if isinstance(view, NewView) or storage is None else view.state.config.get("tblproperties")
    if storage is None or not isinstance(had, dict):
        return set()
    return (had.keys() & storage.properties.keys()) - view.request.config.tblproperties.keys()


def order_rows(lake: Lake, config: ViewConfig, before: Table | None) -> None:
    """Have the rows that are written from now on ordered as the model asks; `before` is the table that it was.

    A table that is made anew has no order, also where it had one, but keeps how rows were spread over tasks for it.
    """
    table = lake.catalog.table(*config.storage_table[1:])
    if table is None:
        return
    order = order_of(config, [Column(c.name, c.type) for c in table_columns(table)])
    told = config.tblproperties.get(DISTRIBUTION_KEY)
    if order != stored_order(table):
        spread: statements.Spread = (
            "as told" if told is not None else "by partition" if stored_partitioning(table) else "by range"
        )
        lake.spark(statements.order_rows(config.storage_table, order, spread))
    elif before is None or not stored_order(before):
        return
    if not order:
        lake.spark(_distribution_of_before(config.storage_table, told))


def _distribution_of_before(storage: TableName, told: str | None) -> str:
    """Return the statement that undoes what the order, or none, has said of how rows are spread over tasks."""
    if told is None:
        return statements.unset_table_properties(storage, [DISTRIBUTION_KEY])
    return statements.set_table_properties(storage, {DISTRIBUTION_KEY: told})
