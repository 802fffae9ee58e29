"""A change of the tables, and how the views over them have to follow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from integration.support.lake import LakeProject

Change = tuple[Sequence[str], Mapping[str, str]]
"""Statements over `{table}` names, and the kinds of refresh that some views must have after them."""


def assert_follows(
    lake: LakeProject, tables: Mapping[str, str], change: Change, views: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Make a change and refresh the views; each must be its SELECT, and refreshed as said. Return their responses."""
    statements, kinds = change
    for statement in statements:
        lake.sql(statement.format(**tables))
    found = lake.run("--select", *views)
    lake.assert_equals_definition(*views)
    assert {name: found[name]["refresh_kind"] for name in kinds} == kinds, {
        name: found[name]["refresh_reason"] for name in kinds
    }
    return found
