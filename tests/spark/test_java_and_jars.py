"""Finding Java, choosing and caching jars; nothing is started or fetched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.spark import jars
from dbt.adapters.icebergmv.spark.errors import JarsUnavailable, JavaUnusable
from dbt.adapters.icebergmv.spark.jars import local_jars, required_jars
from dbt.adapters.icebergmv.spark.java import java_version, require_java


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25"', 25),
        ("", None),
    ],
)
def test_java_version(text: str, expected: int | None) -> None:
    assert java_version(text) == expected


def test_old_java_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaUnusable, match=r"is Java 11, and Iceberg needs 17\. Install Java 17"):
        require_java()


def test_jars_follow_the_spark_release() -> None:
    assert required_jars("4.0.5", (), []) == ["org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0"]
    assert required_jars("4.1.4", ("sqlite",), []) == [
        "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
        "org.xerial:sqlite-jdbc:3.50.3.0",
    ]


def test_drivers_come_beside_iceberg() -> None:
    assert required_jars("4.0.5", ("postgresql", "s3"), [])[1:] == [
        "org.postgresql:postgresql:42.7.14",
        "org.apache.iceberg:iceberg-aws-bundle:1.11.0",
    ]
    assert required_jars("4.1.4", ("s3",), [])[1:] == ["org.apache.iceberg:iceberg-aws-bundle:1.12.0"]


@pytest.mark.parametrize(
    ("runtime", "iceberg"),
    [
        ("/x/iceberg-spark-runtime-4.1_2.13-1.11.0.jar", "1.11.0"),
        ("org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.10.1", "1.10.1"),
        ("/x/iceberg-spark-runtime-patched.jar", "1.12.0"),
    ],
)
def test_a_bundle_has_the_version_of_the_given_iceberg(runtime: str, iceberg: str) -> None:
    assert required_jars("4.1.4", ("s3",), [runtime]) == [
        runtime,
        f"org.apache.iceberg:iceberg-aws-bundle:{iceberg}",
    ]


def test_given_jars_replace_ours() -> None:
    given = [
        "/x/iceberg-spark-runtime-4.2_2.13-1.13.0.jar",
        "/x/sqlite-jdbc-3.jar",
        "org.postgresql:postgresql:42.7.1",
        "/x/iceberg-aws-bundle-1.13.0.jar",
    ]
    assert required_jars("4.2.0", ("sqlite", "postgresql", "s3"), given) == given
    with pytest.raises(JarsUnavailable, match=r"none is known for Spark 4\.2\.0"):
        required_jars("4.2.0", ("sqlite",), [])


def test_jars_are_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[Sequence[str]] = []

    def fetch(coordinates: Sequence[str], scratch: Path, repositories: str | None) -> None:
        fetched.append(coordinates)
        (scratch / "jars").mkdir()
        (scratch / "jars" / "a.jar").touch()

    monkeypatch.setenv(jars.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setattr(jars, "run_ivy", fetch)
    first, second = local_jars(["g:a:1"]), local_jars(["g:a:1"])
    assert first == second
    assert [Path(jar).name for jar in first] == ["a.jar"]
    assert fetched == [["g:a:1"]]
    assert [path for path in (tmp_path / "jars").iterdir() if path.name.startswith(".")] == []


def test_missing_jar_is_named() -> None:
    with pytest.raises(JarsUnavailable, match=r"the jar /nowhere/a\.jar does not exist"):
        local_jars(["/nowhere/a.jar"])
