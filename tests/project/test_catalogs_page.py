"""docs/catalogs.md: its profiles are ones that the adapter accepts. `integration/catalogs/` runs them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.docs_profiles import docs_profiles
from tests.support.profiles import credentials_of

PAGE = Path(__file__).parents[2] / "docs" / "catalogs.md"
PROFILES = docs_profiles(PAGE)
DRIVERS = {
    "SQLite": ("sqlite",),
    "PostgreSQL": ("postgresql",),
    "REST": (),
    "Hive metastore": (),
    "S3": ("postgresql", "s3"),
}


def target(heading: str) -> dict[str, Any]:
    profile = yaml.safe_load(re.sub(r"\{\{ env_var\('(\w+)'\) \}\}", r"value of \1", PROFILES[heading]))
    found: dict[str, Any] = profile["shop"]["outputs"][profile["shop"]["target"]]
    return found


def test_every_section_has_its_profile() -> None:
    assert sorted(PROFILES) == sorted(DRIVERS)


@pytest.mark.parametrize("heading", DRIVERS)
def test_profile_is_accepted(heading: str) -> None:
    given = target(heading)
    assert (given.pop("type"), given.pop("threads")) == ("icebergmv", 4)
    made = credentials_of(given)
    settings = made.catalog_settings("lake")
    assert settings.drivers == DRIVERS[heading]
    assert settings.supports_views


@pytest.mark.parametrize("heading", DRIVERS)
def test_nothing_secret_is_written_down(heading: str) -> None:
    secret = re.compile(
        r"^\s*(?:[\w.-]*(?:password|credential|token|key-id|access-key)): (?!\"\{\{ env_var)", re.MULTILINE
    )
    assert secret.findall(PROFILES[heading]) == []
