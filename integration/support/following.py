"""A change of the tables, and how the views over them have to follow."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import pytest

from integration.support.lake import LakeProject

Change = tuple[Sequence[str], Mapping[str, str]]
"""Statements over `{table}` names, and the kinds of refresh that some views must have after them."""

T = TypeVar("T")

CUSTOMERS = (
    "TBLPROPERTIES ('write.metadata.metrics.default'='none') AS SELECT * FROM VALUES "
    "(1, 'DE'), (2, 'FR'), (3, 'US'), (4, cast(null as string)), (5, 'FR') AS c(id, country)"
)
"""A small table without column bounds, so that nothing but its rows says what a change reaches; for `built`."""


def built(
    lake: LakeProject, prefix: str, tables: Mapping[str, str], views: Mapping[str, str], only: Collection[str]
) -> dict[str, str]:
    """Make tables, each given by what follows `USING iceberg`, and build some of the views; return the tables' names."""
    names = {name: f"lake.{lake.schema}.{prefix}{name}" for name in tables}
    for name, content in tables.items():
        lake.sql(f"CREATE TABLE {names[name]} USING iceberg {content}")
    for view in only:
        lake.model(view, views[view].format(**names))
    lake.run("--select", *only)
    return names


def filled(
    lake: LakeProject, prefix: str, tables: Mapping[str, tuple[str, str]], partitioned: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Make tables, each given by its columns and rows, and some by a partitioning too; return their names."""
    names = {name: f"lake.{lake.schema}.{prefix}{name}" for name in tables}
    for name, (columns, rows) in tables.items():
        lake.sql(f"CREATE TABLE {names[name]} ({columns}) USING iceberg {(partitioned or {}).get(name, '')}")
        lake.sql(f"INSERT INTO {names[name]} VALUES {rows}")
    return names


def in_turn(changes: Iterable[T], first: int) -> list[Any]:
    """Return changes, or their names, as parameters of a test; all but the first few are for `make long`."""
    return [_parameter(n, one, n >= first) for n, one in enumerate(changes)]


def except_later(changes: Iterable[T], later: Collection[T]) -> list[Any]:
    """Return changes, or their names, as parameters of a test; those that come `later` are for `make long`."""
    return [_parameter(n, one, one in later) for n, one in enumerate(changes)]


def _parameter(number: int, one: object, is_later: bool) -> Any:
    name = one if isinstance(one, str) else str(number)
    return pytest.param(one, id=name, marks=[pytest.mark.long] if is_later else [])


def among(change: Change, views: Collection[str]) -> Change:
    """Return a change with what is said of some of the views alone."""
    statements, kinds = change
    return statements, {name: kind for name, kind in kinds.items() if name in views}


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
