"""How stored rows are replaced in tests: all written anew, as in a table of many small files, or deleted and inserted."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.planning import write


def take_storage_for_scattered(patch: pytest.MonkeyPatch) -> None:
    """Let refreshes from now on take every storage table without partitions for one of few rows in many files."""
    patch.setattr(write, "MOST_FILES", -1)
