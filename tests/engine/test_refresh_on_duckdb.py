"""The guarantee, end to end on DuckDB: what an incremental refresh leaves is the definition, as a bag.

Random SELECTs over one partitioned table, random changes of its rows (NULLs, rows that move, rows on the edges of
partitions). Planners that are wrong on purpose must be caught by the same check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import pytest
from hypothesis import Phase, assume, event, find, given, settings
from hypothesis import strategies as st

from dbt.adapters.icebergmv.maintenance.domain import Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.planner import PlanRequest, RefreshPlan, plan_refresh
from dbt.adapters.icebergmv.maintenance.references import splice
from dbt.adapters.icebergmv.maintenance.rules.relation import Occurrence
from dbt.adapters.icebergmv.maintenance.sql import Dialect, disjunction
from dbt.adapters.icebergmv.maintenance.transforms import MICROS_PER_DAY, MICROS_PER_HOUR, days_from_civil

from .bases import SPARK_TYPES, Row, Spec, analysed, base_status, change, partition_of, partition_rows, status
from .duck import to_duckdb

DEFINITIONS = [
    "SELECT * FROM t",
    "SELECT id, region AS r, CAST(ts AS date) AS k FROM t WHERE v > 0",
    "SELECT x.v AS k, x.* EXCLUDE (v) FROM t AS x WHERE x.region IS NULL OR x.v <> 3",
    "SELECT DISTINCT CAST(ts AS date) AS k, region FROM t",
    "SELECT DISTINCT d, v FROM t WHERE id > 1",
    "SELECT CAST(ts AS date) AS k, count(*) AS c, sum(v) AS s FROM t GROUP BY CAST(ts AS date)",
    "SELECT date_trunc('month', ts) AS k, region, count(*) AS c FROM t GROUP BY 1, 2",
    "SELECT date_trunc('hour', ts) AS k, max(id) AS m FROM t GROUP BY ALL",
    "SELECT year(ts) AS k, max(v) AS m, count(region) AS c FROM t GROUP BY 1",
    "SELECT year(d) AS k, min(ts) AS m FROM t GROUP BY d",
    "SELECT region AS k, count(*) AS c, min(ts) AS m FROM t GROUP BY region HAVING count(*) > 1",
    "SELECT v, count(DISTINCT region) AS c FROM t GROUP BY v",
    "WITH a AS (SELECT CAST(ts AS date) AS k, v FROM t) SELECT year(k) AS y, k, count(*) AS c FROM a GROUP BY k",
    "SELECT k, count(*) AS c FROM (SELECT date_trunc('week', ts) AS k, v FROM t WHERE region <> 'a') GROUP BY k",
    "SELECT CAST(ts AS date) AS ts, count(*) AS c FROM t GROUP BY ts",
    "SELECT date_trunc('quarter', d) AS q, d, region, sum(v) AS s FROM t GROUP BY d, region",
    "SELECT id, v FROM t WHERE d IS NULL",
]
SPECS: list[Spec] = [
    [("day", "ts")],
    [("month", "ts")],
    [("year", "ts"), ("identity", "region")],
    [("hour", "ts")],
    [("hour", "ts"), ("day", "ts")],
    [("identity", "region")],
    [("identity", "ts")],
    [("identity", "d"), ("truncate[10]", "v")],
    [("month", "d")],
    [("truncate[10]", "v")],
    [("void", "ts"), ("identity", "region")],
]
EDGES = [days_from_civil(*ymd) for ymd in [(1969, 12, 31), (1970, 1, 1), (2023, 12, 31), (2024, 1, 1), (2024, 2, 29)]]
TIMES = st.builds(
    lambda d, m: d * MICROS_PER_DAY + m,
    st.sampled_from(EDGES),
    st.sampled_from([0, 1, MICROS_PER_HOUR - 1, MICROS_PER_HOUR, MICROS_PER_DAY - 1, 12 * MICROS_PER_HOUR]),
)
ROWS: st.SearchStrategy[Row] = st.fixed_dictionaries(
    {
        "id": st.integers(0, 3),
        "ts": TIMES | st.none(),
        "d": st.sampled_from(EDGES) | st.none(),
        "region": st.sampled_from(["a", "b", "it's\\"]) | st.none(),
        "v": st.sampled_from([-11, -10, -1, 0, 3, 9, 10]) | st.none(),
    }
)


@dataclass(frozen=True)
class Case:
    """A definition over a table that held `kept` and `removed` rows, and now holds `kept` and `added` ones."""

    sql: str
    spec: Spec
    kept: list[Row]
    removed: list[Row]
    added: list[Row]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    removed = draw(st.lists(ROWS, max_size=3))
    added = draw(st.lists(ROWS, max_size=3))
    # UPDATE: the row comes back with another value, often in another partition.
    added += [
        {**row, **draw(st.fixed_dictionaries({"ts": TIMES | st.none()}))} for row in removed if draw(st.booleans())
    ]
    rows = st.lists(ROWS, max_size=6)
    return Case(draw(st.sampled_from(DEFINITIONS)), draw(st.sampled_from(SPECS)), draw(rows), removed, added)


Disjuncts = tuple[TupleDomain, ...]


@dataclass(frozen=True)
class Planner:
    """The engine's planner, with a place for each way to spoil it."""

    changed_rows: Callable[[Case], list[Row]] = lambda case: case.removed + case.added
    constraints: Callable[[Disjuncts], Disjuncts] = lambda disjuncts: disjuncts
    plan: Callable[[RefreshPlan, Disjuncts], RefreshPlan] = lambda plan, _: plan

    def run(self, case: Case) -> RefreshPlan:
        partitions = {partition_of(row, case.spec) for row in self.changed_rows(case)}
        disjuncts = self.constraints(tuple(partition_rows(case.spec, p) for p in sorted(partitions, key=repr)))
        changed = change(disjuncts) if disjuncts else change(status="fresh")
        definition = analysed(as_spark(case.sql))
        return self.plan(plan_refresh(definition, status(base_status(changed)), PlanRequest("auto")), disjuncts)


RIGHT = Planner()


def without_nulls(disjuncts: Disjuncts) -> Disjuncts:
    return tuple(d for d in disjuncts if not any(domain.null for domain in d.domains.values()))


def shrunk(change_range: Callable[[Range], Range]) -> Callable[[Disjuncts], Disjuncts]:
    def shrink(disjuncts: Disjuncts) -> Disjuncts:
        return tuple(
            TupleDomain.where(
                {k: Domain(tuple(change_range(r) for r in d.ranges), d.null, d.nan) for k, d in rows.constraints}
            )
            for rows in disjuncts
        )

    return shrink


def open_low(r: Range) -> Range:
    return r if r.is_single_value else Range(r.low, r.high, False, r.high_inclusive)


def one_less(r: Range) -> Range:
    return r if r.is_single_value or not isinstance(r.high, int) else Range(r.low, r.high - 1, True, False)


MUTANTS = {
    "NULL partitions are dropped": Planner(constraints=without_nulls),
    "removed rows are ignored": Planner(changed_rows=lambda case: case.added),
    "added rows are ignored": Planner(changed_rows=lambda case: case.removed),
    "lower bounds are off by one": Planner(constraints=shrunk(open_low)),
    "upper bounds are off by one": Planner(constraints=shrunk(one_less)),
    "one partition is forgotten": Planner(constraints=lambda disjuncts: disjuncts[:1]),
    "base rows are those that changed, not the preimage": Planner(
        plan=lambda plan, raw: replace(plan, base_filters={0: raw}) if plan.base_filters else plan
    ),
    "the region is that of the base": Planner(
        plan=lambda plan, raw: replace(plan, region=renamed(plan, raw)) if plan.region else plan
    ),
}


def renamed(plan: RefreshPlan, raw: Disjuncts) -> Disjuncts:
    """Return the changed partitions, ends untruncated, under the names of the region's columns."""
    names = {k.column: k for d in plan.region for k in d.domains}
    if len(names) != 1:
        return plan.region
    (key,) = names.values()
    domains = [d for rows in raw for d in rows.domains.values()]
    wide = [d for d in domains if any(not r.is_single_value for r in d.ranges)]
    shifted = shrunk(lambda r: Range(r.low, r.low))(tuple(TupleDomain.where({key: d}) for d in wide))
    return shifted if shifted and key.column == "ts" else plan.region


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def as_spark(sql: str) -> str:
    return sql.replace("EXCLUDE", "EXCEPT")


def load(database: duckdb.DuckDBPyConnection, rows: Iterable[Row]) -> None:
    literals = ["(NULL::INTEGER, NULL::TIMESTAMPTZ, NULL::DATE, NULL::VARCHAR, NULL::INTEGER, false)"]
    for row in rows:
        ts = "NULL" if row["ts"] is None else f"make_timestamptz({row['ts']})"
        d = "NULL" if row["d"] is None else f"DATE '1970-01-01' + {row['d']}"
        text = "NULL" if row["region"] is None else "'" + row["region"].replace("'", "''") + "'"
        literals.append(f"({row['id']}, {ts}, {d}, {text}, {'NULL' if row['v'] is None else row['v']}, true)")
    database.execute(
        "CREATE OR REPLACE TEMP TABLE t AS SELECT id, ts, d, region, v FROM "
        f"(VALUES {', '.join(literals)}) AS x(id, ts, d, region, v, present) WHERE present"
    )


def bag(database: duckdb.DuckDBPyConnection, sql: str) -> list[str]:
    return sorted(repr(row) for row in database.execute(sql).fetchall())


SPARK_OF = {
    "TIMESTAMP WITH TIME ZONE": "timestamp",
    "TIMESTAMP": "timestamp_ntz",
    "DATE": "date",
    "VARCHAR": "string",
    "INTEGER": "int",
}


def is_right(database: duckdb.DuckDBPyConnection, case: Case, planner: Planner) -> bool:
    """Refresh what the definition gave before by the plan and compare it with what the definition gives now."""
    plan = planner.run(case)
    if plan.kind == "full":
        return True
    load(database, case.kept + case.removed)
    database.execute(f"CREATE OR REPLACE TEMP TABLE stored AS {case.sql}")
    load(database, case.kept + case.added)
    if plan.kind == "overwrite":
        described = database.execute("DESCRIBE stored").fetchall()
        types = {str(row[0]): SPARK_OF.get(str(row[1]), "bigint") for row in described}
        where = to_duckdb(disjunction(plan.region, types, Dialect("lake")))
        database.execute(f"DELETE FROM stored WHERE {where}")
        database.execute(f"INSERT INTO stored SELECT * FROM ({filtered(case, plan)}) WHERE {where}")
    return bag(database, "SELECT * FROM stored") == bag(database, case.sql)


def filtered(case: Case, plan: RefreshPlan) -> str:
    (reference,) = analysed(as_spark(case.sql)).references
    rows = plan.base_filters.get(0)
    if rows is None:
        return case.sql
    where = to_duckdb(disjunction(rows, SPARK_TYPES, "lake"))
    text = f"(SELECT * FROM t WHERE {where})" + ("" if reference.has_alias else " AS t")
    # EXCLUDE and EXCEPT differ in length, and stand before the name.
    offset = len(case.sql) - len(as_spark(case.sql))
    return splice(case.sql, {replace(reference, start=reference.start + offset, end=reference.end + offset): text})


@settings(max_examples=250)
@given(case=cases())
def test_incremental_refresh_equals_the_definition(database: duckdb.DuckDBPyConnection, case: Case) -> None:
    event(RIGHT.run(case).kind)
    assert is_right(database, case, RIGHT)


@given(case=cases())
def test_the_incremental_path_is_taken_wherever_a_partition_column_is_tracked(case: Case) -> None:
    assume(case.removed or case.added)
    tracked = {t.column for found in analysed(as_spark(case.sql)).tracks_of(Occurrence(0)).values() for t in found}
    partitioned = {c for transform, c in case.spec if transform != "void"}
    plan = RIGHT.run(case)
    assert plan.kind == ("overwrite" if tracked & partitioned else "full")
    if plan.kind == "overwrite":
        assert set(plan.base_filters) == {0}


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_planners_are_caught(name: str, database: duckdb.DuckDBPyConnection) -> None:
    quick = settings(max_examples=3000, phases=[Phase.generate], deadline=None, derandomize=True, database=None)
    caught: Any = find(cases(), lambda case: not is_right(database, case, MUTANTS[name]), settings=quick)
    assert is_right(database, caught, RIGHT)
