"""Which layout a model gets, and what is refused of it, without any Java."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.pyiceberg_reader import PyIcebergReader
from tests.refresh.refreshes import ORDERS
from tests.support.dry_project import DryProject

pytestmark = pytest.mark.slow

TOTALS = "select region, sum(amount) as total from lake.ns.orders group by region"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DryProject]:
    # Whoever starts Spark all the same fails.
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no java"))
    made = DryProject(tmp_path / "project")
    made.table("orders", ORDERS, "region")
    yield made
    made.close()


def status(project: DryProject, **config: object) -> dict[str, Any]:
    """Return the status of a model with some configuration."""
    said = ", ".join(f"{key}={value!r}" for key, value in config.items())
    project.model("totals", f"{{{{ config({said}) }}}}\n{TOTALS}" if said else TOTALS)
    success, text = project.operation("materialized_view_status", "{format: json}")
    assert success, text
    (found,) = json.loads(text)
    assert isinstance(found, dict)
    return found


@pytest.mark.long
def test_a_table_is_asked_for(project: DryProject) -> None:
    assert status(project, layout="table")["state"] == "new"
    assert status(project, layout="view")["state"] == "new"
    found = status(project, layout="heap")
    assert (found["state"], found["error"]) == ("error", "layout is 'heap'. Choose one of view, table.")


@pytest.mark.long
def test_a_behaviour_that_needs_a_view(project: DryProject) -> None:
    found = status(project, layout="table", stale_read_behavior="use_stitching")
    assert found["error"] == (
        "stale_read_behavior use_stitching needs a view, and layout is table. Leave out stale_read_behavior, or use "
        "layout view in a catalog that has views."
    )


@pytest.mark.long
def test_versions_are_those_of_a_view(project: DryProject) -> None:
    found = status(project, layout="table", keep_versions=3)
    assert found["error"] == (
        "keep_versions needs a view, and layout is table. Leave out keep_versions, or use layout view in a catalog "
        "that has views."
    )
    assert status(project, keep_versions=3)["state"] == "new"
    assert status(project, keep_versions=0)["error"] == "keep_versions is 0. Give a number of versions from 1 to 1,000."


def test_a_catalog_without_views(project: DryProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PyIcebergReader, "has_views", False)
    assert status(project)["state"] == "new"
    assert "the catalog lake offers no views" in status(project, layout="view")["error"]
    error = status(project, stale_read_behavior="fail")["error"]
    assert "needs a view, and its catalog has no views, so that layout is table. " in error
