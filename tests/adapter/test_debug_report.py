"""What `dbt debug` says of a catalog that has no views, or does not say that it has them."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings, catalog_settings
from dbt.adapters.icebergmv.debug import catalog_report
from dbt.adapters.icebergmv.reader_choice import ChosenReader


class EmptyReader:
    """A catalog with an empty schema."""

    name = "lake"

    def __init__(self, has_views: bool) -> None:
        self.has_views = has_views

    def namespaces(self) -> list[str]:
        return ["ns"]

    def entries(self, namespace: str) -> list[object]:
        return []


REST = catalog_settings("lake", None, {"type": "rest", "uri": "https://catalog.example.com"}, "/")
OLD = catalog_settings("lake", "/w", {"type": "jdbc", "uri": "jdbc:sqlite:/c.db", "jdbc.schema-version": "V0"}, "/")


HIVE = catalog_settings("lake", "/w", {"type": "hive", "uri": "thrift://h:9083"}, "/")


def report(settings: CatalogSettings, has_views: bool) -> list[str]:
    reader: object = EmptyReader(has_views)
    return list(catalog_report(ChosenReader(reader, "direct"), "ns", settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "has_views", "said"),
    [
        (REST, False, "The REST server of the catalog lake does not announce views (`endpoints` of its /v1/config): "),
        (HIVE, False, "The catalog lake has no views: materialized views are tables (layout: table)"),
    ],
)
def test_a_catalog_without_views(settings: CatalogSettings, has_views: bool, said: str) -> None:
    *common, last = report(settings, has_views)
    assert last.startswith(said)
    assert "layout: table" in last
    assert common == ["catalog_reader: direct", "schemas: 1", "in the schema ns: 0 tables, 0 views"]


def test_a_catalog_from_before_there_were_views() -> None:
    """A run refuses it, too, with the same words."""
    why = "the catalog lake has no views: its jdbc.schema-version is V0. Upgrade it to V1."
    assert report(OLD, has_views=True)[-1] == f"Cannot make materialized views: {why}"


def test_a_catalog_with_views() -> None:
    assert len(report(REST, has_views=True)) == 3
