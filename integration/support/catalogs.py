"""Catalogs other than the default, each with a server of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from integration.support.servers.hive import hive_metastore
from integration.support.servers.postgres import postgres
from integration.support.servers.rest import rest_catalog

Catalog = Callable[[Path], AbstractContextManager[dict[str, str]]]
"""Runs the catalog in a folder and gives the `catalog_properties` of a profile."""

METASTORE_WITHOUT_LOCKS = {"spark.hadoop.iceberg.engine.hive.lock-enabled": "false"}
"""For Hive: the metastore compares and swaps, so Iceberg needs no locks."""


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


CATALOGS: dict[str, Catalog] = {"rest": rest, "hive": hive, "postgresql": postgresql}
