"""Every reader keeps the contract of all readers.

A new reader is added to OPENERS: a function that opens it over the SQL catalog whose SQLite file is given. The reader
over Spark is held to the same contract in integration/catalogs/test_spark_reader.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.opening import READERS, open_catalog
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, InvalidCatalog, TableNotUnderstood
from tests.support.hive_metastore import HiveMetastore
from tests.support.lake_views import SCHEMA, add_view, view_metadata
from tests.support.reader_contract import Lake, Opener, ReaderContract, filled_lake
from tests.support.rest_catalog import Below, RestServer
from tests.support.shares import one_of


@contextmanager
def jdbc(database: Path) -> Iterator[CatalogReader]:
    yield open_catalog("lake", {"type": "sql", "uri": f"sqlite:///{database}"})


@contextmanager
def rest(database: Path, refuses_dots: bool = False) -> Iterator[CatalogReader]:
    server = RestServer(database, refuses_dots=refuses_dots)
    yield open_catalog("lake", {"type": "rest", "uri": server.uri})
    server.close()


@contextmanager
def hive(database: Path) -> Iterator[CatalogReader]:
    server = HiveMetastore(database)
    yield open_catalog("lake", {"type": "hive", "uri": server.uri})
    server.close()


OPENERS: dict[str, Opener] = {"hive": hive, "jdbc": jdbc, "rest": rest}


class TestReaders(ReaderContract):
    @pytest.fixture(params=sorted(OPENERS))
    def lake(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lake]:
        with filled_lake(tmp_path, OPENERS[request.param]) as made:
            assert getattr(made.reader, "catalog_type", None) == request.param, "another reader was opened"
            yield made

    @pytest.mark.parametrize("unknown", ["variant", "struct<a:variant>"])
    def test_a_view_of_a_type_that_pyiceberg_does_not_know(self, lake: Lake, unknown: str) -> None:
        # PyIceberg reads what a server sends, and gives away nothing of it then.
        is_rest = getattr(lake.reader, "catalog_type", None) == "rest"
        refused = pytest.raises(TableNotUnderstood, match=r"^Cannot read the view lake\.ns\.`plain view`: PyIceberg")
        with refused if is_rest else nullcontext():
            super().test_a_view_of_a_type_that_pyiceberg_does_not_know(lake, unknown)


def test_every_reader_is_tested() -> None:
    assert sorted(OPENERS) == sorted(reader.catalog_type for reader in READERS)


def test_an_unreachable_catalog_cannot_be_opened(tmp_path: Path) -> None:
    for properties in (
        {"type": "sql", "uri": f"sqlite:///{tmp_path}/no/folder/c.db"},
        {"type": "rest", "uri": "http://127.0.0.1:1"},
    ):
        with pytest.raises(CatalogUnavailable, match="Cannot open the catalog `lake`: "):
            open_catalog("lake", properties)


def test_a_catalog_without_a_reader_is_refused() -> None:
    with pytest.raises(InvalidCatalog, match=r"of type NoopCatalog, .*views.* of type hive, jdbc or rest"):
        open_catalog("lake", {"py-catalog-impl": "pyiceberg.catalog.noop.NoopCatalog"})


NESTED = ["empty", "n_", "n_.inner", "ns", "ns.inner", "ns.inner.most"]


@pytest.mark.parametrize("opened", one_of(2, [jdbc, rest, partial(rest, refuses_dots=True)]))
def test_a_namespace_with_levels(opened: Opener, tmp_path: Path) -> None:
    with filled_lake(tmp_path, opened) as lake:
        for name in (("ns", "inner"), ("ns", "inner", "most"), ("n_",), ("n_", "inner")):
            lake.catalog.create_namespace(name)
        lake.catalog.create_table(("ns", "inner", "t"), SCHEMA, location=(tmp_path / "inner").as_uri())
        add_view(lake.catalog, ("ns.inner", "v"), view_metadata(["select 1 as id"]), tmp_path)
        assert lake.reader.namespaces() == NESTED
        assert {(e.name, e.kind) for e in lake.reader.entries("ns.inner")} == {("t", "table"), ("v", "view")}
        assert lake.reader.table("ns.inner", "t") is not None
        found = lake.reader.view("ns.inner", "v")
        assert found is not None
        assert (found.namespace, found.name) == ("ns.inner", "v")
        assert lake.reader.entries("ns.outer") == []
        assert lake.reader.table("ns.outer", "t") is None
        assert lake.reader.view("ns.inner", "t") is None


@pytest.mark.parametrize("below", [Below.IGNORED, Below.REFUSED, Below.FORBIDDEN])
def test_a_server_without_levels(below: Below, tmp_path: Path) -> None:
    server = RestServer(tmp_path / "catalog.db")
    server.below = below
    with filled_lake(
        tmp_path, lambda _: nullcontext(open_catalog("lake", {"type": "rest", "uri": server.uri}))
    ) as lake:
        assert lake.reader.namespaces() == ["empty", "ns"]
    server.close()


def test_a_server_that_fails_at_a_level_is_an_error(tmp_path: Path) -> None:
    server = RestServer(tmp_path / "catalog.db")
    server.below = Below.BROKEN
    with (
        filled_lake(tmp_path, lambda _: nullcontext(open_catalog("lake", {"type": "rest", "uri": server.uri}))) as lake,
        pytest.raises(CatalogUnavailable, match="Cannot read the catalog `lake`: "),
    ):
        lake.reader.namespaces()
    server.close()
