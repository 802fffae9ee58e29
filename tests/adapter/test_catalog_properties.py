"""The two spellings of a catalog."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import make_url

from dbt.adapters.icebergmv.catalog_properties import absolute_path, catalog_settings
from dbt.adapters.icebergmv.maintenance.errors import InvalidCatalog

EVERY_SNAPSHOT = {"snapshot-loading-mode": "all"}


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
    assert settings.drivers == ("sqlite",)
    assert settings.folder == "/project/wh"


def test_percent_sign_in_the_path_reaches_the_database() -> None:
    settings = catalog_settings("lake", "/a b/50%/é'`", {}, "/project")
    # Versions of SQLAlchemy differ in whether the URL encodes it; both read their own.
    assert make_url(settings.pyiceberg["uri"]).database == "/a b/50%/é'`/catalog.db"
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
    assert settings.drivers == ("sqlite",)


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
    assert settings.drivers == ("postgresql", "s3")


@pytest.mark.parametrize(
    ("address", "user", "password", "host", "database"),
    [
        ("//h/d?user=a%40b&password=p%3Dw%2B1", "a@b", "p=w+1", "h", "d"),
        ("//h/my%20db", None, None, "h", "my db"),
        ("//[::1]:1/d", None, None, "::1", "d"),
        ("d", None, None, "localhost", "d"),
        ("//h?user=me", "me", None, "h", "me"),
    ],
)
def test_postgres_addresses(
    address: str, user: str | None, password: str | None, host: str | None, database: str
) -> None:
    settings = catalog_settings("lake", None, {"type": "jdbc", "uri": f"jdbc:postgresql:{address}"}, "/project")
    url = make_url(settings.pyiceberg["uri"])
    assert (url.username, url.password, url.host, url.database) == (user, password, host, database)
    # Left out, Python's driver would ask the environment, and Java's does not.
    assert url.port == (1 if ":1/" in address else 5432)


def test_rest_passes_unchanged_and_takes_the_warehouse_beside_it() -> None:
    properties = {"type": "rest", "uri": "http://host:8181", "credential": "a:b", "io-impl": "x.Y"}
    settings = catalog_settings("lake", "prod", properties, "/project")
    assert settings.spark == {**properties, "warehouse": "prod"}
    own = {"type": "rest", "uri": "http://host:8181", "credential": "a:b", "warehouse": "prod"}
    assert settings.pyiceberg == {**own, **EVERY_SNAPSHOT}


@pytest.mark.parametrize(
    ("properties", "views"),
    [
        ({"type": "rest"}, True),
        ({"type": "jdbc", "uri": "jdbc:sqlite:c.db"}, True),
        ({"catalog-impl": "org.apache.iceberg.rest.RESTCatalog"}, True),
        ({"catalog-impl": "com.example.Catalog"}, True),
        ({"type": "jdbc", "uri": "jdbc:postgresql://h/d", "jdbc.schema-version": "V0"}, False),
    ],
)
def test_which_catalogs_have_views(properties: dict[str, str], views: bool) -> None:
    assert catalog_settings("lake", None, properties, "/project").supports_views is views


def test_hive_goes_to_both_with_its_folder_absolute() -> None:
    settings = catalog_settings("lake", "wh", {"type": "Hive", "uri": "thrift://h:9083"}, "/project")
    assert settings.spark == {"type": "Hive", "uri": "thrift://h:9083", "warehouse": "/project/wh"}
    assert settings.pyiceberg == {"type": "hive", "uri": "thrift://h:9083", "warehouse": "/project/wh"}
    assert settings.drivers == ()


def test_login_of_a_rest_catalog_goes_to_both() -> None:
    properties = {
        "type": "rest",
        "uri": "https://h/api/catalog",
        "warehouse": "prod",
        "prefix": "p",
        "credential": "id:s3cret!",
        "token": "t0ken!",
        "scope": "PRINCIPAL_ROLE:ALL",
        "oauth2-server-uri": "https://h/tokens",
        "header.X-Iceberg-Access-Delegation": "vended-credentials",
        "rest.sigv4-enabled": "true",
    }
    settings = catalog_settings("lake", None, properties, "/project")
    assert settings.spark == properties
    assert settings.pyiceberg == {**properties, **EVERY_SNAPSHOT}
    # Spark signs requests with what is in the jar for S3.
    assert settings.drivers == ("s3",)


@pytest.mark.parametrize(
    ("properties", "drivers", "file_io"),
    [
        ({"type": "hive", "uri": "thrift://h", "warehouse": "s3://b/wh"}, ("s3",), "ResolvingFileIO"),
        ({"type": "jdbc", "uri": "jdbc:sqlite:c.db", "warehouse": "s3://b"}, ("sqlite", "s3"), "ResolvingFileIO"),
        # Hadoop's own way to S3 needs Hadoop's jars, which people who chose it have.
        ({"type": "hive", "uri": "thrift://h", "warehouse": "s3a://b/wh"}, (), ""),
        ({"type": "rest", "uri": "http://h", "warehouse": "prod", "client.region": "eu-central-1"}, ("s3",), ""),
        ({"type": "rest", "uri": "http://h", "io-impl": "org.apache.iceberg.aws.s3.S3FileIO"}, ("s3",), "S3FileIO"),
        ({"type": "rest", "uri": "http://h", "warehouse": "prod"}, (), ""),
    ],
)
def test_s3_brings_what_spark_needs(properties: dict[str, str], drivers: tuple[str, ...], file_io: str) -> None:
    settings = catalog_settings("lake", None, properties, "/project")
    assert settings.drivers == drivers
    assert settings.spark.get("io-impl", "").rpartition(".")[2] == file_io
    assert "io-impl" not in settings.pyiceberg


def test_names_of_s3_that_differ() -> None:
    properties = {
        "type": "rest",
        "uri": "http://h",
        "s3.endpoint": "http://s3",
        "s3.path-style-access": "true",
        "client.region": "eu-central-1",
        "client.assume-role.arn": "arn:role",
        "client.assume-role.session-name": "dbt",
    }
    settings = catalog_settings("lake", None, properties, "/project")
    assert settings.spark == properties
    assert settings.pyiceberg == {
        "type": "rest",
        "uri": "http://h",
        "s3.endpoint": "http://s3",
        "s3.force-virtual-addressing": "false",
        "client.region": "eu-central-1",
        "client.role-arn": "arn:role",
        "client.role-session-name": "dbt",
        **EVERY_SNAPSHOT,
    }


@pytest.mark.parametrize("catalog", [{"type": "rest"}, {"catalog-impl": "com.example.Catalog"}])
def test_every_snapshot_is_read_though_spark_loads_few_at_first(catalog: dict[str, str]) -> None:
    settings = catalog_settings("lake", None, {**catalog, "snapshot-loading-mode": "refs"}, "/project")
    assert settings.spark["snapshot-loading-mode"] == "refs"
    assert settings.pyiceberg["snapshot-loading-mode"] == "all"


def test_type_is_known_from_the_class() -> None:
    properties = {"catalog-impl": "org.apache.iceberg.rest.RESTCatalog", "uri": "http://host"}
    found = catalog_settings("lake", None, properties, "/").pyiceberg
    assert found == {"type": "rest", "uri": "http://host", **EVERY_SNAPSHOT}
    properties = {"catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog", "uri": "jdbc:sqlite:c.db"}
    assert catalog_settings("lake", None, properties, "/").pyiceberg == {"type": "sql", "uri": "sqlite:////c.db"}


@pytest.mark.parametrize(
    ("properties", "kind"),
    [
        ({"type": "Nessie"}, "Nessie"),
        ({"type": "glue"}, "glue"),
        ({"type": "hadoop", "warehouse": "wh"}, "hadoop"),
        ({"catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog"}, "GlueCatalog"),
        ({"catalog-impl": "org.apache.iceberg.nessie.NessieCatalog"}, "NessieCatalog"),
    ],
)
def test_catalogs_whose_views_cannot_be_read_are_refused(properties: dict[str, str], kind: str) -> None:
    words = f"Cannot open the catalog `lake`: it is of type {kind}, .*views.* Use a catalog of type hive, jdbc or rest"
    with pytest.raises(InvalidCatalog, match=words):
        catalog_settings("lake", None, properties, "/project")


@pytest.mark.parametrize(
    ("warehouse", "properties", "message"),
    [
        (None, {}, "neither `warehouse` nor `catalog_properties`"),
        ("a?b", {}, "has a `[?]` in its name"),
        (None, {"uri": "http://host"}, "neither `type` nor `catalog-impl`"),
        (None, {"type": "jdbc", "uri": "jdbc:mysql://h/d"}, "only SQLite and PostgreSQL are known"),
        (None, {"type": "jdbc", "uri": "jdbc:postgresql://h:1,g:2/d"}, "Give one host and one port"),
        (None, {"type": "jdbc", "uri": "jdbc:sqlite::memory:"}, "Cannot share a SQLite catalog"),
        (None, {"type": "hive", "warehouse": "wh"}, "has no `uri`. Add the address of the metastore"),
    ],
)
def test_what_cannot_be_opened_says_why(warehouse: str | None, properties: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidCatalog, match=message):
        catalog_settings("lake", warehouse, properties, "/project")


def test_an_address_of_another_database_is_not_shown() -> None:
    properties = {"type": "jdbc", "uri": "jdbc:sqlserver://db:1433;user=sa;password=hunter22"}
    with pytest.raises(InvalidCatalog, match="Cannot read a JDBC catalog of the kind `jdbc:sqlserver`") as raised:
        catalog_settings("lake", None, properties, "/project")
    assert "hunter22" not in str(raised.value)
