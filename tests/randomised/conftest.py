"""One DuckDB for all randomised tests, and one that breaks ties at random."""

from __future__ import annotations

import pytest

from tests.randomised.database import Database
from tests.randomised.ties import TiesAtRandom


@pytest.fixture(scope="session")
def database() -> Database:
    return Database()


@pytest.fixture(scope="session")
def ties() -> TiesAtRandom:
    return TiesAtRandom()
