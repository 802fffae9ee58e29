"""dbt as a person starts it: its own process, an empty directory, no network the second time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.spark.jars import cache_folder
from integration.support.spark_settings import BRIEF_JVM

PROFILE = """
shop:
  target: dev
  outputs:
    dev: {{type: icebergmv, method: session, catalog: lake, schema: analytics, warehouse: ./warehouse{more}}}
"""
# Every address is unreachable for the JVM behind this.
NO_NETWORK = " ".join(
    f"-D{scheme}.proxy{part}" for scheme in ("http", "https") for part in ("Host=127.0.0.1", "Port=9")
)
BRIEF = {"JAVA_TOOL_OPTIONS": BRIEF_JVM}


def make_shop(folder: Path) -> Path:
    (folder / "models").mkdir(parents=True)
    (folder / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    (folder / "profiles.yml").write_text(PROFILE.format(more=""))
    (folder / "models" / "orders.sql").write_text("{{ config(materialized='table') }} select 1 as id")
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project of the test's own, never run."""
    return make_shop(tmp_path / "shop")


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """A project that has run once, for all tests that go on from there; and what was in its folder then."""
    folder, elsewhere = make_shop(tmp_path_factory.mktemp("used") / "shop"), tmp_path_factory.mktemp("elsewhere")
    # From another folder: the paths of the profile are relative to the project.
    answer = dbt(elsewhere, "run", "--project-dir", os.path.relpath(folder, elsewhere), "--profiles-dir", str(folder))
    assert answer.returncode == 0, answer.stdout
    assert answer.stderr == ""
    assert not (elsewhere / "warehouse").exists()
    return folder, {path.name for path in folder.iterdir()}


@pytest.fixture
def used_shop(first_run: tuple[Path, set[str]]) -> Iterator[Path]:
    """The project that has run once; its model and its profile are put back after the test."""
    folder, _ = first_run
    before = {file: file.read_text() for file in (folder / "profiles.yml", folder / "models" / "orders.sql")}
    yield folder
    for file, text in before.items():
        file.write_text(text)


def dbt(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("dbt")), "--no-use-colors", *arguments],
        cwd=folder,
        env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", **BRIEF, **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.long
def test_debug_in_a_fresh_directory(shop: Path) -> None:
    answer = dbt(shop, "debug")
    assert answer.returncode == 0, answer.stdout
    assert "All checks passed!" in answer.stdout
    assert "catalog: lake" in answer.stdout
    assert f"catalog_address: jdbc:sqlite:{shop}/warehouse/catalog.db" in answer.stdout
    assert "catalog_reader: direct (PyIceberg, jdbc)" in answer.stdout
    assert "in the schema analytics: 0 tables, 0 views" in answer.stdout
    assert answer.stderr == ""


def test_debug_opens_the_catalog(shop: Path) -> None:
    (shop / "profiles.yml").write_text(
        PROFILE.format(more=", catalog_properties: {type: rest, uri: 'http://u:pw@127.0.0.1:9'}")
    )
    answer = dbt(shop, "debug")
    assert answer.returncode != 0
    assert "catalog_address: http://u:*****@127.0.0.1:9" in answer.stdout
    assert "Cannot open the catalog `lake`: nothing answers at `http://127.0.0.1:9`" in answer.stdout
    assert "pw@" not in answer.stdout
    # Refused before Spark is started.
    assert not (shop / "logs" / "spark.log").exists()


@pytest.mark.long
def test_debug_refuses_a_catalog_that_runs_cannot_use(shop: Path) -> None:
    (shop / "profiles.yml").write_text(PROFILE.format(more=", catalog_properties: {type: nonsense}"))
    answer = dbt(shop, "debug")
    assert answer.returncode != 0
    assert "nonsense" in answer.stdout
    assert "All checks passed!" not in answer.stdout


@pytest.mark.long
def test_a_catalog_without_views_is_read_through_spark(shop: Path) -> None:
    (shop / "profiles.yml").write_text(PROFILE.format(more=", catalog_properties: {type: hadoop}"))
    answer = dbt(shop, "debug")
    assert answer.returncode == 0, answer.stdout
    assert "catalog_reader: spark (Cannot open the catalog `lake`: it is of type hadoop" in answer.stdout


@pytest.mark.long
def test_paths_of_the_profile_are_relative_to_the_project(used_shop: Path, tmp_path: Path) -> None:
    debug = dbt(tmp_path, "debug", "--project-dir", str(used_shop), "--profiles-dir", str(used_shop))
    assert f"catalog_address: jdbc:sqlite:{used_shop}/warehouse/catalog.db" in debug.stdout
    inside = dbt(used_shop, "docs", "generate")
    assert inside.returncode == 0, inside.stdout
    catalog = json.loads((used_shop / "target" / "catalog.json").read_text())
    assert list(catalog["nodes"]) == ["model.shop.orders"]


@pytest.mark.long
def test_session_method_with_a_connect_server_in_the_environment(shop: Path) -> None:
    answer = dbt(shop, "run", SPARK_REMOTE="sc://127.0.0.1:9/;token=t0ken")
    assert answer.returncode != 0
    assert "SPARK_REMOTE is set" in answer.stdout
    assert "Unset SPARK_REMOTE" in answer.stdout
    assert "t0ken" not in answer.stdout
    assert "Traceback" not in answer.stdout + answer.stderr


# Spark waits a minute for a master that nobody answers for.
@pytest.mark.long
@pytest.mark.parametrize("master", ["local[x]", "spark://127.0.0.1:9"])
def test_master_that_refuses_is_one_line(shop: Path, master: str) -> None:
    (shop / "profiles.yml").write_text(PROFILE.format(more=f", server_side_parameters: {{spark.master: '{master}'}}"))
    answer = dbt(shop, "run")
    assert answer.returncode != 0
    told = [line for line in answer.stdout.splitlines() if "Cannot start Spark" in line]
    assert told
    assert all(f"`spark.master: {master}`" in line and "spark.log" in line for line in told)
    assert "\tat " not in answer.stdout
    assert "org.apache.spark.api" not in answer.stdout


@pytest.mark.long
def test_run_leaves_only_its_own_files(first_run: tuple[Path, set[str]]) -> None:
    _, left = first_run
    assert left - {"models", "dbt_project.yml", "profiles.yml"} <= {"logs", "target", "warehouse", ".user.yml"}


@pytest.mark.long
def test_starts_without_network_once_jars_are_cached(used_shop: Path) -> None:
    second = dbt(used_shop, "run", JAVA_TOOL_OPTIONS=f"{BRIEF_JVM} {NO_NETWORK}")
    assert second.returncode == 0, second.stdout


@pytest.mark.long
def test_without_network_and_jars_says_how_to_give_them(shop: Path, tmp_path: Path) -> None:
    answer = dbt(
        shop, "run", JAVA_TOOL_OPTIONS=f"{BRIEF_JVM} {NO_NETWORK}", DBT_ICEBERGMV_CACHE=str(tmp_path / "empty cache")
    )
    assert answer.returncode != 0
    assert "Cannot fetch org.apache.iceberg:iceberg-spark-runtime" in answer.stdout
    assert "`jars` in the profile" in answer.stdout
    assert not list((tmp_path / "empty cache" / "jars").iterdir())


@pytest.mark.long
def test_jars_given_by_hand(used_shop: Path) -> None:
    jars = [str(jar) for jar in cache_folder().glob("jars/*/*.jar")]
    (used_shop / "profiles.yml").write_text(PROFILE.format(more=f", jars: {json.dumps(jars)}"))
    answer = dbt(used_shop, "run", DBT_ICEBERGMV_CACHE=str(used_shop / "unused"))
    assert answer.returncode == 0, answer.stdout
    assert not (used_shop / "unused").exists()


@pytest.mark.long
def test_without_java_says_what_to_install(shop: Path) -> None:
    answer = dbt(shop, "run", PATH="/nowhere", JAVA_HOME="")
    assert "Cannot start Spark: Java is not installed. Install Java 17 or newer" in answer.stdout
    answer = dbt(shop, "run", JAVA_HOME="/nowhere")
    assert "JAVA_HOME is /nowhere" in answer.stdout


def test_looking_around_starts_no_jvm(used_shop: Path) -> None:
    (used_shop / "logs" / "spark.log").unlink(missing_ok=True)
    assert dbt(used_shop, "docs", "generate").returncode == 0
    assert not (used_shop / "logs" / "spark.log").exists()
    catalog = json.loads((used_shop / "target" / "catalog.json").read_text())
    assert catalog["nodes"]["model.shop.orders"]["columns"]["id"]["type"] == "int"


def test_dead_jvm_is_told_with_the_end_of_its_log(shop: Path) -> None:
    (shop / "profiles.yml").write_text(PROFILE.format(more=", server_side_parameters: {spark.driver.memory: 1x}"))
    answer = dbt(shop, "run")
    assert answer.returncode != 0
    assert "Cannot start Spark" in answer.stdout
    assert "spark.log" in answer.stdout


@pytest.mark.long
def test_folder_with_accent_under_a_plain_locale(shop: Path) -> None:
    profile = PROFILE.format(more="").replace("./warehouse", "./lager é 50%")
    (shop / "profiles.yml").write_text(profile, encoding="utf-8")
    for _ in range(2):
        answer = dbt(shop, "run", LC_ALL="C", LANG="C")
        assert answer.returncode == 0, answer.stdout
    assert (shop / "lager é 50%" / "catalog.db").exists()


# While Spark starts, and while the query runs.
@pytest.mark.parametrize("delay", [1, pytest.param(15, marks=pytest.mark.long)])
def test_interrupt_stops_the_query_and_dbt(used_shop: Path, delay: int) -> None:
    slow = "select sum(hash(a.id, b.id)) as s from range(10000000) a cross join range(10000000) b"
    (used_shop / "models" / "orders.sql").write_text("{{ config(materialized='table') }} " + slow)
    (used_shop / "logs" / "spark.log").unlink(missing_ok=True)
    process = subprocess.Popen(
        # Who starts the tests in the background of a script lets them, and dbt, ignore interrupts.
        ["env", "--default-signal=INT", str(Path(sys.executable).with_name("dbt")), "run"],
        cwd=used_shop,
        env={**os.environ, **BRIEF},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    while not (used_shop / "logs" / "spark.log").exists():
        time.sleep(0.2)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode != 0
