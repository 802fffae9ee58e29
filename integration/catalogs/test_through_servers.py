"""The whole life of materialized views behind a Spark server, in catalogs other than the default."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings, catalog_settings
from integration.support.living import live
from integration.support.servers.hive import hive_metastore
from integration.support.servers.postgres import postgres
from integration.support.servers.rest import rest_catalog
from integration.support.spark_servers import HOST, connect_server, thrift_server

Catalog = Callable[[Path], AbstractContextManager[dict[str, str]]]
Server = Callable[[Path, CatalogSettings, Mapping[str, str]], AbstractContextManager[int]]
SERVERS: dict[str, Server] = {"connect": connect_server, "thrift": thrift_server}
# A catalog on Hive: the metastore compares and swaps, so no locks are needed.
CONF = {"spark.hadoop.iceberg.engine.hive.lock-enabled": "false"}


@contextmanager
def rest(folder: Path) -> Iterator[dict[str, str]]:
    with rest_catalog(folder) as uri:
        yield {"type": "rest", "uri": uri}


@contextmanager
def hive(folder: Path) -> Iterator[dict[str, str]]:
    with hive_metastore(folder) as uri:
        yield {"type": "hive", "uri": uri, "warehouse": str(folder / "warehouse")}


@contextmanager
def postgresql(folder: Path) -> Iterator[dict[str, str]]:
    with postgres() as database:
        yield {
            "type": "jdbc",
            "uri": f"jdbc:postgresql://{database.host}:{database.port}/{database.name}",
            "jdbc.user": database.user,
            "jdbc.password": database.password,
            "warehouse": str(folder / "warehouse"),
        }


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "catalog"),
    [("connect", rest), ("connect", hive), ("thrift", rest), ("thrift", hive), ("thrift", postgresql)],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_life_cycle(method: str, catalog: Catalog, tmp_path: Path) -> None:
    with catalog(tmp_path / "catalog") as properties:
        settings = catalog_settings("lake", None, properties, str(tmp_path))
        with SERVERS[method](tmp_path / "server", settings, CONF) as port:
            target = {"type": "icebergmv", "method": method, "host": HOST, "port": port, "threads": 4}
            place = {"catalog": "lake", "schema": "analytics", "catalog_properties": properties}
            live({**target, **place}, tmp_path / "project")
