"""When tables are written through a file system that starts no process for a file."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.catalog_properties import catalog_settings, settings_for_spark
from dbt.adapters.icebergmv.spark import local_files
from dbt.adapters.icebergmv.spark.errors import JarsUnavailable
from dbt.adapters.icebergmv.spark.jars import CACHE_VARIABLE
from dbt.adapters.icebergmv.spark.local_files import (
    ARTIFACT,
    FILE_SYSTEM,
    is_wanted,
    jars_with_local_files,
    local_files_conf,
)

FOLDER = catalog_settings("lake", "/wh", {}, "/project")
RUNTIME = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"


def test_the_default_catalog_has_it() -> None:
    assert is_wanted(FOLDER, (), {})
    assert local_files_conf(FOLDER) == {
        "spark.sql.catalog.lake.hadoop.fs.file.impl": FILE_SYSTEM,
        "spark.sql.catalog.lake.hadoop.fs.file.impl.disable.cache": "true",
    }


OTHERS = {
    "a server": catalog_settings("lake", None, {"type": "rest", "uri": "http://h"}, "/project"),
    "a folder that is listed": settings_for_spark("lake", {"type": "hadoop", "warehouse": "/wh"}, "/project"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_catalogs_do_without(name: str) -> None:
    assert not is_wanted(OTHERS[name], (), {})


@pytest.mark.parametrize("jar", ["/jars/iceberg.jar", RUNTIME])
def test_nothing_else_is_fetched_where_jars_are_given_by_hand(jar: str) -> None:
    assert not is_wanted(FOLDER, (jar,), {})


def test_a_class_that_the_user_chose_stays() -> None:
    assert not is_wanted(FOLDER, (), {"spark.hadoop.fs.file.impl": "my.FileSystem"})


def test_a_folder_that_hands_its_group_on_keeps_doing_so(tmp_path: Path) -> None:
    catalog = catalog_settings("lake", str(tmp_path), {}, "/")
    assert is_wanted(catalog, (), {})
    tmp_path.chmod(tmp_path.stat().st_mode | stat.S_ISGID)
    assert not is_wanted(catalog, (), {})


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is fetched, into an empty cache, by way of a Maven repository that has no such file system."""
    said: list[list[str]] = []

    def fetch(jars: Sequence[str], repositories: str | None = None) -> list[str]:
        said.append([*jars])
        if ARTIFACT in jars:
            raise JarsUnavailable("not found")
        return ["runtime.jar"]

    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setattr(local_files, "local_jars", fetch)
    return said


def test_spark_starts_without_it_where_it_cannot_be_fetched(fetched: list[list[str]]) -> None:
    assert jars_with_local_files([RUNTIME], None) == (["runtime.jar"], False)
    assert fetched == [[RUNTIME, ARTIFACT], [RUNTIME]]


def test_jars_that_were_fetched_before_are_enough(fetched: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_files, "are_cached", lambda jars: ARTIFACT not in jars)
    assert jars_with_local_files([RUNTIME], None) == (["runtime.jar"], False)
    assert fetched == [[RUNTIME]]
