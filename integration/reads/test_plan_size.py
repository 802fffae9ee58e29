"""The plan of a stitched view grows with its base tables, and no faster: Spark plans what was found out once.

Times are noisy; lines of the physical plan and jobs are not. A scalar subquery counts at each place that reads it.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from benchmarks.parts.plan_size import PlanSize, plan_size
from integration.support.lake import LakeProject
from integration.support.stitched import take_tables_for

FIRST = "timestamp'2024-01-01 00:00:00'"


# By days only the first table gives keys; by a column all do, and each read of a table holds a copy of what finds them.
SHAPES = {"days": ("days(at)", "date(t0.at)", "date({}.at)"), "column": ("d", "t0.d", "{}.d")}
# The most lines of a plan and jobs, by the number of base tables: of a read while all is fresh, and when a row came.
MOST = {
    ("days", "large"): (
        {1: (350, 12), 2: (1000, 14), 4: (1700, 14), 8: (3700, 14)},
        {1: (520, 14), 2: (1350, 18), 4: (2150, 20), 8: (4300, 24)},
    ),
    ("days", "small"): (
        {1: (190, 9), 2: (540, 10), 4: (1100, 10), 8: (2800, 10)},
        {1: (300, 11), 2: (775, 14), 4: (1410, 16), 8: (3270, 20)},
    ),
    ("column", "small"): (
        {1: (190, 9), 2: (580, 12), 4: (1780, 18), 8: (6100, 30)},
        {1: (300, 11), 2: (780, 15), 4: (2120, 23), 8: (6700, 39)},
    ),
}


@pytest.fixture(
    scope="module",
    params=[(*case, most) for most in (4, 8) for case in MOST],
)
def sizes(users_lake: LakeProject, request: pytest.FixtureRequest) -> tuple[tuple[str, str], list[dict[int, PlanSize]]]:
    """Return the sizes of fresh and of stale reads of joins, by the number of base tables: 1, 2, 4, or also 8."""
    lake, (shape, size, most) = users_lake, request.param
    partition, first, other = SHAPES[shape]
    schema, bases = f"{shape}_{size}_{most}", [n for n in (1, 2, 4, 8) if n <= most]
    tables = [f"lake.{lake.schema}.facts_{schema}_{n}" for n in range(most)]
    lake.at_once(
        f"CREATE TABLE {table} USING iceberg PARTITIONED BY ({partition}) AS SELECT id, CAST(id % 10 AS INT) AS d, {FIRST}"
        " + make_dt_interval(CAST(id % 10 AS INT)) AS at, id % 7 AS v FROM range(100)"
        for table in tables
    )
    for number in bases:
        joins = "".join(
            f" JOIN {tables[n]} t{n} ON {first} = {other.format(f't{n}')} AND t0.id = t{n}.id" for n in range(1, number)
        )
        values = ", ".join(f"t{n}.v AS v{n}" for n in range(number))
        sql = f"SELECT {first} AS d, t0.id, {values} FROM {tables[0]} t0{joins}"
        lake.model(f"joined_{schema}_{number}", sql, stale_read_behavior="use_stitching")
    with pytest.MonkeyPatch.context() as patched:
        take_tables_for(size, patched)
        lake.run()
    fresh = {n: _size(lake, f"joined_{schema}_{n}", "fresh") for n in bases}
    lake.sql(f"INSERT INTO {tables[0]} VALUES (1, 0, {FIRST}, 100)")
    return (shape, size), [fresh, {n: _size(lake, f"joined_{schema}_{n}", "stale") for n in bases}]


def _size(lake: LakeProject, view: str, state: str) -> PlanSize:
    size = plan_size(lake.view(view), f"{state} {view}")
    assert size.rows >= 100
    return size


@pytest.mark.long
def test_the_plan_grows_with_the_tables(sizes: tuple[tuple[str, str], list[dict[int, PlanSize]]]) -> None:
    case, found = sizes
    for state, most in zip(found, MOST[case], strict=True):
        assert all(size.lines <= most[number][0] for number, size in state.items()), state
        assert all(size.jobs <= most[number][1] for number, size in state.items()), state


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


@pytest.mark.long
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
