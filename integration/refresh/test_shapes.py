"""Every shape of a SELECT, with a change in one partition of many: right, incremental, and reading little."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from integration.support.lake import LakeProject
from integration.support.shapes import (
    FILES_OF_A_PARTITION,
    LINEAR,
    ROUNDS,
    ROWS,
    SHAPES,
    TABLES,
    changed_tables,
    creation,
)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def tables(users_lake: LakeProject) -> dict[str, str]:
    lake = users_lake
    names = {name: f"lake.{lake.schema}.{name}" for name in TABLES}
    lake.at_once(creation(table, name) for table, name in names.items())
    lake.at_once(f"INSERT INTO {name} {ROWS[table]}" for table, name in names.items())
    for shape, sql in SHAPES.items():
        lake.model(shape, sql.format(**names))
    lake.run()
    return names


@pytest.mark.parametrize("change", ROUNDS)
def test_change_in_one_partition(lake: LakeProject, tables: dict[str, str], change: str) -> None:
    for statement in ROUNDS[change]:
        lake.sql(statement.format(**tables))
    before = last_execution()
    shapes = [s for s in SHAPES if any(f"{{{table}}}" in SHAPES[s] for table in changed_tables(change))]
    responses = lake.run("--select", *shapes)
    read = read_files(before)
    most = {table: max(files for t, files in read if t == table) for table, _ in read}
    kinds = {shape: responses[shape]["refresh_kind"] for shape in shapes}
    added = change == "insert of one row"
    expected = {s: "append" if added and s in LINEAR and kinds[s] != "none" else "overwrite" for s in shapes}
    assert {s: k for s, k in kinds.items() if k not in ("none", expected[s])} == {}
    assert "none" not in kinds.values()
    assert {table: files for table, files in most.items() if files > 2 * FILES_OF_A_PARTITION} == {}
    lake.assert_equals_definition(*shapes)


def last_execution() -> int:
    executions = SparkSession.active()._jsparkSession.sharedState().statusStore().executionsList()
    return max(int(executions.apply(i).executionId()) for i in range(executions.size()))


def read_files(since: int) -> list[tuple[str, int]]:
    """Return, for every scan of a base table with partitions since then, the table and the data files it took."""
    store = SparkSession.active()._jsparkSession.sharedState().statusStore()
    executions, found = store.executionsList(), []
    for execution_id in (executions.apply(i).executionId() for i in range(executions.size())):
        if execution_id <= since:
            continue
        values, nodes = store.executionMetrics(execution_id), store.planGraph(execution_id).allNodes()
        for node in (nodes.apply(n) for n in range(nodes.size())):
            table = node.name().rsplit(".", 1)[-1]
            if not node.name().startswith("BatchScan") or TABLES.get(table, ("", None))[1] is None:
                continue
            metrics = (node.metrics().apply(m) for m in range(node.metrics().size()))
            (files,) = [m for m in metrics if m.name() == "number of result data files"]
            value = values.get(files.accumulatorId())
            found.append((table, int(value.get().replace(",", "")) if value.isDefined() else 0))
    assert found
    return found
