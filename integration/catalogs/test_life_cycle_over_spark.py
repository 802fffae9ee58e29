"""The whole life of materialized views where dbt reads the catalog through Spark alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings, catalog_settings
from integration.support.catalogs import CATALOGS, METASTORE_WITHOUT_LOCKS
from integration.support.life_cycle import Project, life_cycle
from integration.support.living import live
from integration.support.servers.processes import HOST
from integration.support.servers.spark import SERVERS, connect_server, thrift_server
from integration.support.spark_settings import SPARK

Place = Callable[[Path, CatalogSettings], AbstractContextManager[dict[str, Any]]]


@contextmanager
def session(folder: Path, catalog: CatalogSettings) -> Iterator[dict[str, Any]]:
    """The catalog stands in Spark's own words, of which PyIceberg is told nothing."""
    assert catalog.folder is not None
    Path(catalog.folder).mkdir()
    yield {"method": "session", "catalog_reader": "spark", "server_side_parameters": {**SPARK, **catalog.spark_conf()}}


@contextmanager
def connect(folder: Path, catalog: CatalogSettings) -> Iterator[dict[str, Any]]:
    with connect_server(folder / "server", catalog) as server:
        yield {"method": "connect", "host": HOST, "port": server.port}


@contextmanager
def thrift(folder: Path, catalog: CatalogSettings) -> Iterator[dict[str, Any]]:
    with thrift_server(folder / "server", catalog) as server:
        yield {"method": "thrift", "host": HOST, "port": server.port, "user": "dbt"}


PLACES: dict[str, Place] = {"session": session, "connect": connect, "thrift": thrift}


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES)
def test_life_without_a_warehouse(place: str, tmp_path: Path) -> None:
    catalog = catalog_settings("lake", str(tmp_path / "its warehouse"), {}, "/")
    with PLACES[place](tmp_path, catalog) as connection:
        target = {"type": "icebergmv", "catalog": "lake", "schema": "mv", "threads": 4, **connection}
        live(target, tmp_path / "project")
    assert_read_through_spark(tmp_path / "project")


@pytest.mark.long
@pytest.mark.parametrize(("place", "catalog"), [("connect", "rest"), ("thrift", "hive")])
def test_life_in_a_catalog_that_the_profile_says_nothing_of(place: str, catalog: str, tmp_path: Path) -> None:
    with CATALOGS[catalog](tmp_path / "catalog") as properties:
        settings = catalog_settings("lake", None, properties, str(tmp_path))
        with SERVERS[place](tmp_path / "server", settings, METASTORE_WITHOUT_LOCKS) as server:
            address = {"method": place, "host": HOST, "port": server.port}
            live(
                {"type": "icebergmv", "catalog": "lake", "schema": "mv", "threads": 4, **address}, tmp_path / "project"
            )
    assert_read_through_spark(tmp_path / "project")


def assert_read_through_spark(project: Path) -> None:
    log = (project / "logs" / "dbt.log").read_text()
    assert "catalog_reader: spark (" in log
    assert "catalog_reader: direct" not in log


def test_a_share_of_it_in_this_process(tmp_path: Path, warehouse: Path) -> None:
    target = {
        "type": "icebergmv",
        "method": "session",
        "catalog": "lake",
        "schema": "over_spark",
        "warehouse": str(warehouse),
        "catalog_reader": "spark",
        "threads": 4,
        "server_side_parameters": SPARK,
    }
    life_cycle(Project(tmp_path / "project", target), ["begin", "first_build", "new_rows", "dropped_schema"])
