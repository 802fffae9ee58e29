"""dbt as a person starts it: its own process, an empty directory, no network the second time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.spark.jars import cache_folder

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


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    (tmp_path / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    (tmp_path / "profiles.yml").write_text(PROFILE.format(more=""))
    (tmp_path / "models" / "orders.sql").write_text("{{ config(materialized='table') }} select 1 as id")
    return tmp_path


def dbt(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("dbt")), "--no-use-colors", *arguments],
        cwd=folder,
        env={**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_debug_in_a_fresh_directory(shop: Path) -> None:
    answer = dbt(shop, "debug")
    assert answer.returncode == 0, answer.stdout
    assert "All checks passed!" in answer.stdout
    assert "catalog: lake" in answer.stdout
    assert answer.stderr == ""


def test_run_leaves_only_its_own_files(shop: Path) -> None:
    answer = dbt(shop, "run")
    assert answer.returncode == 0, answer.stdout
    assert answer.stderr == ""
    left = {path.name for path in shop.iterdir()} - {"models", "dbt_project.yml", "profiles.yml"}
    assert left <= {"logs", "target", "warehouse", ".user.yml"}


def test_starts_without_network_once_jars_are_cached(shop: Path) -> None:
    assert dbt(shop, "run").returncode == 0
    second = dbt(shop, "run", JAVA_TOOL_OPTIONS=NO_NETWORK)
    assert second.returncode == 0, second.stdout


def test_without_network_and_jars_says_how_to_give_them(shop: Path, tmp_path: Path) -> None:
    answer = dbt(shop, "run", JAVA_TOOL_OPTIONS=NO_NETWORK, DBT_ICEBERGMV_CACHE=str(tmp_path / "empty cache"))
    assert answer.returncode != 0
    assert "Cannot fetch org.apache.iceberg:iceberg-spark-runtime" in answer.stdout
    assert "`jars` in the profile" in answer.stdout
    assert not list((tmp_path / "empty cache" / "jars").iterdir())


def test_jars_given_by_hand(shop: Path) -> None:
    assert dbt(shop, "run").returncode == 0
    jars = [str(jar) for jar in cache_folder().glob("jars/*/*.jar")]
    (shop / "profiles.yml").write_text(PROFILE.format(more=f", jars: {json.dumps(jars)}"))
    answer = dbt(shop, "run", DBT_ICEBERGMV_CACHE=str(shop / "unused"))
    assert answer.returncode == 0, answer.stdout
    assert not (shop / "unused").exists()


def test_without_java_says_what_to_install(shop: Path) -> None:
    answer = dbt(shop, "run", PATH="/nowhere", JAVA_HOME="")
    assert "Cannot start Spark: Java is not installed. Install Java 17 or newer" in answer.stdout
    answer = dbt(shop, "run", JAVA_HOME="/nowhere")
    assert "JAVA_HOME is /nowhere" in answer.stdout


def test_looking_around_starts_no_jvm(shop: Path) -> None:
    assert dbt(shop, "run").returncode == 0
    (shop / "logs" / "spark.log").unlink()
    assert dbt(shop, "docs", "generate").returncode == 0
    assert not (shop / "logs" / "spark.log").exists()
    catalog = json.loads((shop / "target" / "catalog.json").read_text())
    assert catalog["nodes"]["model.shop.orders"]["columns"]["id"]["type"] == "int"


def test_dead_jvm_is_told_with_the_end_of_its_log(shop: Path) -> None:
    (shop / "profiles.yml").write_text(PROFILE.format(more=", server_side_parameters: {spark.driver.memory: 1x}"))
    answer = dbt(shop, "run")
    assert answer.returncode != 0
    assert "Cannot start Spark" in answer.stdout
    assert "spark.log" in answer.stdout


def test_folder_with_accent_under_a_plain_locale(shop: Path) -> None:
    profile = PROFILE.format(more="").replace("./warehouse", "./lager é 50%")
    (shop / "profiles.yml").write_text(profile, encoding="utf-8")
    for _ in range(2):
        answer = dbt(shop, "run", LC_ALL="C", LANG="C")
        assert answer.returncode == 0, answer.stdout
    assert (shop / "lager é 50%" / "catalog.db").exists()


# While Spark starts, and while the query runs.
@pytest.mark.parametrize("delay", [1, 15])
def test_interrupt_stops_the_query_and_dbt(shop: Path, delay: int) -> None:
    assert dbt(shop, "run").returncode == 0
    slow = "select sum(hash(a.id, b.id)) as s from range(10000000) a cross join range(10000000) b"
    (shop / "models" / "orders.sql").write_text("{{ config(materialized='table') }} " + slow)
    (shop / "logs" / "spark.log").unlink()
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("dbt")), "run"], cwd=shop, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    while not (shop / "logs" / "spark.log").exists():
        time.sleep(0.2)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode != 0
