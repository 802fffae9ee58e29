"""Which entries of a schema are shown, and which storage table belongs to which view."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dbt.adapters.icebergmv.listing import list_relations, rendered_storage_table
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo


class FakeReader:
    """A catalog with tables and views given by name and properties."""

    name = "lake"
    has_views = True

    def __init__(self, tables: dict[str, dict[str, str]], views: dict[str, dict[str, str]]) -> None:
        self.tables, self.views = tables, views
        self.opened: list[str] = []

    def namespaces(self) -> list[str]:
        return ["a"]

    def entries(self, namespace: str) -> list[CatalogEntry]:
        tables = [CatalogEntry(name, "table") for name in self.tables]
        return tables + [CatalogEntry(name, "view") for name in self.views]

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        if name not in self.views:
            return None
        return ViewInfo(namespace, name, "uuid", "select 1", (), self.views[name], None, ())

    def table(self, namespace: str, name: str) -> Any:
        self.opened.append(name)
        return SimpleNamespace(properties=self.tables[name]) if name in self.tables else None


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
        "old_mv": "`lake`.`a`.`old`",
        "thief": None,
        "elsewhere": None,
        "gone": None,
        "broken": None,
        "plain": None,
        "absent": None,
    }
