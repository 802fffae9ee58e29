"""A Spark that records the engine's statements and carries out on real Iceberg tables what the next step looks at.

It computes nothing: rows that are written are a row of nothing but NULL, and count as other ones than before. Real
Spark is in integration/.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.sorting import NullOrder
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DateType, DoubleType, IcebergType, LongType, NestedField, StringType

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ColumnInfo, ViewInfo, ViewVersion
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import ancestry
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import HIDDEN_KEY, HIDDEN_STATE
from dbt.adapters.icebergmv.maintenance.errors import TableNotUnderstood
from tests.support.duck import unescaped

SETTINGS = {"spark.sql.session.timeZone": "UTC"}
TYPES: dict[str, IcebergType] = {
    "bigint": LongType(),
    "double": DoubleType(),
    "string": StringType(),
    "date": DateType(),
}
Columns = Sequence[tuple[str, str]]

_NAME = r"`lake`\.`ns`\.`(?P<name>\w+)`"
_COMPARISON = "SELECT 1 FROM (SELECT /*+ COALESCE(1) */ * FROM "
_TABLE = rf"table => '{_NAME}'"
_TEXT = r"'(?:[^'\\]|\\.)*'"
_PROPERTY = re.compile(r"'((?:[^'\\]|\\.)*)' = '((?:[^'\\]|\\.)*)'")
_OPTION = rf"`[^`]+` = {_TEXT}"
_OPTION_PARTS = re.compile(r"`([^`]+)` = '((?:[^'\\]|\\.)*)'")
_SUMMARY = "snapshot-property."
_HIDDEN = rf"(?:{HIDDEN_STATE}|{HIDDEN_KEY})\w+"
_PROPERTIES = rf"TBLPROPERTIES \((?P<properties>(?:, |{_TEXT}| = )*)\)"


@dataclass
class LocalCatalog:
    """A catalog reader over PyIceberg's own catalog, which keeps no views: those are held here."""

    iceberg: SqlCatalog
    views: dict[str, ViewInfo] = field(default_factory=dict)
    name: str = "lake"
    has_views: bool = True
    shows_all_views: bool = True
    not_understood: set[str] = field(default_factory=set)
    """Names of tables and views that have a column of a type which PyIceberg does not know."""

    def namespaces(self) -> list[str]:
        return ["ns"]

    def entries(self, namespace: str) -> list[CatalogEntry]:
        tables = [CatalogEntry(name[-1], "table") for name in self.iceberg.list_tables(namespace)]
        return [*tables, *(CatalogEntry(name, "view") for name in self.views)]

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        if name in self.not_understood and name in self.views:
            raise TableNotUnderstood("it has a variant")
        return self.views.get(name)

    def table(self, namespace: str, name: str) -> Table | None:
        if name in self.not_understood and name not in self.views:
            raise TableNotUnderstood("it has a variant")
        try:
            return self.iceberg.load_table(f"{namespace}.{name}")
        except NoSuchTableError:
            return None


@dataclass
class RecordingSpark:
    """Knows the columns of the definition; `said` are the statements that it was given. `schema` is the current one."""

    catalog: LocalCatalog
    columns: Columns
    said: list[str] = field(default_factory=list)
    settings: Mapping[str, str] = field(default_factory=lambda: SETTINGS)
    schema: str = "ns"

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        self.said.append(sql)
        if sql == "SET":
            return list(self.settings.items())
        if sql.startswith("DESCRIBE QUERY "):
            return self._described(sql)
        if sql.startswith(_COMPARISON):
            return [(1,)]
        if sql == "SELECT current_catalog(), current_schema()":
            return [("lake", self.schema)]
        for pattern, carry_out in self._effects().items():
            found = re.match(pattern, sql, re.DOTALL)
            if found is not None:
                carry_out(found)
                return []
        raise AssertionError(f"a statement that the recorder does not know: {sql}")

    def _effects(self) -> dict[str, Callable[[re.Match[str]], None]]:
        return {
            rf"CREATE OR REPLACE TABLE {_NAME} USING iceberg(?: PARTITIONED BY \((?P<by>.*?)\))? {_PROPERTIES}"
            r" AS SELECT (?P<columns>.*?) FROM": (self._create_table),
            rf"ALTER TABLE {_NAME} CREATE BRANCH `(?P<branch>\w+)` AS OF VERSION (?P<snapshot>\d+) ": self._branch,
            rf"ALTER TABLE {_NAME} DROP BRANCH IF EXISTS `(?P<branch>\w+)`": self._drop_branch,
            rf"ALTER TABLE {_NAME} (?P<un>UN)?SET TBLPROPERTIES \((?P<properties>.*)\)$": self._set_properties,
            rf"ALTER TABLE {_NAME} WRITE (?P<how>UNORDERED|.*?ORDERED BY (?P<order>.*))": self._order,
            rf"REFRESH TABLE {_NAME}$": lambda found: None,
            rf"DROP TABLE IF EXISTS {_NAME} PURGE$": lambda found: self.catalog.iceberg.drop_table(
                f"ns.{found['name']}"
            ),
            rf"INSERT INTO {_NAME}\.`branch_(?P<branch>\w+)` WITH \((?P<options>(?:, |{_OPTION})*)\)(?P<rows>.*)": (
                self._insert
            ),
            rf"CALL `lake`\.system\.rewrite_data_files\({_TABLE}, branch => '(?P<branch>\w+)', ": self._rewrite,
            rf"CALL `lake`\.system\.expire_snapshots\({_TABLE}, older_than => TIMESTAMP '": lambda found: None,
            rf"DELETE FROM {_NAME}\.`branch_(?P<branch>\w+)` ": self._delete,
            rf"CALL `lake`\.system\.fast_forward\({_TABLE}, .* to => '(?P<branch>\w+)'\)": self._fast_forward,
            rf"CALL `lake`\.system\.set_current_snapshot\({_TABLE}, snapshot_id => (?P<id>\d+)\)": self._set_main,
            rf"CREATE OR REPLACE VIEW {_NAME} \((?P<columns>.*?)\) COMMENT {_TEXT} {_PROPERTIES} AS (?P<sql>.*)": (
                self._publish
            ),
            rf"ALTER VIEW {_NAME} SET {_PROPERTIES}": self._alter_view,
            rf"ALTER VIEW {_NAME} UNSET TBLPROPERTIES IF EXISTS \((?P<keys>(?:, |{_TEXT})*)\)$": self._unset_of_view,
            rf"DROP VIEW IF EXISTS {_NAME}$": self._drop_view,
            rf"DROP TABLE IF EXISTS {_NAME}": self._drop_table,
            rf"ALTER TABLE {_NAME} RENAME TO `ns`\.`(?P<to>\w+)`$": self._rename,
            rf"COMMENT ON TABLE {_NAME} IS (?P<text>{_TEXT})$": self._comment,
            rf"ALTER TABLE {_NAME} ALTER COLUMN `(?P<column>\w+)` COMMENT (?P<text>{_TEXT})$": self._comment,
        }

    def _described(self, sql: str) -> Sequence[Sequence[object]]:
        stored = re.fullmatch(rf"DESCRIBE QUERY SELECT \* FROM \(\nSELECT \* FROM {_NAME}\n\)", sql)
        if stored is None:
            hidden = [(name, "bigint") for name in re.findall(rf" AS ({_HIDDEN})", sql)]
            return [*self.columns, *hidden]
        spark_types = {str(kind): name for name, kind in TYPES.items()}
        return [(f.name, spark_types[str(f.field_type)]) for f in self._table(stored).schema().fields]

    def _table(self, found: re.Match[str]) -> Table:
        return self.catalog.iceberg.load_table(f"ns.{found['name']}")

    def _create_table(self, found: re.Match[str]) -> None:
        name = f"ns.{found['name']}"
        for source, snapshot in re.findall(r"`lake`\.`ns`\.`(\w+)` VERSION AS OF (\d+)", found.string):
            read = self.catalog.iceberg.load_table(f"ns.{source}")
            assert read.metadata.snapshot_by_id(int(snapshot)) is not None, f"{source} has no snapshot {snapshot}"
        before: Mapping[str, str] = {}
        if self.catalog.iceberg.table_exists(name):
            before = self.catalog.iceberg.load_table(name).properties
            self.catalog.iceberg.drop_table(name)
        hidden = [(column, "bigint") for column in re.findall(rf"`({_HIDDEN})`", found["columns"])]
        columns = enumerate([*self.columns, *hidden], start=1)
        fields = [NestedField(i, n, TYPES[t], required=False) for i, (n, t) in columns]
        ids = {f.name: f.field_id for f in fields}
        keys = [] if found["by"] is None else [key.strip("`") for key in found["by"].split(", ")]
        spec = PartitionSpec(*(PartitionField(ids[k], 1000 + n, IdentityTransform(), k) for n, k in enumerate(keys)))
        table = self.catalog.iceberg.create_table(
            name, Schema(*fields), partition_spec=spec, properties={**before, **properties_in(found["properties"])}
        )
        table.append(pa.table([[]] * len(fields), schema=schema_to_pyarrow(table.schema())))
        committed_as(table, "overwrite")

    def _order(self, found: re.Match[str]) -> None:
        spread = {"UNORDERED": "none", "ORDERED BY": "range", "DISTRIBUTED BY PARTITION LOCALLY ORDERED BY": "hash"}
        mode = spread.get(found["how"].split(" `")[0])
        if mode is not None:
            self._table(found).transaction().set_properties({"write.distribution-mode": mode}).commit_transaction()
        with self._table(found).update_sort_order() as update:
            for column, direction, nulls in re.findall(r"`(\w+)` (ASC|DESC) NULLS (FIRST|LAST)", found["order"] or ""):
                place = NullOrder(f"nulls-{nulls.lower()}")
                (update.asc if direction == "ASC" else update.desc)(column, IdentityTransform(), place)

    def _branch(self, found: re.Match[str]) -> None:
        self._table(found).manage_snapshots().create_branch(int(found["snapshot"]), found["branch"]).commit()

    def _drop_branch(self, found: re.Match[str]) -> None:
        self._table(found).manage_snapshots().remove_branch(found["branch"]).commit()

    def _insert(self, found: re.Match[str]) -> None:
        table = self._table(found)
        cells: list[object] = [] if found["rows"].endswith(" WHERE false") else [None]
        row = pa.table([cells] * len(table.schema().fields), schema=schema_to_pyarrow(table.schema()))
        summary = {
            key.removeprefix(_SUMMARY): unescaped(text)
            for key, text in re.findall(_OPTION_PARTS, found["options"])
            if key.startswith(_SUMMARY)
        }
        table.append(row, branch=found["branch"], snapshot_properties=summary)

    def _drop_view(self, found: re.Match[str]) -> None:
        self.catalog.views.pop(found["name"], None)

    def _drop_table(self, found: re.Match[str]) -> None:
        if self.catalog.iceberg.table_exists(f"ns.{found['name']}"):
            self.catalog.iceberg.drop_table(f"ns.{found['name']}")

    def _rename(self, found: re.Match[str]) -> None:
        self.catalog.iceberg.rename_table(f"ns.{found['name']}", f"ns.{found['to']}")

    def _set_properties(self, found: re.Match[str]) -> None:
        with self._table(found).transaction() as transaction:
            if found["un"]:
                transaction.remove_properties(*(unescaped(key[1:-1]) for key in re.findall(_TEXT, found["properties"])))
            else:
                transaction.set_properties(properties_in(found["properties"]))

    def _comment(self, found: re.Match[str]) -> None:
        text, column = unescaped(found["text"][1:-1]), found.groupdict().get("column")
        with self._table(found).transaction() as transaction:
            if column is None:
                transaction.set_properties({"comment": text})
            else:
                with transaction.update_schema() as update:
                    update.update_column(column, doc=text)

    def _delete(self, found: re.Match[str]) -> None:
        self._table(found).delete(AlwaysTrue(), branch=found["branch"])

    def _rewrite(self, found: re.Match[str]) -> None:
        table = self._table(found)
        none = pa.Table.from_pylist([], schema=schema_to_pyarrow(table.schema()))
        table.append(none, branch=found["branch"])
        committed_as(table, "replace", found["branch"])

    def _fast_forward(self, found: re.Match[str]) -> None:
        table = self._table(found)
        head = table.metadata.refs[found["branch"]].snapshot_id
        if table.metadata.current_snapshot_id not in {s.snapshot_id for s in ancestry(table.metadata, head)}:
            raise RuntimeError("Cannot fast-forward: main is not an ancestor of the branch")
        table.manage_snapshots().set_current_snapshot(head).commit()

    def _set_main(self, found: re.Match[str]) -> None:
        self._table(found).manage_snapshots().set_current_snapshot(int(found["id"])).commit()

    def _publish(self, found: re.Match[str]) -> None:
        columns = tuple(ColumnInfo(n, "", None) for n in re.findall(r"`(\w+)`", found["columns"]))
        before = self.catalog.views.get(found["name"])
        versions = before.versions if before else ()
        number = len(versions) + 1
        self.catalog.views[found["name"]] = ViewInfo(
            "ns",
            found["name"],
            "u",
            found["sql"],
            columns,
            {**(before.properties if before else {}), **properties_in(found["properties"])},
            None,
            version_id=number,
            default_namespace=("ns",),
            versions=(*versions, ViewVersion(number, number * 1000, found["sql"])),
        )

    def _alter_view(self, found: re.Match[str]) -> None:
        view = self.catalog.views[found["name"]]
        properties = {**view.properties, **properties_in(found["properties"])}
        self.catalog.views[found["name"]] = replace(view, properties=properties)

    def _unset_of_view(self, found: re.Match[str]) -> None:
        view, keys = self.catalog.views[found["name"]], {unescaped(k[1:-1]) for k in re.findall(_TEXT, found["keys"])}
        properties = {k: v for k, v in view.properties.items() if k not in keys}
        self.catalog.views[found["name"]] = replace(view, properties=properties)


def committed_as(table: Table, operation: str, branch: str = "main") -> None:
    """Let the last snapshot of a branch be of another operation: PyIceberg itself commits few of them."""
    file = Path(table.refresh().metadata_location.removeprefix("file://"))
    metadata = json.loads(file.read_text())
    for snapshot in metadata["snapshots"]:
        if snapshot["snapshot-id"] == metadata["refs"][branch]["snapshot-id"]:
            snapshot["summary"]["operation"] = operation
    file.write_text(json.dumps(metadata))


def properties_in(text: str) -> dict[str, str]:
    """Return the properties in a list of string literals."""
    return {unescaped(key): unescaped(value) for key, value in _PROPERTY.findall(text)}
