"""The whole life of materialized views over each way to Spark. The dbt process of a server has no Java."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings, catalog_settings
from integration.support.spark_servers import HOST, Server, cluster, connect_server, thrift_server
from integration.support.spark_settings import SPARK

ROOT = Path(__file__).parents[2]
SECONDS = 400
Starter = Callable[[Path, CatalogSettings], AbstractContextManager[Server]]


def live(target: dict[str, Any], folder: Path, java: bool) -> str:
    """Run the life cycle in a process of its own; return what it printed."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "target.json"
    file.write_text(json.dumps(target))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if not java:
        environment |= {"JAVA_HOME": str(folder / "no java"), "PATH": str(_without_java(folder))}
    command = [sys.executable, "-m", "integration.support.life_cycle", str(file), str(folder / "project")]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


def _without_java(folder: Path) -> Path:
    """Return a folder of commands with git alone, which `dbt debug` asks for."""
    commands = folder / "bin"
    commands.mkdir()
    (commands / "git").symlink_to(str(shutil.which("git")))
    return commands


def profile(warehouse: Path, **more: Any) -> dict[str, Any]:
    common = {"type": "icebergmv", "catalog": "lake", "schema": "life", "warehouse": str(warehouse), "threads": 2}
    return {**common, **more}


@pytest.mark.parametrize(("method", "server"), [("connect", connect_server), ("thrift", thrift_server)])
def test_server(method: str, server: Starter, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    with server(tmp_path / "server", catalog_settings("lake", str(warehouse), {}, str(tmp_path))) as started:
        printed = live(profile(warehouse, method=method, host=HOST, port=started.port), tmp_path / "client", java=False)
    assert "dropped_schema" in printed


@pytest.mark.long
def test_standalone_cluster(tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster", workers=2) as master:
        parameters = {**SPARK, "spark.master": master, "spark.driver.host": HOST, "spark.executor.memory": "1g"}
        target = profile(tmp_path / "warehouse", method="session", server_side_parameters=parameters)
        assert "dropped_schema" in live(target, tmp_path / "client", java=True)
