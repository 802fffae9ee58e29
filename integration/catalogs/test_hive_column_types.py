"""A metastore that does not let columns change their types, which is how Hive comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from integration.support.lake import LakeProject
from integration.support.servers.hive import hive_metastore
from integration.support.spark_settings import SPARK

pytestmark = pytest.mark.long
DEFAULT = {"hive.metastore.disallow.incompatible.col.type.changes": "true"}


def shown(project: LakeProject) -> list[tuple[object, ...]]:
    """Return the rows of the view as dbt's own session reads them; another one of this process may know no such lake."""
    found: Any = project.dbt("show", "--quiet", "--inline", "select a, b from lake.analytics.v").result
    return [tuple(row) for row in found.results[0].agate_table.rows]


def test_a_refused_type_names_the_setting_and_readers_keep_their_rows(tmp_path: Path) -> None:
    with hive_metastore(tmp_path / "server", DEFAULT) as uri:
        target = {
            "type": "icebergmv",
            "catalog": "lake",
            "schema": "analytics",
            "threads": 1,
            "catalog_properties": {
                "type": "hive",
                "uri": uri,
                "warehouse": str(tmp_path / "warehouse"),
                # Of this catalog alone: Spark may run already, and the metastore of the test has no locks.
                "hadoop.iceberg.engine.hive.lock-enabled": "false",
            },
            "server_side_parameters": SPARK,
        }
        project = LakeProject(tmp_path / "project", target)
        project.model("v", "select 'x' as a, 1 as b")
        project.run()
        project.model("v", "select 2 as a, 1 as b")
        message = project.fail()
        assert "Cannot refresh lake.analytics.v: the Hive metastore refuses other column types" in message
        assert "set hive.metastore.disallow.incompatible.col.type.changes to false in its hive-site.xml" in message
        assert shown(project) == [("x", 1)]
        project.model("v", "select 'y' as a, 1 as b")
        assert project.run()["v"]["refresh_kind"] == "full"
        assert shown(project) == [("y", 1)]
