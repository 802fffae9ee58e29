"""The reader over Spark keeps the contract of all readers, and gives every answer that the direct reader gives."""

from __future__ import annotations

import gzip
import json
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.manifest import ManifestFile
from pyiceberg.table import Table
from pyspark.sql import SparkSession

from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from dbt.adapters.icebergmv.maintenance.catalog.changed_rows import Wanted
from dbt.adapters.icebergmv.maintenance.catalog.manifests import manifests_of
from dbt.adapters.icebergmv.maintenance.catalog.opening import open_catalog
from dbt.adapters.icebergmv.maintenance.catalog.over_spark.reader import SparkReader
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion, bytes_by_partition, change_since
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier
from dbt.adapters.icebergmv.spark.session import spark_session
from dbt.adapters.icebergmv.spark.settings import SparkRequest
from integration.support.spark_settings import SPARK
from tests.support.reader_contract import Lake, ReaderContract, filled_lake


@pytest.fixture(scope="module")
def spark(warehouse: Path) -> SparkSession:
    """Spark with the warehouse of all tests."""
    settings = catalog_settings("lake", str(warehouse), {}, "/")
    return spark_session(SparkRequest(settings, "default", tuple(SPARK.items()), (), str(warehouse.parent)))


def session_over(spark: SparkSession, database: Path, warehouse: Path) -> SparkSession:
    """Return a session of its own whose catalog `lake` is in that database."""
    properties = {"type": "jdbc", "uri": f"jdbc:sqlite:{database}?busy_timeout=10000", "warehouse": str(warehouse)}
    settings = catalog_settings("lake", None, properties, "/")
    session = spark.newSession()
    for key, value in {**settings.spark_conf(), "spark.sql.catalog.lake.cache-enabled": "false"}.items():
        session.conf.set(key, value)
    return session


class TestContract(ReaderContract):
    @pytest.fixture
    def lake(self, spark: SparkSession, tmp_path: Path) -> Iterator[Lake]:
        @contextmanager
        def over_spark(database: Path) -> Iterator[CatalogReader]:
            session = session_over(spark, database, tmp_path)
            yield SparkReader("lake", lambda sql: session.sql(sql).collect())

        with filled_lake(tmp_path, over_spark) as made:
            yield made

    # Iceberg itself reads any other broken file for minutes before it gives up.
    @pytest.mark.parametrize("content", [None], ids=["gone"])
    def test_a_broken_file_is_an_error(self, lake: Lake, content: bytes | None) -> None:
        super().test_a_broken_file_is_an_error(lake, content)


@dataclass
class Both:
    """One catalog read in both ways, and the statements that the reader over Spark ran."""

    direct: CatalogReader
    over_spark: CatalogReader
    sql: Callable[[str], Sequence[Sequence[object]]]
    warehouse: Path
    statements: list[str]

    def assert_same(self, namespace: str, name: str) -> None:
        """Compare what both readers say of a name, and the bytes of every metadata file of a table."""
        found, wanted = self.over_spark.view(namespace, name), self.direct.view(namespace, name)
        assert found == wanted
        table, other = self.over_spark.table(namespace, name), self.direct.table(namespace, name)
        if table is None or other is None:
            assert table is other
            return
        assert (table.metadata_location, table.metadata) == (other.metadata_location, other.metadata)
        for path in files_of(other):
            assert content(table, path) == content(other, path)


@pytest.fixture(scope="module")
def both(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Both:
    warehouse = tmp_path_factory.mktemp("both é") / "its, warehouse"
    settings = catalog_settings("lake", str(warehouse), {}, "/")
    warehouse.mkdir()
    session = session_over(spark, warehouse / "catalog.db", warehouse)
    statements: list[str] = []

    def sql(statement: str) -> Sequence[Sequence[object]]:
        return session.sql(statement).collect()

    def noted(statement: str) -> Sequence[Sequence[object]]:
        statements.append(statement)
        return sql(statement)

    sql("CREATE NAMESPACE lake.ns")
    direct = open_catalog("lake", settings.pyiceberg)
    return Both(direct, SparkReader("lake", noted), sql, warehouse, statements)


def files_of(table: Table) -> Iterator[str]:
    """Yield every manifest list and manifest of a table."""
    seen: set[str] = set()
    for snapshot in table.metadata.snapshots:
        manifests: Sequence[ManifestFile] = manifests_of(table.io, snapshot)
        for path in (snapshot.manifest_list, *(m.manifest_path for m in manifests)):
            if path and path not in seen:
                seen.add(path)
                yield path


def content(table: Table, path: str) -> bytes:
    with table.io.new_input(path).open() as stream:
        return stream.read()


HISTORIES = {
    "evolved": [
        "CREATE TABLE {t} (id INT COMMENT 'k', d DATE, s STRUCT<x: INT>) USING iceberg PARTITIONED BY (d)",
        "INSERT INTO {t} VALUES (1, DATE'2024-01-01', named_struct('x', 1)), (2, NULL, NULL)",
        "ALTER TABLE {t} ADD COLUMN `new é` STRING",
        "ALTER TABLE {t} ADD PARTITION FIELD bucket(4, id)",
        "ALTER TABLE {t} RENAME COLUMN id TO key",
        "ALTER TABLE {t} ALTER COLUMN key TYPE BIGINT",
        "INSERT INTO {t} VALUES (3, DATE'2024-01-02', NULL, 'x')",
        "ALTER TABLE {t} DROP PARTITION FIELD d",
        "INSERT INTO {t} VALUES (4, DATE'2024-01-03', NULL, 'y')",
        "ALTER TABLE {t} SET TBLPROPERTIES ('p' = 'it''s')",
    ],
    "branches and tags": [
        "CREATE TABLE {t} (id INT) USING iceberg",
        "INSERT INTO {t} VALUES (1)",
        "ALTER TABLE {t} CREATE TAG `a tag`",
        "ALTER TABLE {t} CREATE BRANCH b",
        "INSERT INTO {t}.branch_b VALUES (2)",
    ],
    "merge-on-read": [
        "CREATE TABLE {t} (id INT, d DATE) USING iceberg PARTITIONED BY (d)"
        " TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, DATE'2024-01-01' FROM range(10)",
        "DELETE FROM {t} WHERE id = 3",
    ],
    "rolled back": [
        "CREATE TABLE {t} (id INT) USING iceberg",
        "INSERT INTO {t} VALUES (1)",
        "ALTER TABLE {t} CREATE TAG first",
        "INSERT INTO {t} VALUES (2)",
        "CALL lake.system.set_current_snapshot(table => '{t}', ref => 'first')",
    ],
    "replaced": [
        "CREATE TABLE {t} (id INT) USING iceberg",
        "INSERT INTO {t} VALUES (1)",
        "CREATE OR REPLACE TABLE {t} USING iceberg AS SELECT 'x' AS other",
    ],
    "made anew": [
        "CREATE TABLE {t} (id INT) USING iceberg",
        "DROP TABLE {t}",
        "CREATE TABLE {t} (id INT) USING iceberg",
    ],
    "files forgotten": [
        "CREATE TABLE {t} (id INT) USING iceberg TBLPROPERTIES ('write.metadata.previous-versions-max' = '1',"
        " 'write.metadata.delete-after-commit.enabled' = 'true', 'write.metadata.compression-codec' = 'gzip')",
        *["INSERT INTO {t} VALUES (1)"] * 3,
    ],
    "v1": [
        "CREATE TABLE {t} (id INT) USING iceberg TBLPROPERTIES ('format-version' = '1')",
        "INSERT INTO {t} VALUES (1)",
    ],
    "v3": [
        "CREATE TABLE {t} (id INT) USING iceberg"
        " TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id FROM range(10)",
        "DELETE FROM {t} WHERE id = 3",
    ],
}


@pytest.mark.parametrize("history", HISTORIES)
def test_tables(both: Both, history: str) -> None:
    for statement in HISTORIES[history]:
        both.sql(statement.format(t=f"lake.ns.`{history}`"))
        both.assert_same("ns", history)


def test_views(both: Both) -> None:
    both.sql("CREATE TABLE lake.ns.base (id INT, d DATE) USING iceberg")
    for statement in (
        "CREATE VIEW lake.ns.v COMMENT 'it''s\n\"é\"' TBLPROPERTIES ('a' = '1') AS SELECT id, d FROM lake.ns.base",
        "CREATE OR REPLACE VIEW lake.ns.v TBLPROPERTIES ('a' = '2') AS SELECT id, d FROM lake.ns.base",
        "CREATE OR REPLACE VIEW lake.ns.v (id COMMENT 'the id', d2) AS SELECT id, d FROM lake.ns.base",
        "CREATE OR REPLACE VIEW lake.ns.v AS SELECT id, d FROM lake.ns.base",
        "ALTER VIEW lake.ns.v SET TBLPROPERTIES ('q' = 'it''s \\\\ \\n', 'token' = 'x', 'url' = 'y')",
        "ALTER VIEW lake.ns.v UNSET TBLPROPERTIES ('a')",
        "CREATE OR REPLACE VIEW lake.ns.v AS SELECT id FROM lake.ns.base",
        # What was before, again: the files of both times look the same to Spark.
        "CREATE OR REPLACE VIEW lake.ns.v AS SELECT id, d FROM lake.ns.base",
        *(f"CREATE OR REPLACE VIEW lake.ns.v AS SELECT id, {n} AS n FROM lake.ns.base" for n in range(12)),
        "DROP VIEW lake.ns.v",
        "CREATE VIEW lake.ns.v AS SELECT id, 3 AS n FROM lake.ns.base",
        "DROP VIEW lake.ns.v",
        "CREATE TABLE lake.ns.v (id INT) USING iceberg",
        "DROP TABLE lake.ns.v",
        "CREATE VIEW lake.ns.v AS SELECT cast(1 AS DECIMAL(10, 2)) AS a, array(struct(1 AS x, map('a', 1L) AS m)) AS s,"
        " current_timestamp() AS t, timestamp_ntz'2020-01-01 00:00:00' AS n, NULL AS v, X'00' AS b,"
        " array(NULL) AS w, true AS o, 1.5D AS e, 1Y AS y",
    ):
        both.sql(statement)
        both.assert_same("ns", "v")


@pytest.mark.long
def test_names(both: Both) -> None:
    for number, name in enumerate(("a b", "it's", "é`x", "d.o.t", "a,b", "100%", "{x}[y]*?", "$x$")):
        quoted = identifier(name)
        both.sql(f"CREATE TABLE lake.ns.{quoted} (id INT) USING iceberg")
        both.sql(f"INSERT INTO lake.ns.{quoted} VALUES ({number})")
        both.sql(f"CREATE VIEW lake.ns.{identifier(f'{name} view')} AS SELECT id FROM lake.ns.{quoted}")
        both.assert_same("ns", name)
        both.assert_same("ns", f"{name} view")


def test_namespaces_and_entries(both: Both) -> None:
    both.sql("CREATE NAMESPACE lake.ns.inner")
    both.sql("CREATE NAMESPACE lake.`sp ace é`")
    both.sql("CREATE NAMESPACE lake.empty")
    both.sql("CREATE TABLE lake.ns.inner.t (id INT) USING iceberg")
    both.sql("CREATE VIEW lake.ns.inner.w AS SELECT 1 AS x")
    both.sql("CREATE NAMESPACE lake.ns.inner.most")
    assert {"ns", "ns.inner", "ns.inner.most"} <= {*both.direct.namespaces()}
    assert both.over_spark.namespaces() == both.direct.namespaces()
    for namespace in ("ns", "ns.inner", "sp ace é", "empty", "nowhere", "nowhere.inner"):
        found, wanted = both.over_spark.entries(namespace), both.direct.entries(namespace)
        assert sorted(map(repr, found)) == sorted(map(repr, wanted))
    both.assert_same("ns.inner", "t")
    both.assert_same("ns.inner", "w")
    for namespace, name in (("ns", "absent"), ("nowhere", "absent"), ("ns.inner", "absent"), ("empty", "t")):
        assert both.over_spark.table(namespace, name) is None
        assert both.over_spark.view(namespace, name) is None


def test_an_unknown_catalog_is_an_error(both: Both) -> None:
    with pytest.raises(CatalogUnavailable, match="Cannot read the catalog `none`: "):
        SparkReader("none", both.sql).namespaces()


def test_what_changed_takes_few_statements(both: Both) -> None:
    both.sql("CREATE TABLE lake.ns.many (id INT, d INT) USING iceberg PARTITIONED BY (d)")
    both.sql("INSERT INTO lake.ns.many VALUES (0, 0)")
    start = both.over_spark.table("ns", "many")
    for n in range(1, 9):
        both.sql(f"INSERT INTO lake.ns.many VALUES ({n}, {n})")
    del both.statements[:]
    now = both.over_spark.table("ns", "many")
    assert start is not None
    assert now is not None
    before, after = (
        TableVersion(str(t.metadata.table_uuid), t.metadata.current_snapshot_id, t.metadata.current_schema_id)
        for t in (start, now)
    )
    change = change_since(before, after, now, now.schema(), Wanted(frozenset({"d"})))
    assert (change.changed_partitions, change.appended_rows) == (8, 8)
    assert after.snapshot_id is not None
    assert len(bytes_by_partition(now, after.snapshot_id)) == 9
    # The log; metadata, manifest lists, their manifests, and the first manifest, each in a view of its own.
    assert len(both.statements) <= 1 + 3 * 5, both.statements


def current_file(view: Path) -> Path:
    return max((view / "metadata").iterdir(), key=lambda file: file.name)


def stray(view: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Leave the metadata file of a commit that failed beside the current one."""
    file = current_file(view)
    metadata = json.loads(gzip.decompress(file.read_bytes()))
    change(metadata)
    number = int(file.name[:5]) + 1
    left = file.with_name(f"{number:05}-{uuid.uuid4()}.gz.metadata.json")
    left.write_bytes(gzip.compress(json.dumps(metadata).encode()))


def add_version(metadata: dict[str, Any], **changes: object) -> None:
    number = max(version["version-id"] for version in metadata["versions"]) + 1
    now = int(time.time() * 1000)
    metadata["versions"].append({**metadata["versions"][-1], "version-id": number, "timestamp-ms": now, **changes})
    metadata["version-log"].append({"timestamp-ms": now, "version-id": number})
    metadata["current-version-id"] = number


def test_what_failed_commits_leave_is_not_taken_for_current(both: Both) -> None:
    both.sql("CREATE VIEW lake.ns.raced TBLPROPERTIES ('p' = '1') AS SELECT 1 AS x")
    folder = both.warehouse / "ns" / "raced"
    stray(folder, lambda metadata: metadata["properties"].update(p="2"))
    both.assert_same("ns", "raced")
    sql = [{"type": "sql", "sql": "SELECT 2 AS x", "dialect": "spark"}]
    stray(folder, lambda metadata: add_version(metadata, representations=sql))
    both.assert_same("ns", "raced")
    (folder / "metadata" / "00009-half.gz.metadata.json").write_bytes(b"\x1f\x8bhalf written")
    both.assert_same("ns", "raced")


def test_what_cannot_be_proven_is_an_error_that_says_what_to_do(both: Both) -> None:
    both.sql("CREATE VIEW lake.ns.unproven AS SELECT 1 AS x")
    stray(
        both.warehouse / "ns" / "unproven",
        lambda metadata: add_version(metadata, **{"default-namespace": ["elsewhere"]}),
    )
    with pytest.raises(CatalogUnavailable, match=r"none is proven to be. Run `ALTER VIEW `lake`.`ns`.`unproven` SET"):
        both.over_spark.view("ns", "unproven")
    both.sql("ALTER VIEW lake.ns.unproven SET TBLPROPERTIES ('touched' = '1')")
    both.assert_same("ns", "unproven")


def test_files_that_spark_cannot_read_are_an_error(both: Both) -> None:
    both.sql("CREATE VIEW lake.ns.gone AS SELECT 1 AS x")
    before = both.over_spark.view("ns", "gone")
    assert before is not None
    shutil.rmtree(both.warehouse / "ns" / "gone")
    with pytest.raises(CatalogUnavailable, match="Cannot read the catalog `lake`: "):
        both.over_spark.view("ns", "gone")
