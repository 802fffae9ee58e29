"""The whole life of materialized views over each way to Spark. The dbt process of a server has no Java."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings, catalog_settings
from integration.support.living import live
from integration.support.served import ServedProject
from integration.support.servers.processes import HOST
from integration.support.servers.spark import Server, cluster, connect_server, thrift_server
from integration.support.spark_settings import SPARK

Starter = Callable[[Path, CatalogSettings], AbstractContextManager[Server]]


def _without_java(folder: Path) -> dict[str, str]:
    """Return the environment of a machine with git, which `dbt debug` asks for, and without Java."""
    commands = folder / "bin"
    commands.mkdir()
    (commands / "git").symlink_to(str(shutil.which("git")))
    return {"JAVA_HOME": str(folder / "no java"), "PATH": str(commands)}


def profile(warehouse: Path, **more: Any) -> dict[str, Any]:
    common = {"type": "icebergmv", "catalog": "lake", "schema": "life", "warehouse": str(warehouse), "threads": 2}
    return {**common, **more}


@pytest.mark.parametrize(("method", "server"), [("connect", connect_server), ("thrift", thrift_server)])
def test_server(method: str, server: Starter, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    with server(tmp_path / "server", catalog_settings("lake", str(warehouse), {}, str(tmp_path))) as started:
        target = profile(warehouse, method=method, host=HOST, port=started.port)
        see_each_others_commits(ServedProject(tmp_path / "other project", target))
        live(target, tmp_path / "project", _without_java(tmp_path))


def see_each_others_commits(project: ServedProject) -> None:
    """No session of dbt keeps a table that another one has changed: the server's own cache is off in them."""
    first, second = (project.session({"spark.sql.adaptive.enabled": on}) for on in ("true", "false"))
    first("CREATE NAMESPACE IF NOT EXISTS lake.cached")
    first("CREATE TABLE lake.cached.t USING iceberg AS SELECT 1 AS a")
    for number in range(2, 4):
        assert len(second("SELECT a FROM lake.cached.t")) == number - 1
        first(f"INSERT INTO lake.cached.t VALUES ({number})")
    assert len(second("SELECT a FROM lake.cached.t")) == 3


@pytest.mark.long
def test_standalone_cluster(tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster", workers=2) as master:
        parameters = {**SPARK, "spark.master": master, "spark.driver.host": HOST, "spark.executor.memory": "1g"}
        target = profile(tmp_path / "warehouse", method="session", server_side_parameters=parameters)
        live(target, tmp_path / "project")
