"""The whole life of materialized views over each way to Spark, with the profiles of docs/connections.md.

The dbt process of a server has no Java.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from integration.support.living import live
from integration.support.served import ServedProject
from integration.support.servers.processes import HOST
from integration.support.servers.rest import rest_catalog
from integration.support.servers.spark import SERVERS, cluster
from integration.support.spark_settings import SPARK
from tests.support.docs_profiles import docs_profiles

PAGE = Path(__file__).parents[2] / "docs" / "connections.md"


def profile(section: str, **changes: Any) -> dict[str, Any]:
    """Return the target of a section, with addresses changed."""
    outputs: dict[str, Any] = yaml.safe_load(docs_profiles(PAGE)[section])["shop"]["outputs"]
    (target,) = outputs.values()
    assert changes.keys() <= target.keys()
    return {**target, **changes}


BRIEFLY = ("begin", "first_build", "new_rows", "changed_rows", "stitched_read", "dropped_schema")
"""The steps without which there is no life."""


@pytest.mark.parametrize(
    ("section", "steps"),
    [
        pytest.param("Spark Connect", BRIEFLY, id="connect-briefly"),
        pytest.param("Spark Connect", (), marks=pytest.mark.long, id="connect"),
        pytest.param("Spark Thrift server", (), marks=pytest.mark.long, id="thrift"),
    ],
)
def test_server(section: str, steps: tuple[str, ...], tmp_path: Path) -> None:
    start = SERVERS[profile(section)["method"]]
    with rest_catalog(tmp_path / "catalog") as uri:
        place = {**profile(section)["catalog_properties"], "uri": uri}
        with start(tmp_path / "server", catalog_settings("lake", None, place, str(tmp_path))) as server:
            target = profile(section, host=HOST, port=server.port, catalog_properties=place)
            see_each_others_commits(ServedProject(tmp_path / "other", target))
            live(target, tmp_path / "project", _without_java(tmp_path), steps)


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
        live(profile("Session", server_side_parameters=parameters), tmp_path / "project")


def _without_java(folder: Path) -> dict[str, str]:
    """Return the environment of a machine with git, which `dbt debug` asks for, and without Java."""
    commands = folder / "bin"
    commands.mkdir()
    (commands / "git").symlink_to(str(shutil.which("git")))
    return {"JAVA_HOME": str(folder / "no java"), "PATH": str(commands)}
