"""The text of a stitched view, taken apart, and how large the tables below it count."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest

from dbt.adapters.icebergmv.maintenance.stitching import small_tables

TableSize = Literal["small", "large"]

_ARMS = re.compile(r"\)\nSELECT .*", re.DOTALL)


def relations_of(text: str) -> str:
    """Return the WITH of the text, without the SELECT that follows: a query of its relations can be put behind it."""
    return _ARMS.sub(")", text, count=1)


def stale_keys(run: Callable[[str], Sequence[Any]], text: str) -> tuple[int, ...]:
    """Return how many stale keys a read finds, for each group of keys; and last, whether it computes everything."""
    head = relations_of(text)
    groups = sorted(set(re.findall(r"icebergmv_keys_\d+", head)))
    counts = ", ".join(f"(SELECT count(*) FROM {name})" for name in (*groups, "icebergmv_whole"))
    (row,) = run(f"{head}\nSELECT {counts}")
    return tuple(row)


def take_tables_for(size: TableSize, patch: pytest.MonkeyPatch) -> None:
    """Let texts that are made from now on read all base tables as small or as large ones, whatever their files."""
    patch.setattr(small_tables, "UNPRUNED_FILES", {"small": 1000, "large": -1}[size])
