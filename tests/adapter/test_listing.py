"""Which entries of a schema are shown, and which storage table belongs to which view."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyiceberg.schema import Schema

from dbt.adapters.icebergmv.listing import (
    list_relations,
    listed_relation,
    names_of_tables_to_open,
    relations_in_spark,
    rendered_storage_table,
    view_properties,
)
from dbt.adapters.icebergmv.maintenance.catalog.over_spark.reader import SparkReader
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, TableNotUnderstood


class FakeReader:
    """A catalog with tables and views given by name and properties."""

    name = "lake"
    has_views = True
    shows_all_views = True

    def __init__(self, tables: dict[str, dict[str, str]], views: dict[str, dict[str, str]]) -> None:
        self.tables, self.views = tables, views
        self.opened: list[str] = []
        self.not_understood: set[str] = set()
        self.lost: set[str] = set()

    def namespaces(self) -> list[str]:
        return ["a"]

    def entries(self, namespace: str) -> list[CatalogEntry]:
        tables = [CatalogEntry(name, "table") for name in self.tables]
        return tables + [CatalogEntry(name, "view") for name in self.views]

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        if name in self.lost:
            raise CatalogUnavailable("its metadata file is gone")
        if name not in self.views:
            return None
        return ViewInfo(namespace, name, "uuid", "select 1", (), self.views[name], None)

    def table(self, namespace: str, name: str) -> Any:
        self.opened.append(name)
        if name in self.not_understood:
            raise TableNotUnderstood("it has a variant")
        if name not in self.tables:
            return None
        metadata = SimpleNamespace(current_snapshot_id=None, table_uuid="uuid")
        return SimpleNamespace(properties=self.tables[name], metadata=metadata, schema=Schema)


def materialized(storage: str) -> dict[str, str]:
    return {"icebergmv.format-version": "1", "icebergmv.storage-table": storage}


def test_storage_tables_are_hidden() -> None:
    reader = FakeReader(
        tables={
            "orders": {},
            "my_storage": {},
            "__mv_storage__elsewhere": {"icebergmv.storage-of": "lake.other.mv"},
            "__mv_storage__users_own": {},
        },
        views={"mv": materialized("`lake`.`a`.`my_storage`"), "plain": {}},
    )
    shown = {relation.name: relation.kind for relation in list_relations(reader, "a")}
    assert shown == {
        "orders": "table",
        "__mv_storage__users_own": "table",
        "mv": "materialized_view",
        "plain": "view",
    }
    assert "orders" not in reader.opened


def test_tables_that_pyiceberg_does_not_understand_are_listed() -> None:
    """One that is named as storage is may be that."""
    reader = FakeReader(tables={"model": {}, "source": {}, "__mv_storage__v": {}}, views={})
    reader.not_understood = set(reader.tables)
    shown = {relation.name: relation.kind for relation in list_relations(reader, "a", {"model"})}
    assert shown == {"model": "table", "source": "table"}


def test_a_view_that_cannot_be_read_is_listed_as_a_plain_one() -> None:
    """It is in the way of nobody; whoever needs what is in it gets the error."""
    storage = {"icebergmv.storage-of": "`lake`.`a`.`lost_mv`"}
    views = {"mv": materialized("lake.a.s"), "lost": {}, "lost_mv": materialized("lake.a.__mv_storage__lost_mv")}
    reader = FakeReader(tables={"t": {}, "s": {}, "__mv_storage__lost_mv": storage}, views=views)
    reader.lost = {"lost", "lost_mv"}
    found = {r.name: (r.kind, r.view is not None) for r in list_relations(reader, "a")}
    assert found == {
        "t": ("table", False),
        "mv": ("materialized_view", True),
        "lost": ("view", False),
        "lost_mv": ("view", False),
    }
    with pytest.raises(CatalogUnavailable, match="its metadata file is gone"):
        listed_relation(reader, "a", "lost")


def test_storage_table_of_a_view() -> None:
    reader = FakeReader(
        tables={"s": {"icebergmv.storage-of": "`lake`.`a`.`mv`"}, "old": {}, "theirs": {"icebergmv.storage-of": "x.y"}},
        views={
            "mv": materialized("lake.a.s"),
            "old_mv": materialized("a.old"),
            "thief": materialized("lake.a.theirs"),
            "elsewhere": materialized("other.a.s"),
            "gone": materialized("lake.a.gone"),
            "broken": materialized("lake..s"),
            "plain": {},
        },
    )
    found = {name: rendered_storage_table(reader, "a", name) for name in [*reader.views, "absent"]}
    assert found == {
        "mv": "`lake`.`a`.`s`",
        "old_mv": None,
        "thief": None,
        "elsewhere": None,
        "gone": None,
        "broken": None,
        "plain": None,
        "absent": None,
    }


def test_tables_that_are_materialized_views() -> None:
    """Only tables that a model may make one are opened."""
    reader = FakeReader(
        tables={
            "mv": {"icebergmv.storage-of": "`lake`.`a`.`mv`"},
            "moved": {"icebergmv.storage-of": "`lake`.`a`.`mv`"},
            "plain": {},
            "source": {},
            "__mv_storage__mv__next": {"icebergmv.storage-of": "`lake`.`a`.`mv`"},
        },
        views={},
    )
    shown = {r.name: r.kind for r in list_relations(reader, "a", {"mv", "moved", "plain"})}
    assert shown == {"mv": "materialized_view", "moved": "table", "plain": "table", "source": "table"}
    assert "source" not in reader.opened
    found = {name: rendered_storage_table(reader, "a", name) for name in reader.tables}
    assert found == {**dict.fromkeys(reader.tables), "mv": "`lake`.`a`.`mv`"}


def test_the_properties_that_make_a_table_a_materialized_view() -> None:
    owned = {"icebergmv.storage-of": "`lake`.`a`.`mv`", "icebergmv.state": "{}", "mine": "1"}
    reader = FakeReader(tables={"mv": owned, "moved": owned, "plain": {"icebergmv.seed-hash": "x"}}, views={})
    assert view_properties(reader, "a", "mv") == ["icebergmv.state", "icebergmv.storage-of"]
    assert view_properties(reader, "a", "moved") == view_properties(reader, "a", "plain") == []
    assert view_properties(reader, "a", "absent") == []
    reader.not_understood = {"mv"}
    assert view_properties(reader, "a", "mv") == []


def test_of_other_catalogs_names_are_read_alone() -> None:
    answers: dict[str, list[tuple[str, ...]]] = {
        "SET `spark.sql.catalog.other`": [("spark.sql.catalog.other", "org.example.Catalog")],
        "SET `spark.sql.catalog.absent`": [("spark.sql.catalog.absent", "<undefined>")],
        "SHOW TABLES IN `other`.`a`": [("a", "t", "false"), ("a", "__mv_storage__mv", "false")],
        "SHOW VIEWS IN `other`.`a`": [("a", "v", "false"), ("", "of_the_session", "true")],
        "SHOW TABLES IN `spark_catalog`.`a`": [("a", "t", "false"), ("a", "v", "false")],
        "SHOW VIEWS IN `spark_catalog`.`a`": [("a", "v", "false")],
    }

    def listed(catalog: str) -> dict[str, str] | None:
        found = relations_in_spark(SparkReader(catalog, answers.__getitem__), "a")
        return None if found is None else {relation.name: relation.kind for relation in found}

    assert listed("other") == {"t": "table", "__mv_storage__mv": "table", "v": "view"}
    assert listed("spark_catalog") == {"t": "table", "v": "view"}
    assert listed("absent") is None


def test_models_whose_tables_are_opened() -> None:
    def node(identifier: str, materialized: str) -> Any:
        return SimpleNamespace(identifier=identifier, config=SimpleNamespace(materialized=materialized))

    nodes = [node("MV", "materialized_view"), node("inc", "incremental"), node("t", "table")]
    assert names_of_tables_to_open([*nodes, SimpleNamespace(config=None)]) == {"MV", "mv", "inc"}
