"""What a profile may say, and what is never shown of it."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.spark.connections import SparkCredentials
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.credentials import IcebergMVCredentials
from dbt.adapters.icebergmv.maintenance.catalog.secrets import hide, secret_values
from dbt.adapters.icebergmv.maintenance.errors import InvalidCatalog
from tests.support.profiles import credentials_of

PROFILE = {"catalog": "lake", "schema": "analytics", "warehouse": "wh"}


def credentials(**changes: Any) -> IcebergMVCredentials:
    return credentials_of({**PROFILE, **changes})


def test_catalog_is_the_database_and_paths_are_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # A run of dbt in this process leaves its own behind.
    monkeypatch.setattr("dbt.flags.GLOBAL_FLAGS", Namespace())
    made = credentials(jars=["a.jar", "org.x:y:1"])
    assert made.database == "lake"
    assert made.warehouse == str(tmp_path / "wh")
    assert made.jars == [str(tmp_path / "a.jar"), "org.x:y:1"]


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("warehose", "warehouse"),
        ("server_side_parameter", "server_side_parameters"),
        ("catalog_readr", "catalog_reader"),
    ],
)
def test_a_key_that_is_nearly_ours(key: str, meant: str) -> None:
    given = {**PROFILE, "type": "icebergmv"}
    given.pop(meant, None)
    with pytest.raises(DbtRuntimeError, match=f"`{key}` is not known. Write `{meant}`"):
        IcebergMVCredentials.from_dict({**given, key: "x"})


def test_keys_of_others_are_passed_over() -> None:
    ours = {f.name for f in fields(IcebergMVCredentials)}
    others = {f.name: "x" for f in fields(SparkCredentials) if f.name not in ours}
    own = dict.fromkeys(("catalog2", "catalogs", "warehouse_dir", "hosts", "tokens", "server_parameters", "note"), "x")
    for profile in (PROFILE, {"database": "lake", "schema": "analytics", "warehouse": "wh"}):
        made = IcebergMVCredentials.from_dict({**profile, **others, **own, "type": "icebergmv", "threads": 4})
        assert made.database == "lake"


def test_relative_paths_are_those_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dbt.flags.GLOBAL_FLAGS", Namespace(PROJECT_DIR="project"))
    made = credentials(jars=["a.jar"])
    assert made.warehouse == str(tmp_path / "project" / "wh")
    assert made.jars == [str(tmp_path / "project" / "a.jar")]
    address = {"type": "jdbc", "uri": "jdbc:sqlite:c.db"}
    settings = credentials(warehouse=None, catalog_properties=address).catalog_settings("lake")
    assert settings.spark["uri"].startswith(f"jdbc:sqlite:{tmp_path}/project/c.db")


def test_spark_has_the_paths_that_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark takes a relative path from the folder that dbt is started in."""
    monkeypatch.setattr("dbt.flags.GLOBAL_FLAGS", Namespace(PROJECT_DIR=str(tmp_path)))
    words = {"type": "jdbc", "uri": "jdbc:sqlite:c.db", "warehouse": "wh"}
    for name in ("lake", "raw"):
        given = {f"spark.sql.catalog.{name}.{key}": value for key, value in words.items()}
        own = None if name == "lake" else "mine"
        made = credentials(warehouse=own, server_side_parameters=given)
        assert made.catalog_settings(name).pyiceberg["uri"] == f"sqlite:///{tmp_path}/c.db"
        conf = made.session_conf()
        assert conf[f"spark.sql.catalog.{name}.uri"].startswith(f"jdbc:sqlite:{tmp_path}/c.db?journal_mode=WAL")
        assert conf[f"spark.sql.catalog.{name}.warehouse"] == str(tmp_path / "wh")
    hadoop = credentials(warehouse=None, catalog_properties={"type": "hadoop", "warehouse": "wh"})
    assert hadoop.catalog_settings("lake").spark["warehouse"] == str(tmp_path / "wh")


def test_the_same_catalog_may_be_written_in_two_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt.flags.GLOBAL_FLAGS", Namespace(PROJECT_DIR=str(tmp_path)))
    patient = f"jdbc:sqlite:{tmp_path}/wh/catalog.db?journal_mode=WAL&busy_timeout=60000"
    given = {
        "spark.sql.catalog.lake.warehouse": "./wh/",
        "spark.sql.catalog.lake.uri": patient,
        "spark.sql.catalog.lake.io-impl": "com.acme.IO",
    }
    conf = credentials(server_side_parameters=given).session_conf()
    assert conf["spark.sql.catalog.lake.warehouse"] == str(tmp_path / "wh")
    assert (conf["spark.sql.catalog.lake.uri"], conf["spark.sql.catalog.lake.io-impl"]) == (patient, "com.acme.IO")


def test_nothing_is_added_to_a_catalog_that_spark_is_given() -> None:
    """Iceberg would alter a database of the old layout that is opened as V1."""
    words = {"type": "jdbc", "uri": "jdbc:postgresql://h/db", "warehouse": "s3://b/w"}
    given = {f"spark.sql.catalog.raw.{key}": value for key, value in words.items()}
    assert credentials(server_side_parameters=given).server_side_parameters == given


def test_a_folder_of_a_catalog_that_only_spark_opens_is_the_projects() -> None:
    made = credentials(warehouse="wh", catalog_properties={"type": "nessie", "uri": "http://h"})
    assert Path(made.catalog_settings("lake").spark["warehouse"]).is_absolute()


def test_a_warehouse_beside_properties_may_be_a_name() -> None:
    made = credentials(warehouse="prod", catalog_properties={"type": "rest", "uri": "http://h"})
    settings = made.catalog_settings("lake")
    assert (settings.spark["warehouse"], settings.pyiceberg["warehouse"]) == ("prod", "prod")


@pytest.mark.parametrize(
    "place",
    [{"warehouse": "wh"}, {"warehouse": None, "catalog_properties": {"type": "rest", "uri": "https://dev"}}],
)
def test_a_catalog_is_not_described_twice(place: dict[str, Any]) -> None:
    """PyIceberg would read one and Spark write the other."""
    other = {"spark.sql.catalog.lake.type": "rest", "spark.sql.catalog.lake.uri": "https://prod"}
    with pytest.raises(DbtRuntimeError, match=r"`spark.sql.catalog.lake.\w+` .* describes another catalog than"):
        credentials(**place, server_side_parameters=other)
    on_server = credentials(**place, method="connect", host="h", server_side_parameters=other)
    assert on_server.server_side_parameters == other, "the server may know its catalog by another address"
    more = {"spark.sql.catalog.lake.s3.endpoint": "https://s3", "spark.sql.catalog.lake.cache-enabled": "true"}
    assert credentials(**place, server_side_parameters=more).server_side_parameters == more


def test_values_of_yaml_become_text() -> None:
    made = credentials(server_side_parameters={"spark.ui.enabled": True, "spark.cores.max": 4})
    assert made.server_side_parameters == {"spark.ui.enabled": "true", "spark.cores.max": "4"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"catalog": None}, "`catalog` is missing"),
        ({"schema": None}, "`schema` is missing"),
        ({"catalog": "a.b"}, "has a dot in it"),
        ({"warehouse": None}, "neither `warehouse` nor `catalog_properties`"),
        ({"catalog_reader": "guess"}, "`catalog_reader: guess` is not known. Use `auto`, `direct` .* or `spark`"),
        (
            {"catalog_properties": {"type": "glue"}, "catalog_reader": "direct"},
            "it is of type glue, .* Use a catalog of type hive, jdbc or rest",
        ),
        ({"catalog_properties": {"uri": "x"}}, "neither `type` nor `catalog-impl`"),
        ({"method": "connect", "host": "h", "warehouse": None, "catalog_reader": "direct"}, "neither `warehouse` nor"),
        ({"method": "http"}, "is for Databricks, which has its own adapter. Use `session`"),
        ({"method": "telepathy"}, "is not known. Use `session`"),
    ],
)
def test_what_cannot_work_says_why(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DbtRuntimeError, match=message):
        credentials(**changes)


def test_a_catalog_that_only_spark_can_open_is_described_for_spark() -> None:
    made = credentials(warehouse=None, catalog_properties={"type": "glue", "warehouse": "s3://b/w"})
    settings = made.catalog_settings("lake")
    assert (settings.spark, settings.pyiceberg) == ({"type": "glue", "warehouse": "s3://b/w"}, {})
    beside = credentials(warehouse="s3://b/w", catalog_properties={"type": "glue"}).catalog_settings("lake")
    assert beside.spark == settings.spark
    with pytest.raises(InvalidCatalog, match="it is of type glue"):
        made.described_catalog("lake")


@pytest.mark.parametrize("reader", ["auto", "spark"])
def test_the_profile_of_a_server_needs_no_catalog(reader: str) -> None:
    made = credentials(method="connect", host="h", warehouse=None, catalog_reader=reader)
    assert (made.catalog_settings("lake").spark, made.catalog_settings("lake").pyiceberg) == ({}, {})
    assert dict(made.connection_info())["catalog_type"] == "as Spark has it"


def test_spark_in_this_process_may_have_its_catalog_in_its_own_words() -> None:
    words = {"spark.sql.catalog.lake.type": "hadoop", "spark.sql.catalog.lake.warehouse": "/w"}
    made = credentials(warehouse=None, server_side_parameters=words)
    assert made.catalog_settings("lake").spark == {"type": "hadoop", "warehouse": "/w"}


def test_nothing_secret_is_shown() -> None:
    made = credentials(
        catalog_properties={"type": "rest", "uri": "http://h", "token": "t0ken!", "s3.secret-access-key": "s3cret!"},
        server_side_parameters={"spark.hadoop.fs.s3a.secret.key": "h4doop!"},
    )
    for with_aliases in (True, False):
        shown = str(list(made.connection_info(with_aliases=with_aliases)))
        assert "catalog" in shown
        assert not any(secret in shown for secret in made.secrets())
    assert set(made.secrets()) == {"t0ken!", "s3cret!", "h4doop!"}


@pytest.mark.parametrize(
    ("properties", "address"),
    [
        ({}, "jdbc:sqlite:/wh/catalog.db"),
        ({"type": "rest", "uri": "https://me:s3cret!@h/api"}, "https://me:*****@h/api"),
        ({"type": "jdbc", "uri": "jdbc:postgresql://h/db?user=me&password=s3cret!"}, "jdbc:postgresql://h/db"),
        ({"type": "rest", "warehouse": "s3://b/wh"}, "s3://b/wh"),
    ],
)
def test_address_of_the_catalog_is_shown_without_secrets(properties: dict[str, str], address: str) -> None:
    made = credentials(warehouse="/wh", catalog_properties=properties)
    assert dict(made.connection_info())["catalog_address"] == address


def test_secrets_are_masked_in_messages() -> None:
    secrets = secret_values({"jdbc.password": "hunter2", "uri": "x", "a.token": "abc"})
    assert secrets == ("hunter2",)
    text = hide("failed: hunter2 at postgresql://me:other@host/db?password=third&x=1", secrets)
    assert text == "failed: ***** at postgresql://me:*****@host/db?password=*****&x=1"


def test_other_catalogs_come_from_the_spark_settings() -> None:
    made = credentials(
        server_side_parameters={"spark.sql.catalog.raw.type": "rest", "spark.sql.catalog.raw.uri": "http://raw"}
    )
    assert made.catalog_settings("raw").pyiceberg["uri"] == "http://raw"
    assert made.catalog_settings("raw").pyiceberg["type"] == "rest"
    assert made.is_known_catalog("raw")
    assert not made.is_known_catalog("other")
    with pytest.raises(DbtRuntimeError, match="Cannot open the catalog `other`: the profile does not describe it"):
        made.catalog_settings("other")
