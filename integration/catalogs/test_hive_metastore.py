"""The reader for Hive on a real metastore: what is absent, what is not Iceberg's, several threads."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hive_metastore.ThriftHiveMetastore import Client
from hive_metastore.ttypes import Database, SerDeInfo, StorageDescriptor, Table
from pyiceberg.catalog.hive import HiveCatalog
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport

from dbt.adapters.icebergmv.maintenance.catalog.opening import open_catalog
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, CatalogReader
from integration.support.servers.hive import hive_metastore
from tests.support.lake_views import SCHEMA, view_metadata

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CatalogReader]:
    """A metastore with a table, a view and an entry of Hive's own in the namespace `ns`."""
    folder = tmp_path_factory.mktemp("hive")
    with hive_metastore(folder / "server") as uri:
        host, _, port = uri.removeprefix("thrift://").partition(":")
        transport = TBufferedTransport(TSocket(host, int(port)))
        transport.open()
        client = Client(TBinaryProtocol(transport))
        for name in ("ns", "empty"):
            client.create_database(Database(name=name, locationUri=(folder / name).as_uri()))
        client.create_table(_entry(folder, "plain", {}))
        file = folder / "view.gz.metadata.json"
        file.write_bytes(gzip.compress(view_metadata(["select 1"]).model_dump_json(by_alias=True).encode()))
        parameters = {"table_type": "ICEBERG-VIEW", "metadata_location": file.as_uri()}
        client.create_table(_entry(folder, "v", parameters))
        transport.close()
        HiveCatalog("lake", uri=uri).create_table(("ns", "t"), SCHEMA, location=(folder / "t").as_uri())
        yield open_catalog("lake", {"type": "hive", "uri": uri})


def _entry(folder: Path, name: str, parameters: dict[str, str]) -> Table:
    return Table(
        dbName="ns",
        tableName=name,
        sd=StorageDescriptor(
            cols=[],
            location=(folder / name).as_uri(),
            inputFormat="org.apache.hadoop.mapred.FileInputFormat",
            outputFormat="org.apache.hadoop.mapred.FileOutputFormat",
            serdeInfo=SerDeInfo(serializationLib="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"),
        ),
        tableType="EXTERNAL_TABLE",
        parameters={"EXTERNAL": "TRUE", **parameters},
    )


def test_what_is_there(reader: CatalogReader) -> None:
    assert reader.namespaces() == ["default", "empty", "ns"]
    assert set(reader.entries("ns")) == {CatalogEntry("t", "table"), CatalogEntry("v", "view")}
    table, view = reader.table("ns", "t"), reader.view("ns", "v")
    assert table is not None
    assert table.schema().column_names == ["id"]
    assert view is not None
    assert view.sql == "select 1"


def test_what_is_absent(reader: CatalogReader) -> None:
    assert reader.entries("empty") == reader.entries("nowhere") == []
    for namespace, name in (("ns", "absent"), ("nowhere", "t"), ("ns", "plain")):
        assert reader.table(namespace, name) is None
        assert reader.view(namespace, name) is None
    assert reader.table("ns", "v") is None
    assert reader.view("ns", "t") is None


def test_threads_share_the_reader(reader: CatalogReader) -> None:
    def looks(_: int) -> tuple[object, ...]:
        table = reader.table("ns", "t")
        return reader.namespaces(), reader.entries("ns"), reader.view("ns", "v"), table and table.metadata_location

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(looks, range(64)))
    assert all(answer == found[0] for answer in found)
