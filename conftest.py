"""What holds for tests/ and integration/ alike."""

from __future__ import annotations

from tests.support.scratch import keep_in_memory


def pytest_configure() -> None:
    """Choose where temporary folders are, before pytest makes the first one."""
    keep_in_memory()
