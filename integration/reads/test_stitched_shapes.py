"""Every shape of a SELECT, read stitched after a change in one partition of many: right, and reading little."""

from __future__ import annotations

import os

import pytest

from integration.support.lake import LakeProject
from integration.support.shapes import ROUNDS, ROWS, SHAPES, TABLES, changed_tables, creation

# Spark fails on a correlated subquery in the SELECT list over a UNION ALL.
NOT_STITCHED = {"scalar_subquery"}
# All of them with STITCHED_SHAPES=all; one of a kind otherwise.
FEW = (
    "full_join_using",
    "cte_used_twice",
    "in_subquery",
    "date_trunc_key",
    "scalar_subquery",
)


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    names = {table: f"lake.{lake.schema}.{table}" for table in TABLES}
    lake.at_once(creation(table, name) for table, name in names.items())
    lake.at_once(f"INSERT INTO {name} {ROWS[table]}" for table, name in names.items())
    for shape in chosen():
        lake.model(shape, SHAPES[shape].format(**names), stale_read_behavior="use_stitching")
    lake.run()
    return names


def chosen() -> list[str]:
    return [*SHAPES] if os.environ.get("STITCHED_SHAPES") == "all" else [s for s in FEW if s in SHAPES]


@pytest.mark.parametrize("change", [pytest.param(r, marks=() if "insert" in r else pytest.mark.long) for r in ROUNDS])
def test_change_in_one_partition(lake: LakeProject, tables: dict[str, str], change: str) -> None:
    for statement in ROUNDS[change]:
        lake.sql(statement.format(**tables))
    shapes = [s for s in chosen() if any(f"{{{table}}}" in SHAPES[s] for table in changed_tables(change))]
    lake.assert_equals_definition(*shapes)


def test_every_shape_is_stitched(lake: LakeProject, tables: dict[str, str]) -> None:
    texts = {}
    for shape in chosen():
        view = lake.reader().view(lake.schema, shape)
        assert view is not None
        texts[shape] = view.sql
    assert [shape for shape, sql in texts.items() if "icebergmv_keys_0" not in sql] == [
        s for s in chosen() if s in NOT_STITCHED
    ]
