"""The release of Spark that computes rows."""

from __future__ import annotations

import pyspark
import pytest

from dbt.adapters.icebergmv.spark.release import installed_release, release_of


@pytest.mark.parametrize(("version", "release"), [("4.0.1", "4.0"), ("4.1.0-amzn-0", "4.1"), ("4.1", "4.1")])
def test_the_release_of_a_version(version: str, release: str) -> None:
    assert release_of(version) == release


def test_the_release_in_this_process() -> None:
    assert pyspark.__version__.startswith(f"{installed_release()}.")
