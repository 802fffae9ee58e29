"""docs/catalog-reader.md: its profile is one that the adapter accepts, and it names every way to read."""

from __future__ import annotations

from pathlib import Path

import yaml

from dbt.adapters.icebergmv.credentials import READERS
from tests.support.docs_profiles import docs_profiles
from tests.support.profiles import credentials_of

PAGE = Path(__file__).parents[2] / "docs" / "catalog-reader.md"


def test_profile_is_accepted() -> None:
    (text,) = docs_profiles(PAGE).values()
    target = yaml.safe_load(text)["shop"]["outputs"]["dev"]
    assert (target.pop("type"), target.pop("threads")) == ("icebergmv", 4)
    made = credentials_of(target)
    assert (made.catalog_reader, made.catalog_settings("lake").pyiceberg) == ("auto", {})


def test_every_way_to_read_is_in_the_table() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == ["catalog_reader", *READERS]
