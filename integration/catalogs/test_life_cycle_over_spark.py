"""The whole life of materialized views where dbt reads the catalog through Spark alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from integration.support.life_cycle import Project, life_cycle
from integration.support.living import live
from integration.support.spark_settings import SPARK


@pytest.mark.long
def test_life_without_a_warehouse(tmp_path: Path) -> None:
    """The catalog is in Spark's own words, of which PyIceberg is told nothing."""
    catalog = catalog_settings("lake", str(tmp_path / "its warehouse"), {}, "/")
    assert catalog.folder is not None
    Path(catalog.folder).mkdir()
    target = {
        "type": "icebergmv",
        "method": "session",
        "catalog": "lake",
        "schema": "mv",
        "catalog_reader": "spark",
        "threads": 4,
        "server_side_parameters": {**SPARK, **catalog.spark_conf()},
    }
    live(target, tmp_path / "project")
    log = (tmp_path / "project" / "logs" / "dbt.log").read_text()
    assert "catalog_reader: spark (" in log
    assert "catalog_reader: direct" not in log


@pytest.mark.long
def test_a_share_of_it_in_this_process(tmp_path: Path, warehouse: Path) -> None:
    target = {
        "type": "icebergmv",
        "method": "session",
        "catalog": "lake",
        "schema": "over_spark",
        "warehouse": str(warehouse),
        "catalog_reader": "spark",
        "threads": 4,
        "server_side_parameters": SPARK,
    }
    life_cycle(Project(tmp_path / "project", target), ["begin", "first_build", "new_rows", "dropped_schema"])
