"""How large the storage tables of tests count: rows are written anew in small ones, deleted and inserted in large ones."""

from __future__ import annotations

from typing import Literal

import pytest

from dbt.adapters.icebergmv.maintenance.planning import write


def take_storage_for(size: Literal["small", "large"], patch: pytest.MonkeyPatch) -> None:
    """Let refreshes from now on write into storage tables as into small or large ones, whatever their files."""
    patch.setattr(write, "SMALL_BYTES", {"small": 1 << 40, "large": -1}[size])
