"""The storage table: does it fit the definition, and the statements that make or alter it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.definition.partitioning import (
    PartitionField,
    derive_partitioning,
    parse_partition_by,
    spec_fields,
)
from dbt.adapters.icebergmv.maintenance.errors import InvalidDefinition
from dbt.adapters.icebergmv.maintenance.planning import pinned_queries as render
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import Lake
from dbt.adapters.icebergmv.maintenance.sql.names import show
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified
from dbt.adapters.icebergmv.maintenance.status.inspection import STORAGE_OF, Inspection, untracked

_NARROW = re.compile(r"\b(?:tinyint|smallint)\b")
_SIZED_TEXT = re.compile(r"\b(?:var)?char\(\d+\)")


# A fanout writer keeps a file open, and its buffers in memory, for every partition of a full refresh.
_DEFAULT_PROPERTIES = {"write.spark.fanout.enabled": "false"}


@dataclass(frozen=True)
class Column:
    """An output column: its name, and the type that Iceberg stores for it as Spark then shows it."""

    name: str
    type: str


def describe(lake: Lake, query: str) -> tuple[Column, ...]:
    """Return the columns of a query, as Spark's analyser sees them; no job runs."""
    return tuple(Column(str(row[0]), _stored_type(str(row[1]))) for row in lake.spark(render.describe_query(query)))


def pinned_definition(inspection: Inspection) -> str:
    """Return the definition over all rows of its base tables, at the snapshots that were inspected."""
    return render.pinned_query(inspection.definition, inspection.bases, {}, inspection.bases.catalog_name)


def columns_of_definition(lake: Lake, inspection: Inspection) -> tuple[Column, ...] | None:
    """Return the columns of the definition; None when Spark reads the views in it otherwise than their SQL.

    The SELECT as it is written comes first: what is wrong with a view is then said by Spark, in the user's words.
    """
    if not inspection.views:
        return describe(lake, pinned_definition(inspection))
    written = describe(lake, inspection.request.sql)
    try:
        expanded = describe(lake, pinned_definition(inspection))
    except Exception:
        # Whatever Spark has against the SQL of a view in this place, the SELECT itself is right.
        return None
    return expanded if expanded == written else None


def check_columns(inspection: Inspection, columns: Sequence[Column]) -> Inspection:
    """Refuse columns that no table can hold; give up tracking when Spark's columns are not those of the analysis.

    Spark has the last word on the case of names, which USING takes from either side.
    """
    names = [c.name for c in columns]
    lowered = [n.lower() for n in names]
    for name in names:
        if lowered.count(name.lower()) > 1:
            raise InvalidDefinition(f"the SELECT outputs two columns named {name}. Rename one of them with AS.")
    if inspection.request.config.partition_by is not None:
        parse_partition_by(inspection.request.config.partition_by, names)
    analysed = inspection.definition.columns
    if analysed is None:
        return inspection
    if [c.name.lower() for c in analysed] != lowered:
        return untracked(inspection, "its columns cannot be followed through the SELECT")
    named = tuple(replace(c, name=n) for c, n in zip(analysed, names, strict=True))
    return replace(inspection, definition=replace(inspection.definition, columns=named))


def misfit(lake: Lake, inspection: Inspection, columns: Sequence[Column]) -> str | None:
    """Return why the storage table cannot take the rows of the definition, or None when it can."""
    config = inspection.request.config
    if inspection.storage is None:
        return "its storage table was dropped"
    if config.partition_by is not None:
        wanted = parse_partition_by(config.partition_by, [c.name for c in columns])
        if wanted != stored_partitioning(inspection.storage):
            return "its storage table is partitioned otherwise"
    if describe(lake, f"SELECT * FROM {qualified(*config.storage_table)}") != tuple(columns):
        return "the columns of the SELECT are not those of the storage table"
    return None


def stored_partitioning(storage: Table | None) -> tuple[PartitionField, ...]:
    """Return the partitioning of the storage table, nothing when there is none."""
    return () if storage is None else spec_fields(storage.spec(), storage.schema())


def create_storage(lake: Lake, inspection: Inspection, names: Sequence[str], query: str) -> None:
    """Create the storage table, or give it the columns and partitioning of the definition; it holds no rows then."""
    config = inspection.request.config
    if config.partition_by is not None:
        partitioning = parse_partition_by(config.partition_by, names)
    else:
        sources = [(r.index, inspection.bases.of(r).source) for r in inspection.definition.references if not r.pinned]
        specs = [(i, s.table.spec(), s.table_schema) for i, s in sources if s is not None]
        partitioning = derive_partitioning(inspection.definition, specs)
    if config.storage_table[1] != inspection.request.view[1]:
        lake.spark(render.create_namespace(config.storage_table))
    properties = {**_DEFAULT_PROPERTIES, **config.tblproperties, STORAGE_OF: show(inspection.request.view)}
    lake.spark(render.create_storage(config.storage_table, names, query, partitioning, properties))


def alter_storage(lake: Lake, inspection: Inspection) -> None:
    """Bring the properties of the storage table to what the model asks for."""
    config, storage, state = inspection.request.config, inspection.storage, inspection.state
    if storage is None or state is None:
        return
    had = state.config.get("tblproperties")
    gone = sorted((had.keys() if isinstance(had, dict) else set()) - config.tblproperties.keys())
    new = {k: v for k, v in config.tblproperties.items() if storage.properties.get(k) != v}
    if new:
        lake.spark(render.set_table_properties(config.storage_table, new))
    if gone:
        lake.spark(render.unset_table_properties(config.storage_table, gone))


def is_of_one_spec(table: Table, snapshot_id: int) -> bool:
    """Return whether all files of the snapshot are written under the table's current partition spec."""
    snapshot = table.metadata.snapshot_by_id(snapshot_id)
    manifests = snapshot.manifests(table.io) if snapshot is not None else []
    return all(m.partition_spec_id == table.metadata.default_spec_id for m in manifests)


def _stored_type(described: str) -> str:
    return _SIZED_TEXT.sub("string", _NARROW.sub("int", described))
