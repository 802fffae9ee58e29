"""docs/connections.md: its profiles are ones that the adapter accepts. `integration/connections/` runs such ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.docs_profiles import docs_profiles
from tests.support.profiles import credentials_of

PROFILES = docs_profiles(Path(__file__).parents[2] / "docs" / "connections.md")
PLACES = {
    "Session": "Spark in this process",
    "Spark Connect": "the Spark Connect server at spark.example.com:15002",
    "Spark Thrift server": "the Spark Thrift server at spark.example.com:10000",
}


def test_every_way_has_its_profile() -> None:
    assert sorted(PROFILES) == sorted(PLACES)


@pytest.mark.parametrize("heading", PLACES)
def test_profile_is_accepted(heading: str) -> None:
    profile = yaml.safe_load(PROFILES[heading])
    given: dict[str, Any] = profile["shop"]["outputs"][profile["shop"]["target"]]
    assert (given.pop("type"), given.pop("threads")) == ("icebergmv", 4)
    assert credentials_of(given).spark_place() == PLACES[heading]
