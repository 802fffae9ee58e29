"""The plan of a stitched view grows with its base tables, and no faster: Spark plans what was found out once.

Times are noisy; lines of the physical plan and jobs are not. A scalar subquery counts at each place that reads it.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from benchmarks.parts.plan_size import PlanSize, plan_size
from integration.support.lake import LakeProject

FIRST = "timestamp'2024-01-01 00:00:00'"


@pytest.fixture(scope="module", params=[4, pytest.param(8, marks=pytest.mark.long)])
def sizes(users_lake: LakeProject, request: pytest.FixtureRequest) -> dict[str, dict[int, PlanSize]]:
    """Return the sizes of fresh and of stale reads of joins, by the number of base tables: 1, 2, 4, or also 8."""
    lake, bases = users_lake, [n for n in (1, 2, 4, 8) if n <= request.param]
    tables = [f"lake.{lake.schema}.facts_{n}_of_{max(bases)}" for n in range(max(bases))]
    lake.at_once(
        f"CREATE TABLE {table} USING iceberg PARTITIONED BY (days(at)) AS SELECT id, {FIRST} + "
        "make_dt_interval(CAST(id % 10 AS INT)) AS at, id % 7 AS v FROM range(100)"
        for table in tables
    )
    for number in bases:
        joins = "".join(
            f" JOIN {tables[n]} t{n} ON date(t0.at) = date(t{n}.at) AND t0.id = t{n}.id" for n in range(1, number)
        )
        values = ", ".join(f"t{n}.v AS v{n}" for n in range(number))
        sql = f"SELECT date(t0.at) AS d, t0.id, {values} FROM {tables[0]} t0{joins}"
        lake.model(f"joined_{number}", sql, stale_read_behavior="use_stitching")
    lake.run()
    found = {"fresh": {n: _size(lake, n, f"fresh of {max(bases)}") for n in bases}}
    lake.sql(f"INSERT INTO {tables[0]} VALUES (1, {FIRST}, 100)")
    return {**found, "stale": {n: _size(lake, n, f"stale of {max(bases)}") for n in bases}}


def _size(lake: LakeProject, number: int, state: str) -> PlanSize:
    size = plan_size(lake.view(f"joined_{number}"), f"{state}_{number}")
    assert size.rows >= 100
    return size


@pytest.mark.parametrize(("state", "lines", "jobs"), [("fresh", 500, 12), ("stale", 700, 15)])
def test_the_plan_grows_with_the_tables(
    sizes: dict[str, dict[int, PlanSize]], state: str, lines: int, jobs: int
) -> None:
    found = sizes[state]
    assert all(size.lines <= lines * number for number, size in found.items()), found
    assert all(size.jobs <= jobs + number for number, size in found.items()), found
    assert found[max(found)].lines <= 2.2 * found[max(found) // 2].lines


@pytest.fixture(scope="module")
def chain(users_lake: LakeProject) -> list[str]:
    """Return stitched views, each over the one before it; the first is over a table."""
    lake = users_lake
    table = f"lake.{lake.schema}.chained"
    lake.at_once(
        [
            f"CREATE TABLE {table} USING iceberg PARTITIONED BY (days(at)) AS SELECT id, {FIRST} + "
            "make_dt_interval(CAST(id % 10 AS INT)) AS at, id % 7 AS v FROM range(100)"
        ]
    )
    names = [f"link_{n}" for n in range(4)]
    lake.model(names[0], f"SELECT date(at) AS d, id, v FROM {table}", stale_read_behavior="use_stitching")
    for below, name in pairwise(names):
        below_it = "{{ ref('" + below + "') }}"
        lake.model(name, f"SELECT d, id, v + 1 AS v FROM {below_it}", stale_read_behavior="use_stitching")
    lake.run()
    lake.sql(f"INSERT INTO {table} VALUES (1000, {FIRST}, 100)")
    return names


def test_views_over_stitched_views_are_planned_once(users_lake: LakeProject, chain: list[str]) -> None:
    """A view above reads the SELECT of the one below, and looks at the same table by itself."""
    found = [plan_size(users_lake.view(name), name) for name in chain]
    assert [size.rows for size in found] == [101] * len(chain)
    for above in found[1:]:
        assert above.lines <= found[0].lines + 20, found
        assert above.jobs <= found[0].jobs + 1, found


def test_views_over_the_same_table_look_at_it_once_in_a_query(users_lake: LakeProject) -> None:
    """Refreshed by one run, they ask the same of its metadata; Spark runs equal scalar subqueries once."""
    lake, names = users_lake, [f"twin_{n}" for n in range(3)]
    table = f"lake.{lake.schema}.of_twins"
    lake.sql(
        f"CREATE TABLE {table} USING iceberg PARTITIONED BY (days(at)) AS SELECT id, {FIRST} + "
        "make_dt_interval(CAST(id % 10 AS INT)) AS at FROM range(100)"
    )
    for n, name in enumerate(names):
        sql = f"SELECT date(at) AS d, id + {n} AS v FROM {table}"
        lake.model(name, sql, stale_read_behavior="use_stitching")
    lake.run("--select", *names)
    lake.sql(f"INSERT INTO {table} VALUES (1000, {FIRST})")
    together = " UNION ALL ".join(f"SELECT * FROM {lake.view(name)}" for name in names)
    lake.sql(f"CREATE OR REPLACE TEMPORARY VIEW twins AS {together}")
    one, three = plan_size(lake.view(names[0]), "one twin"), plan_size("twins", "three twins")
    assert three.rows == 3 * one.rows
    assert three.jobs <= one.jobs + 2, (one, three)
