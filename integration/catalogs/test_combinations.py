"""The whole life of materialized views: ways to Spark, catalogs, readers and layouts, in many combinations.

The profiles of the docs (test_life_cycle.py here and in connections/) are the others: layout view, read directly.
CONTRIBUTING.md has the table of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.icebergmv.catalog_properties import catalog_settings, settings_for_spark
from integration.support.catalogs import CATALOGS, METASTORE_WITHOUT_LOCKS, Catalog
from integration.support.living import live
from integration.support.servers.processes import HOST
from integration.support.servers.spark import SERVERS, cluster
from integration.support.spark_settings import SPARK

COMBINATIONS = (
    "session sqlite direct table",
    "session hive direct table",
    "session rest spark table",
    "session hadoop spark table",
    "cluster rest direct table",
    "cluster postgresql spark table",
    "cluster hive spark view",
    "cluster hadoop spark table",
    "connect postgresql direct table",
    "connect hive direct view",
    "connect sqlite spark view",
    "connect rest spark view",
    "connect hadoop spark table",
    "thrift rest direct table",
    "thrift postgresql direct view",
    "thrift hive spark view",
    "thrift sqlite spark table",
    "thrift hadoop spark table",
)
Connection = Callable[[Path, Mapping[str, str]], AbstractContextManager[dict[str, Any]]]


@contextmanager
def sqlite(folder: Path) -> Iterator[dict[str, str]]:
    folder.mkdir()
    yield {"type": "jdbc", "uri": f"jdbc:sqlite:{folder}/catalog.db", "warehouse": str(folder / "warehouse")}


@contextmanager
def hadoop(folder: Path) -> Iterator[dict[str, str]]:
    """A catalog without views."""
    yield {"type": "hadoop", "warehouse": str(folder / "warehouse")}


@contextmanager
def session(folder: Path, catalog: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    yield {"method": "session", "server_side_parameters": {**SPARK, **METASTORE_WITHOUT_LOCKS}}


@contextmanager
def standalone_cluster(folder: Path, catalog: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    with cluster(folder, workers=1) as master, session(folder, catalog) as inner:
        settings = {"spark.master": master, "spark.driver.host": HOST, "spark.executor.memory": "1g"}
        yield {**inner, "server_side_parameters": {**inner["server_side_parameters"], **settings}}


@contextmanager
def server(method: str, folder: Path, catalog: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    only_spark = catalog["type"] == "hadoop"
    settings = settings_for_spark("lake", catalog, "/") if only_spark else catalog_settings("lake", None, catalog, "/")
    with SERVERS[method](folder, settings, METASTORE_WITHOUT_LOCKS) as started:
        yield {"method": method, "host": HOST, "port": started.port}


CONNECTIONS: dict[str, Connection] = {
    "session": session,
    "cluster": standalone_cluster,
    "connect": lambda folder, catalog: server("connect", folder, catalog),
    "thrift": lambda folder, catalog: server("thrift", folder, catalog),
}
ALL_CATALOGS: dict[str, Catalog] = {"sqlite": sqlite, "hadoop": hadoop, **CATALOGS}


@pytest.mark.long
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_life_cycle(combination: str, tmp_path: Path) -> None:
    connection, catalog, reader, layout = combination.split()
    with (
        ALL_CATALOGS[catalog](tmp_path / "catalog") as properties,
        CONNECTIONS[connection](tmp_path / "spark", properties) as reached,
    ):
        target = {"type": "icebergmv", "catalog": "lake", "schema": "analytics", "threads": 4, **reached}
        # A server knows its catalog; a Spark that dbt starts has it from the profile.
        if reader == "direct" or reached["method"] == "session":
            target["catalog_properties"] = properties
        # PyIceberg opens no Hadoop catalog, so that Spark reads it in any case.
        if reader == "spark" and reached["method"] == "session" and catalog != "hadoop":
            target["catalog_reader"] = "spark"
        live(target, tmp_path / "project", layout="only tables" if catalog == "hadoop" else layout)
    log = (tmp_path / "project" / "logs" / "dbt.log").read_text()
    other = {"direct": "spark", "spark": "direct"}[reader]
    assert f"catalog_reader: {reader} (" in log
    assert f"catalog_reader: {other}" not in log
