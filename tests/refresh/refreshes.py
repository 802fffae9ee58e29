"""One refresh of each kind and one view of each stale-read behaviour, played to the statements that Spark gets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DateType, LongType, NestedField, StringType

from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import definition_hash
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult, left_alone
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.status.resting import RestingView, inspect_for_run
from dbt.adapters.icebergmv.maintenance.status.session.clock import utc_now
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.support.recording_spark import SETTINGS, Columns, LocalCatalog, RecordingSpark

VIEW = ("lake", "ns", "sales")
STORAGE = ("lake", "ns", "__mv_storage__sales")
ORDERS = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "day", DateType(), required=False),
    NestedField(3, "region", StringType(), required=False),
    NestedField(4, "amount", LongType(), required=False),
)
REGIONS = Schema(
    NestedField(1, "region", StringType(), required=False), NestedField(2, "manager", StringType(), required=False)
)
TOTALS = "SELECT region, sum(amount) AS total FROM orders GROUP BY region"
TOTALS_COLUMNS = (("region", "string"), ("total", "bigint"))

Change = Callable[[Mapping[str, Table]], None]


@dataclass(frozen=True)
class Model:
    """A view as the project has it: its SELECT, the columns that Spark sees in it, its configuration."""

    sql: str = TOTALS
    columns: Columns = TOTALS_COLUMNS
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """A refresh to show: of `model`, after a change, where `before` was refreshed before it (None: a first build)."""

    about: str
    kind: str
    before: Model | None
    change: Change
    model: Model


def sell(*regions: str | None) -> Change:
    """Return a change that appends one order for each region."""

    def change(tables: Mapping[str, Table]) -> None:
        rows = [{"id": n, "day": date(2024, 1, 1), "region": r, "amount": 10 * n} for n, r in enumerate(regions, 1)]
        tables["orders"].append(pa.Table.from_pylist(rows, schema=schema_to_pyarrow(ORDERS)))

    return change


def employ(manager: str) -> Change:
    """Return a change that adds a manager to one region."""

    def change(tables: Mapping[str, Table]) -> None:
        row = [{"region": "EU", "manager": manager}]
        tables["regions"].append(pa.Table.from_pylist(row, schema=schema_to_pyarrow(REGIONS)))

    return change


def crash(tables: Mapping[str, Table]) -> None:
    """Sell something, and leave the storage table as a refresh does that was killed before it published the view."""
    sell("EU")(tables)
    storage = tables[STORAGE[2]]
    storage.append(pa.Table.from_pylist([{"region": "EU"}], schema=schema_to_pyarrow(storage.schema())))


def nothing(tables: Mapping[str, Table]) -> None:
    """Leave the tables as they are."""


class Stage:
    """Base tables in a catalog, of their own unless one is given, and the refreshes that are played on them.

    `ahead` is by how much the clock of the runs is ahead of the real one.
    """

    def __init__(self, folder: Path, catalog: LocalCatalog | None = None) -> None:
        self.folder, self.ahead = folder, timedelta()
        if catalog is None:
            iceberg = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=folder.as_uri())
            iceberg.create_namespace("ns")
            catalog = LocalCatalog(iceberg)
        self.catalog, iceberg = catalog, catalog.iceberg
        for name, schema in (("orders", ORDERS), ("regions", REGIONS)):
            field_id = schema.find_field("region").field_id
            spec = PartitionSpec(PartitionField(field_id, 1000, IdentityTransform(), "region"))
            iceberg.create_table(f"ns.{name}", schema, partition_spec=spec)
        sell("EU", "US", None)(self.tables())
        employ("Ann")(self.tables())

    def play(self, scenario: Scenario) -> tuple[RefreshResult, list[str]]:
        """Return the outcome of the scenario's refresh, and the statements that it ran."""
        if scenario.before is not None:
            self.refresh(scenario.before)
        scenario.change(self.tables())
        return self.refresh(scenario.model)

    def close(self) -> None:
        """Close the catalog."""
        self.catalog.iceberg.close()

    def request(self, model: Model) -> RefreshRequest:
        """Return what a run asks for a model."""
        storage = VIEW if model.config.get("layout") == "table" else STORAGE
        config = ViewConfig(definition_hash(model.sql), storage, settings=SETTINGS, **model.config)
        return RefreshRequest(VIEW, model.sql, "ns", config, "ann", now=self.now)

    def now(self) -> datetime:
        """Return what the clock of the runs says."""
        return utc_now() + self.ahead

    def refresh(self, model: Model, spark: RecordingSpark | None = None) -> tuple[RefreshResult, list[str]]:
        """Refresh the view of a model; return the outcome, and the statements that Spark was given."""
        spark = spark or RecordingSpark(self.catalog, model.columns)
        inspection = inspect_for_run(self.catalog, self.request(model))
        if isinstance(inspection, RestingView):
            return left_alone(inspection), spark.said
        return refresh(Lake(self.catalog, spark), inspection, read_plan(inspection)), spark.said

    def tables(self) -> dict[str, Table]:
        names = ("orders", "regions", STORAGE[2], VIEW[2])
        return {name: table for name in names if (table := self.catalog.table("ns", name)) is not None}


_UNSTABLE = {
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}": "00000000-0000-0000-0000-{:012d}",
    r"(?<=-hash' = ')[0-9a-f]+|(?<=checksum' = ')[0-9a-f]+": "{:016d}",
    r'(?<=-hash": ")[0-9a-f]+|(?<=checksum": ")[0-9a-f]+': "{:016d}",
    r"icebergmv_\d{8}T\d{6}_[0-9a-f]{8}": "icebergmv_20240101T000000_{:08d}",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00": "2024-01-01T00:00:00.000+00:00",
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?Z": "2024-01-01 00:00:00.000000Z",
    r"\d{4}-\d\d-\d\d \d\d:\d\d UTC": "2024-01-01 00:00 UTC",
    r"full-seconds' = '[0-9.]+'": "full-seconds' = '1.5'",
    r"(?<=timestamp-ms\": )\d{13}": "1704067200000",
}
"""What differs from run to run, and the form that it is shown in; the same value has the same number."""


def stable(text: str, stage: Stage) -> str:
    """Return the text with everything that differs from run to run replaced, and properties on lines of their own."""
    for number, name in enumerate(("orders", "regions", STORAGE[2], VIEW[2]), start=1):
        table = stage.catalog.table("ns", name)
        for n, snapshot in enumerate(table.metadata.snapshots if table else (), start=1):
            text = text.replace(str(snapshot.snapshot_id), f"{number}00{n}")
    text = text.replace(str(stage.folder), "/warehouse")
    for pattern, form in _UNSTABLE.items():
        seen = list(dict.fromkeys(found[0] for found in re.finditer(pattern, text)))
        for number, value in enumerate(seen, start=1):
            text = text.replace(value, form.format(number))
    return re.sub(r"(?<=\(|,) ?(?='icebergmv\.[a-z-]+' = )", "\n  ", text)


ROWS = Model(
    "SELECT id, region, amount FROM orders WHERE amount > 0",
    (("id", "bigint"), ("region", "string"), ("amount", "bigint")),
)
JOINED = Model(
    "SELECT o.region, r.manager, sum(o.amount) AS total\n"
    "FROM orders o LEFT JOIN regions r ON o.region = r.region GROUP BY o.region, r.manager",
    (("region", "string"), ("manager", "string"), ("total", "bigint")),
)
DAYS = Model(
    "SELECT day, sum(amount) AS total, avg(amount) AS mean FROM orders GROUP BY day",
    (("day", "date"), ("total", "bigint"), ("mean", "double")),
)
RANDOM = Model("SELECT region, rand() AS r FROM orders", (("region", "string"), ("r", "double")))
COUNTED = Model(
    "SELECT region, count(*) AS orders FROM orders GROUP BY region", (("region", "string"), ("orders", "bigint"))
)
TABLE = Model(config={"layout": "table"})


def reading(behavior: str, model: Model = Model(), **config: Any) -> Model:
    """Return the model with a stale_read_behavior; its tables count as large."""
    reads = {"stale_read_behavior": behavior, "definition_below_rows": 0}
    return replace(model, config={**model.config, **reads, **config})


SCENARIOS: dict[str, Scenario] = {
    "first_build": Scenario("The first run builds the storage table and the view.", "full", None, nothing, Model()),
    "no_op": Scenario("Nothing changed: not a single statement.", "none", Model(), nothing, Model()),
    "record_moved": Scenario(
        "A commit that changed no row: only the recorded snapshot moves.", "none", Model(), sell(), Model()
    ),
    "alter_only": Scenario(
        "The configuration changed, the rows did not.",
        "none",
        Model(),
        nothing,
        Model(config={"comment": "Sales by region", "tblproperties": {"write.target-file-size-bytes": "1048576"}}),
    ),
    "append": Scenario("New rows of a filter and projection are added.", "append", ROWS, sell("EU"), ROWS),
    "merge": Scenario(
        "No output column follows the partitions: what came is added to the stored groups.",
        "merge",
        DAYS,
        sell("EU", None),
        DAYS,
    ),
    "overwrite_replace_where": Scenario(
        "The region is whole partitions of the storage: they are replaced in one commit.",
        "overwrite",
        Model(),
        sell("EU", None),
        Model(),
    ),
    "overwrite_delete_insert": Scenario(
        "The storage is not partitioned by the region: its rows are deleted, then the new ones inserted.",
        "overwrite",
        Model(config={"partition_by": ()}),
        sell("EU"),
        Model(config={"partition_by": ()}),
    ),
    "overwrite_join": Scenario(
        "The null-supplying side of a join changed: both sides are read for its region alone.",
        "overwrite",
        JOINED,
        employ("Eve"),
        JOINED,
    ),
    "after_a_crash": Scenario(
        "The storage table is ahead of the view: it is taken back to what the view reads.",
        "overwrite",
        Model(),
        crash,
        Model(),
    ),
    "full": Scenario("Another SELECT: everything is rebuilt.", "full", Model(), nothing, COUNTED),
    "table_build": Scenario(
        "With layout table, one statement makes the table, its rows and its state.", "full", None, nothing, TABLE
    ),
    "table_overwrite": Scenario(
        "With layout table, the INSERT carries the state; main moves to both.", "overwrite", TABLE, sell("EU"), TABLE
    ),
    "table_record_moved": Scenario(
        "With layout table, a snapshot without rows records ids that moved.", "none", TABLE, sell(), TABLE
    ),
    "restitch": Scenario(
        "refresh_on_run is false: no row is computed, the view reads stored rows where they are fresh.",
        "restitch",
        reading("use_stitching", refresh_on_run=False),
        sell("EU"),
        reading("use_stitching", refresh_on_run=False),
    ),
    "read_stitched": Scenario(
        "A view that finds its stale keys when it is read.", "full", None, nothing, reading("use_stitching")
    ),
    "read_view_query": Scenario(
        "A view that reads its SELECT when a base table moved.", "full", None, nothing, reading("use_view_query")
    ),
    "read_small": Scenario(
        "A view over tables so small that its SELECT is computed when it is read.",
        "full",
        None,
        nothing,
        reading("use_stitching", definition_below_rows=100),
    ),
    "read_fail": Scenario("A view that fails when a base table moved.", "full", None, nothing, reading("fail")),
}
