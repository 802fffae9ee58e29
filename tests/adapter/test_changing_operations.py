"""The operations that change something, as far as they only look: in a project without any Java."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.refresh.refreshes import ORDERS, sell
from tests.support.dry_project import DryProject
from tests.support.shares import one_of

pytestmark = pytest.mark.slow

TOTALS = "select region, sum(amount) as total from lake.ns.orders group by region"
COLUMNS = (("region", "string"), ("total", "bigint"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DryProject]:
    folder = tmp_path_factory.mktemp("operations")
    made = DryProject(folder / "project")
    made.table("orders", ORDERS, "region")
    sell("EU", "US")({"orders": made.lake.iceberg.load_table("ns.orders")})
    made.model("totals", TOTALS)
    made.model("new", TOTALS)
    made.refresh("totals", TOTALS, COLUMNS)
    with pytest.MonkeyPatch.context() as without_java:
        # Whoever starts Spark all the same fails.
        without_java.setenv("JAVA_HOME", str(folder / "no java"))
        yield made
    made.close()


def found(project: DryProject, name: str, arguments: str) -> list[dict[str, Any]]:
    """Return what an operation says in JSON."""
    success, text = project.operation(name, f"{{format: json, {arguments}}}")
    assert success, text
    answer: list[dict[str, Any]] = json.loads(text)
    return answer


@pytest.mark.long
def test_a_dry_run_of_the_upkeep(project: DryProject) -> None:
    by_name = {view["name"]: view for view in found(project, "maintain_materialized_views", "dry_run: true")}
    assert by_name["lake.ns.new"]["error"] == "it is not built."
    assert (by_name["lake.ns.totals"]["data_files"], by_name["lake.ns.totals"]["error"]) == (1, None)
    assert len(found(project, "maintain_materialized_views", "dry_run: true, select: totals")) == 1
    assert project.operation("maintain_materialized_views", "{dry_run: true}")[1].startswith("Nothing was changed")


def test_the_versions_of_a_view(project: DryProject) -> None:
    (version,) = found(project, "rollback_materialized_view", "model: totals")
    assert (version["refresh_kind"], version["obstacle"]) == ("full", "the view has its rows now")
    assert "VERSION  PUBLISHED" in project.operation("rollback_materialized_view", "{model: totals}")[1]


def test_orphans(project: DryProject) -> None:
    project.refresh("old", TOTALS, COLUMNS)
    assert found(project, "drop_orphaned_storage_tables", "older_than: 0 seconds") == []
    del project.lake.views["old"]
    (orphan,) = found(project, "drop_orphaned_storage_tables", "older_than: 0 seconds")
    assert (orphan["name"], orphan["kept"]) == ("lake.ns.__mv_storage__old", None)


@pytest.mark.parametrize(
    ("name", "arguments"),
    one_of(
        3,
        [
            ("maintain_materialized_views", "{dry_run: 1}"),
            ("maintain_materialized_views", "{select: nothing}"),
            ("maintain_materialized_views", "{older_than: soon, dry_run: true}"),
            ("rollback_materialized_view", "{model: nothing}"),
            ("rollback_materialized_view", "{model: '*'}"),
            ("rollback_materialized_view", "{model: totals, to: yesterday}"),
            ("rollback_materialized_view", "{model: totals, to: 9}"),
            ("rollback_materialized_view", "{model: new}"),
            ("drop_orphaned_storage_tables", "{dry_run: 'no'}"),
            ("drop_orphaned_storage_tables", "{format: xml}"),
        ],
    ),
)
def test_what_is_refused(project: DryProject, name: str, arguments: str) -> None:
    assert not project.operation(name, arguments)[0]


def test_a_view_that_is_not_built_is_named(project: DryProject) -> None:
    _, said = project.operation("rollback_materialized_view", "{model: new}")
    assert "Cannot roll back lake.ns.new: it is not a materialized view of the catalog. Run dbt first." in said
