"""One DuckDB for all randomised tests."""

from __future__ import annotations

import pytest

from tests.randomised.database import Database


@pytest.fixture(scope="session")
def database() -> Database:
    return Database()
