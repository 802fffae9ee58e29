"""What generic tests that cannot be made do to commands that only compile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.dry_project import DryProject
from tests.support.shares import one_of

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DryProject]:
    # Whoever starts Spark all the same fails.
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no java"))
    made = DryProject(tmp_path / "project")
    yield made
    made.close()


NOT_MADE = [
    ({}, "its model has no target_lag."),
    ({"config": {"where": "id = 1"}}, "materialized_view_is_fresh takes no"),
]


@pytest.mark.parametrize(("settings", "said"), one_of(2, NOT_MADE))
def test_a_freshness_test_that_cannot_be_made_stops_no_compilation(
    project: DryProject, settings: dict[str, object], said: str
) -> None:
    project.model("totals", "{{ config(materialized='materialized_view') }} select 1 as id")
    properties = {"models": [{"name": "totals", "data_tests": [{"materialized_view_is_fresh": settings}]}]}
    (project.folder / "models" / "totals.yml").write_text(yaml.safe_dump(properties))
    assert project.command("compile")[0]
    (file,) = (project.folder / "target" / "compiled").rglob("materialized_view_is_fresh_totals_.sql")
    assert "SELECT raise_error('" in file.read_text()
    assert said in file.read_text()
