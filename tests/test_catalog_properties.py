"""The two spellings of a catalog."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt.adapters.icebergmv.catalog_properties import InvalidCatalog, absolute_path, catalog_settings


def test_default_is_sqlite_in_the_warehouse() -> None:
    settings = catalog_settings("lake", "wh", {}, "/project")
    assert settings.spark_conf() == {
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "jdbc",
        "spark.sql.catalog.lake.uri": "jdbc:sqlite:/project/wh/catalog.db?journal_mode=WAL&busy_timeout=10000",
        "spark.sql.catalog.lake.warehouse": "/project/wh",
        "spark.sql.catalog.lake.jdbc.schema-version": "V1",
    }
    assert settings.pyiceberg == {
        "type": "sql",
        "uri": "sqlite:////project/wh/catalog.db",
        "warehouse": "/project/wh",
    }
    assert settings.supports_views
    assert settings.needs_sqlite_driver
    assert settings.folder == "/project/wh"


def test_percent_sign_in_the_path_is_encoded_for_sqlalchemy() -> None:
    settings = catalog_settings("lake", "/a b/50%/é'`", {}, "/project")
    assert settings.pyiceberg["uri"] == "sqlite:////a b/50%25/é'`/catalog.db"
    assert "/a b/50%/é'`/catalog.db?" in settings.spark["uri"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("wh", "/project/wh"),
        ("./a/../wh", "/project/wh"),
        ("/abs/wh", "/abs/wh"),
        ("s3://bucket/wh", "s3://bucket/wh"),
        ("file:/abs/wh", "file:/abs/wh"),
        ("~/wh", str(Path.home() / "wh")),
        ("a:b", "/project/a:b"),
    ],
)
def test_paths_become_absolute(given: str, expected: str) -> None:
    assert absolute_path(given, "/project") == expected


def test_relative_sqlite_address_becomes_absolute() -> None:
    settings = catalog_settings(
        "lake", None, {"type": "jdbc", "uri": "jdbc:sqlite:c.db", "warehouse": "wh"}, "/project"
    )
    assert settings.spark["uri"] == "jdbc:sqlite:/project/c.db?journal_mode=WAL&busy_timeout=10000"
    assert settings.pyiceberg["uri"] == "sqlite:////project/c.db"
    assert settings.needs_sqlite_driver


def test_postgres_login_moves_into_the_address() -> None:
    properties = {
        "type": "jdbc",
        "uri": "jdbc:postgresql://host:5433/db?sslmode=require&ApplicationName=x",
        "warehouse": "s3://b/wh",
        "jdbc.user": "me@home",
        "jdbc.password": "p:/w@d",
    }
    settings = catalog_settings("lake", None, properties, "/project")
    assert settings.pyiceberg == {
        "type": "sql",
        "uri": "postgresql+psycopg2://me%40home:p%3A%2Fw%40d@host:5433/db?sslmode=require",
        "warehouse": "s3://b/wh",
    }
    assert settings.spark["jdbc.password"] == "p:/w@d"
    assert not settings.needs_sqlite_driver


def test_rest_passes_unchanged_and_takes_the_warehouse_beside_it() -> None:
    properties = {"type": "rest", "uri": "http://host:8181", "credential": "a:b", "io-impl": "x.Y"}
    settings = catalog_settings("lake", "prod", properties, "/project")
    assert settings.spark == {**properties, "warehouse": "prod"}
    assert settings.pyiceberg == {"type": "rest", "uri": "http://host:8181", "credential": "a:b", "warehouse": "prod"}


@pytest.mark.parametrize(
    ("properties", "views"),
    [
        ({"type": "rest"}, True),
        ({"type": "hive"}, True),
        ({"type": "glue"}, False),
        ({"type": "hadoop", "warehouse": "wh"}, False),
        ({"catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog"}, False),
        ({"catalog-impl": "org.apache.iceberg.nessie.NessieCatalog"}, True),
        ({"type": "jdbc", "uri": "jdbc:postgresql://h/d", "jdbc.schema-version": "V0"}, False),
    ],
)
def test_which_catalogs_have_views(properties: dict[str, str], views: bool) -> None:
    assert catalog_settings("lake", None, properties, "/project").supports_views is views


@pytest.mark.parametrize(
    ("warehouse", "properties", "message"),
    [
        (None, {}, "neither `warehouse` nor `catalog_properties`"),
        ("a?b", {}, "has a `[?]` in its name"),
        (None, {"uri": "http://host"}, "neither `type` nor `catalog-impl`"),
        (None, {"type": "jdbc", "uri": "jdbc:mysql://h/d"}, "only SQLite and PostgreSQL are known"),
        (None, {"type": "jdbc", "uri": "jdbc:sqlite::memory:"}, "Cannot share a SQLite catalog"),
    ],
)
def test_what_cannot_be_opened_says_why(warehouse: str | None, properties: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidCatalog, match=message):
        catalog_settings("lake", warehouse, properties, "/project")
