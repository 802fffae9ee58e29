"""Real Spark, a real catalog: one Spark and one warehouse for the whole pytest process."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.factory import reset_adapters
from dbt_common.behavior_flags import BehaviorFlagRendered

from dbt.adapters.icebergmv.maintenance.planning.choice import last_refreshes
from dbt.adapters.icebergmv.maintenance.planning.cost import cost
from integration.support.lake import HadoopLakeProject, LakeProject
from integration.support.local_files import set_permissions_in_java
from integration.support.spark_settings import SPARK, as_users_run_it, settings_of_the_session
from integration.support.stitched import take_tables_for

pytest_plugins = ["dbt.tests.fixtures.project"]

# Two processes end together when they take the longest files first; the others follow in the order of their names.
LONGEST_FIRST = (
    "dbt/test_process.py",
    "catalogs/test_life_cycle.py",
    "refresh/test_shapes.py",
    "randomised/test_randomised.py",
    "refresh/test_transforms.py",
    "refresh/test_commit_protocol.py",
    "reads/test_stale_read_settings.py",
    "refresh/test_history.py",
    "reads/test_read_materialized_view.py",
    "reads/test_reader_windows.py",
    "reads/test_stitching.py",
    "refresh/test_scenarios.py",
    "parity/test_tpch_views.py",
    "refresh/test_views.py",
    "dbt/test_incremental.py",
    "reads/test_outside_reader.py",
    "reads/test_stitched_shapes.py",
    "parity/test_presto_set_operations.py",
    "parity/test_trino_cases.py",
    "parity/test_presto_aggregates.py",
)
HERE = Path(__file__).parent
VERSIONS_SHOWN = ("dbt-core", "dbt-spark", "dbt-tests-adapter", "pyspark", "pyiceberg", "sqlglot")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--lake", choices=["sqlite", "hadoop"], default="sqlite", help="the catalog of the lake of tests")


def pytest_configure(config: pytest.Config) -> None:
    """Show warnings instead of failing: Spark, Py4J and dbt raise their own, which this project cannot mend."""
    for line in ("default", "ignore::pytest.PytestRemovedIn10Warning"):
        config.addinivalue_line("filterwarnings", line)
    config.option.loadscopereorder = False
    set_permissions_in_java()


def pytest_report_header() -> str:
    return ", ".join(f"{name} {version(name)}" for name in VERSIONS_SHOWN)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {HERE / file: number for number, file in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """Let questions and refreshes take their time: which plan a test sees must not depend on how fast a machine is."""
    with pytest.MonkeyPatch.context() as patched:
        for limit in ("COLD_SECONDS_ASKED", "SECONDS_ASKED", "LEAST_SECONDS_ASKED"):
            patched.setattr(cost, limit, 600.0)
        patched.setattr(cost, "SECONDS_A_QUERY", 0.0)
        patched.setattr(last_refreshes, "LONGER", 600.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def large_tables() -> Iterator[None]:
    """Let stitched views leave out files of the small tables of tests, as they do of large ones."""
    with pytest.MonkeyPatch.context() as patched:
        take_tables_for("large", patched)
        yield


@pytest.fixture(scope="session", autouse=True)
def sources_of_flags() -> Iterator[None]:
    """Name no module as the source of dbt's behaviour flags.

    Every dbt command looks for it in all frames of the stack, which takes a third of a second in a deep one.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(BehaviorFlagRendered, "_default_source", staticmethod(lambda: "integration"))
        yield


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A space and an accent, as in many a home folder.
    return tmp_path_factory.mktemp("lager haus é") / "warehouse"


@pytest.fixture(scope="class")
def dbt_profile_target(lake_target: dict[str, Any]) -> dict[str, Any]:
    return dict(lake_target)


@pytest.fixture(scope="session")
def lake_target(warehouse: Path) -> dict[str, Any]:
    """The target of the profile of dbt's suites; dbt adds a schema for each class."""
    return {
        "type": "icebergmv",
        "method": "session",
        "catalog": "lake",
        "warehouse": str(warehouse),
        "threads": 4,
        "server_side_parameters": SPARK,
    }


@pytest.fixture(scope="module")
def lake(
    request: pytest.FixtureRequest, warehouse: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LakeProject]:
    """A dbt project of the test module's own, in a schema of its own; Spark is started if it does not run yet."""
    name = request.module.__name__.rsplit(".", 1)[-1]
    target = {
        "type": "icebergmv",
        "method": "session",
        "catalog": "lake",
        "schema": f"mv_{name}",
        "threads": 2,
        "server_side_parameters": SPARK,
    }
    folder = tmp_path_factory.mktemp(name) / "project"
    if request.config.getoption("--lake", "sqlite") == "hadoop":
        place = {"type": "hadoop", "warehouse": str(warehouse)}
        made: LakeProject = HadoopLakeProject(folder, {**target, "catalog_properties": place})
    else:
        made = LakeProject(folder, {**target, "warehouse": str(warehouse)})
    assert made.dbt("debug").success
    made.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.`{target['schema']}`")
    before = settings_of_the_session()
    yield made
    assert settings_of_the_session() == before, "a test must give the session its settings back"
    # `dbt debug` registers an adapter that knows its profile alone; dbt's own fixtures would take it over.
    reset_adapters()


@pytest.fixture(scope="module")
def users_lake(lake: LakeProject) -> Iterator[LakeProject]:
    """The lake, with Spark as the product's users run it."""
    with as_users_run_it():
        yield lake
