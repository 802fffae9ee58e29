"""One Hypothesis profile for every machine (no deadline, the same examples at every run), and catalogs to use."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from pyiceberg.catalog.sql import SqlCatalog

from tests.refresh.refreshes import Stage
from tests.support.filed_lake import FiledLake

settings.register_profile(
    "engine",
    deadline=None,
    derandomize=True,
    max_examples=60,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("engine")


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the modules and tests that are there until the end: a seventh of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlCatalog]:
    folder: Path = tmp_path_factory.mktemp("warehouse")
    made = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=folder.as_uri())
    made.create_namespace("ns")
    yield made
    made.close()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """Base tables of a test's own, and the refreshes that it plays on them."""
    made = Stage(tmp_path)
    yield made
    made.close()


@pytest.fixture
def filed_lake(tmp_path: Path) -> Iterator[FiledLake]:
    """A catalog of a test's own, with views."""
    made = FiledLake(tmp_path)
    yield made
    made.close()
