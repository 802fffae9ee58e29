"""One PostgreSQL database, for Java's driver and for Python's."""

from __future__ import annotations

import pytest
from sqlalchemy import make_url

from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from dbt.adapters.icebergmv.maintenance.errors import InvalidCatalog


def address(uri: str, **properties: str) -> str:
    """Return PyIceberg's address of a catalog; `properties` are the ones that start with `jdbc.`."""
    own = {f"jdbc.{key}": value for key, value in properties.items()}
    given = {"type": "jdbc", "uri": f"jdbc:postgresql://h/d{uri}", **own}
    settings = catalog_settings("lake", None, given, "/project")
    assert given.items() <= settings.spark.items()
    return settings.pyiceberg["uri"]


def query(uri: str, **properties: str) -> dict[str, object]:
    return dict(make_url(address(uri, **properties)).query)


@pytest.mark.parametrize(
    ("uri", "properties", "expected"),
    [
        ("?currentSchema=iceberg", {}, "-csearch_path=iceberg"),
        ("", {"currentSchema": "iceberg"}, "-csearch_path=iceberg"),
        ("?currentSchema=a,b%20c", {}, r"-csearch_path=a,b\ c"),
        # As in Java's driver, the address wins.
        ("?currentSchema=a", {"currentSchema": "b"}, "-csearch_path=a"),
        ("?options=-c%20search_path=a&currentSchema=b", {}, "-c search_path=a -csearch_path=b"),
        ("?options=-c%20statement_timeout=90000", {}, "-c statement_timeout=90000"),
    ],
)
def test_the_schema_is_the_same(uri: str, properties: dict[str, str], expected: str) -> None:
    assert query(uri, **properties) == {"options": expected}


TLS = {"sslmode": "verify-full", "sslrootcert": "/ca.pem", "sslcert": "/me.pem", "sslkey": "/me.pk8"}


def test_tls_is_as_strict() -> None:
    assert query("", **TLS, connect_timeout="5") == {**TLS, "connect_timeout": "5"}
    assert query(f"?{'&'.join(f'{key}={value}' for key, value in TLS.items())}") == TLS
    assert query("?sslmode=verify-full", sslmode="disable") == {"sslmode": "verify-full"}
    assert query("", sslkey="/me.pk8", sslpassword="p&w") == {"sslkey": "/me.pk8", "sslpassword": "p&w"}


@pytest.mark.parametrize(
    ("uri", "mode"),
    [
        ("?ssl=true", "verify-full"),
        ("?ssl", "verify-full"),
        ("?ssl=true&sslmode=Require", "require"),
        ("?ssl=true&sslfactory=org.postgresql.ssl.NonValidatingFactory", "require"),
    ],
)
def test_older_words_for_tls(uri: str, mode: str) -> None:
    assert query(uri) == {"sslmode": mode}


def test_the_login_of_the_address_wins() -> None:
    found = make_url(address("?user=me&password=mine", user="you", password="yours"))
    assert (found.username, found.password) == ("me", "mine")


def test_what_does_not_say_which_catalog_it_is_stays_with_java() -> None:
    harmless = "ApplicationName=x&socketTimeout=9&loginTimeout=9&tcpKeepAlive=true&prepareThreshold=0&ssl=false"
    assert address(f"?{harmless}", reWriteBatchedInserts="true") == "postgresql+psycopg2://h:5432/d"


@pytest.mark.parametrize("option", ["service", "socketFactory", "PGDBNAME", "PGHOST", "PGPORT", "dbname", "host"])
def test_what_leads_to_another_database_is_refused(option: str) -> None:
    words = f"Cannot read a JDBC catalog at `h`: the option `{option}` leads to another database .* Remove it, and give"
    with pytest.raises(InvalidCatalog, match=words):
        address(f"?{option}=x")
    with pytest.raises(InvalidCatalog, match=words):
        address("", **{option: "x"})
