"""What the tests of a module ask for, so that one dbt run can prepare all of it."""

from __future__ import annotations

import pytest


def names_of_tests(request: pytest.FixtureRequest, fixture: str) -> list[str]:
    """Return the names of the collected tests of the requesting module that use a fixture."""
    items = (item for item in request.session.items if isinstance(item, pytest.Function))
    return [item.name for item in items if item.module is request.module and fixture in item.fixturenames]
