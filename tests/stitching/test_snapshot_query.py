"""The current rows as one query: what is kept and what is computed again part all rows between them."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import DateType, LongType, NestedField, StringType, TimestamptzType

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo, ViewInfo
from dbt.adapters.icebergmv.maintenance.catalog.readers import jdbc
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.errors import NotReadable, StateUnreadable
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Delta, Full, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.sql.complement import complement, outside
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import NewView
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import view_query
from dbt.adapters.icebergmv.maintenance.status.recorded.qualified_definition import definition_in_full
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState, ExpandedView, ViewState
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.stitching.current_rows import current_query
from dbt.adapters.icebergmv.maintenance.stitching.snapshot_query import stitched_query
from tests.support.analysis import analysed_in
from tests.support.duck import to_duckdb
from tests.support.strategies import domains, holds, tuple_domains
from tests.support.stub_catalog import StubCatalog

TYPES = {"a": "int", "f": "double", "s": "string"}
INTEGERS: tuple[Value, ...] = (-(2**31), -1, 0, 1, 2**31 - 1)
FLOATS: tuple[Value, ...] = (-math.inf, -1.5, -0.0, 0.0, 1.0, math.inf)
TEXTS: tuple[Value, ...] = ("", "a", "ab", "abc", "b", "é")
POOLS: dict[ColumnKey, tuple[Value, ...]] = {
    ColumnKey("a"): INTEGERS,
    ColumnKey("f"): FLOATS,
    ColumnKey("s"): TEXTS,
    ColumnKey("a", "bucket[4]"): (0, 1, 2, 3),
    ColumnKey("a", "bucket[2000]"): (0, 1, 2, 1999),
    ColumnKey("s", "truncate[2]"): ("", "a", "ab", "b", "é"),
}


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    """Every combination of some values of three columns, NULL and NaN among them."""
    connection = duckdb.connect()
    connection.execute("CREATE MACRO bucket(n, c) AS (c::BIGINT + 2147483648) % n")
    connection.execute("CREATE TABLE t (a INTEGER, f DOUBLE, s VARCHAR)")
    grid = itertools.product((None, *INTEGERS, 7), (None, *FLOATS, math.nan, 0.25), (None, *TEXTS, "ac"))
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [list(row) for row in grid])
    return connection


def discrete(pool: Sequence[Value]) -> st.SearchStrategy[Domain]:
    """Return sets of values of a transform, which are never ranges."""
    return st.lists(st.sampled_from([*pool, None]), max_size=4).map(lambda values: Domain.of(*values))


def regions() -> st.SearchStrategy[list[TupleDomain]]:
    choices = [
        st.tuples(st.just(key), domains(pool) if key.transform is None else discrete(pool))
        for key, pool in POOLS.items()
    ]
    disjunct = st.lists(st.one_of(choices), max_size=3).map(lambda pairs: TupleDomain.where(dict(pairs)))
    return st.lists(disjunct, max_size=4)


def one(column: str, *values: Value | None, transform: str | None = None) -> TupleDomain:
    return TupleDomain.where({ColumnKey(column, transform): Domain.of(*values)})


@given(regions(), st.booleans())
@example([one("a", 0, None), one("f", math.nan)], True)
@example([one("a", 0, 1, None, transform="bucket[4]")], False)
@example([one("a", 0, 1, None, transform="bucket[2000]")], False)
@example([one("s", "ab", None, transform="truncate[2]")], False)
@example([one("f", -0.0)], True)
def test_a_row_is_inside_or_outside_and_never_both(
    database: duckdb.DuckDBPyConnection, region: list[TupleDomain], pushable: bool
) -> None:
    dialect = Dialect("lake", pushable)
    inside, rest = disjunction(region, TYPES, dialect), outside(region, TYPES, dialect)
    counts = "count(*), count(*) FILTER ({0}), count(*) FILTER ({1}), count(*) FILTER (({0}) AND ({1}))"
    counted = database.execute(f"SELECT {counts.format(to_duckdb(inside), to_duckdb(rest))} FROM t").fetchone()
    assert counted is not None
    every, stale, fresh, both = counted
    assert (both, stale + fresh) == (0, every), (inside, rest)


@given(st.lists(tuple_domains("ab", INTEGERS), max_size=5))
def test_complement_as_sets(region: list[TupleDomain]) -> None:
    clauses = complement(region)
    for a, b in itertools.product((None, *INTEGERS, 5), repeat=2):
        row: dict[str, Value | None] = {"a": a, "b": b}
        kept = all(any(holds(part, row) for part in clause) for clause in clauses)
        assert kept != any(holds(d, row) for d in region)


def test_no_not_over_equality_and_one_list_for_many_values() -> None:
    region = [one("s", *(f"r{i}" for i in range(1000)))]
    text = outside(region, TYPES, Dialect("lake"))
    assert text.startswith("((`s` IS NULL OR `s` NOT IN ('r0', 'r1', ")
    assert len(text) < 10_000
    several = [TupleDomain.where({ColumnKey("a"): Domain.of(1, None), ColumnKey("s"): Domain.of("x")})]
    assert outside(several, TYPES, Dialect("lake")) == (
        "((((`a` IS NOT NULL AND `a` < 1) OR (`a` > 1))) OR "
        "((`s` IS NULL OR (`s` IS NOT NULL AND `s` < 'x') OR (`s` > 'x'))))"
    )


def test_everything_and_nothing() -> None:
    assert outside([], TYPES, Dialect("lake")) == "true"
    assert outside([TupleDomain.none()], TYPES, Dialect("lake")) == "true"
    assert outside([TupleDomain.all()], TYPES, Dialect("lake")) == "false"


SCHEMA = Schema(
    NestedField(1, "Day", DateType(), required=False),
    NestedField(2, "n", LongType(), required=False),
)
BASE = Schema(
    NestedField(1, "ts", TimestamptzType(), required=False), NestedField(2, "k", StringType(), required=False)
)


@pytest.fixture(scope="module")
def stored(catalog: SqlCatalog) -> StoredRows:
    table = catalog.create_table("ns.mv", SCHEMA)
    table.append(pa.table({"Day": [dt.date(2024, 1, 1)], "n": [1]}, schema=schema_to_pyarrow(SCHEMA)))
    return StoredRows(("lake", "ns", "mv"), table, table.metadata.current_snapshot_id or 0)


@pytest.fixture(scope="module")
def base(catalog: SqlCatalog) -> Table:
    table = catalog.create_table("ns.t", BASE)
    day = dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)
    table.append(pa.table({"ts": [day], "k": ["a"]}, schema=schema_to_pyarrow(BASE)))
    return table


SQL = "SELECT CAST(ts AS date) AS day, 1 AS n FROM t"


@pytest.fixture
def bases(catalog: SqlCatalog, base: Table) -> BaseTables:
    return BaseTables(jdbc.Reader(catalog))


@pytest.fixture
def definition(bases: BaseTables) -> ViewDefinition:
    return analysed_in(SQL, "ns", bases.columns_of, session_is_utc=True)


def test_query_of_each_plan(definition: ViewDefinition, bases: BaseTables, stored: StoredRows, base: Table) -> None:
    now, then = base.metadata.current_snapshot_id, stored.snapshot_id
    pinned = f"SELECT CAST(ts AS date) AS day, 1 AS n FROM `lake`.`ns`.`t` VERSION AS OF {now}"
    rows = f"SELECT `Day`, `n` FROM `lake`.`ns`.`mv` VERSION AS OF {then}"
    cast = "SELECT CAST(`Day` AS date) AS `Day`, CAST(`n` AS bigint) AS `n` FROM (\n"

    def query(plan: Append | Overwrite | Full) -> str:
        request = RefreshRequest(("lake", "ns", "v"), SQL, "ns", ViewConfig("h", stored.name), "me")
        view = NewView(request, definition, bases, MaterializedViewStatus(()), (), stored.table)
        return stitched_query(Settled(view, (Column("day", "date"), Column("n", "int")), plan), stored)

    assert query(Full("")) == f"{cast}{pinned}\n)"
    appended = query(Append("", (Delta(0, 5),)))
    assert appended.startswith(f"{rows}\nUNION ALL\n{cast}SELECT `day`, `n` FROM (\n")
    assert f"WITH (`start-snapshot-id` = '5', `end-snapshot-id` = '{now}')" in appended
    region = (one("Day", 19723, None),)
    assert query(Overwrite("", region)) == (
        f"{rows} WHERE (((`Day` IS NOT NULL AND `Day` < DATE '2024-01-01') OR (`Day` > DATE '2024-01-01')))"
        f"\nUNION ALL\n{cast}{pinned}\n) WHERE (`Day` IS NULL OR `Day` <=> DATE '2024-01-01')"
    )


def test_stored_rows_are_read_under_the_schema_of_their_snapshot(catalog: SqlCatalog, stored: StoredRows) -> None:
    table = catalog.load_table("ns.mv")
    with table.update_schema() as update:
        update.add_column("later", StringType())
        update.rename_column("n", "m")
    moved = replace(stored, table=catalog.load_table("ns.mv"))
    assert moved.query == stored.query == view_query(stored.name, ["Day", "n"], stored.snapshot_id)


def state(definition: str, *read: tuple[str, str, str], **changed: Any) -> ViewState:
    bases = tuple(BaseTableState(n, n, TableVersion("u", 1, 0)) for n in read)
    made = ViewState(definition, "h", ("lake", "ns", "s"), "u", 1, bases, "full", "", "", "2024-01-01", "me")
    return replace(made, **changed)


def test_names_in_full() -> None:
    read = [("lake", "a", "t"), ("lake", "b", "w"), ("lake", "b", "t")]
    text = "WITH c AS (SELECT * FROM w) SELECT w.x FROM w, b.t u, other.b.t VERSION AS OF 5, c"
    assert definition_in_full(state(text, *read), "lake") == (
        "WITH c AS (SELECT * FROM `lake`.`b`.`w`) SELECT w.x FROM `lake`.`b`.`w`, "
        "`lake`.`b`.`t` u, `other`.`b`.`t` VERSION AS OF 5, c"
    )
    viewed = state("SELECT * FROM v", views=(ExpandedView(("lake", "x y", "v"), "u", 1, "h"),))
    assert definition_in_full(viewed, "lake") == "SELECT * FROM `lake`.`x y`.`v`"


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT * FROM t", "its SELECT names t without a schema"),
        ("SELECT * FROM gone", "its SELECT names gone without a schema"),
        ("SELEC * FRM t", "its SELECT cannot be analysed"),
        ("SELECT * FROM lake.a.t.snapshots", "is not a table name of three parts"),
    ],
)
def test_names_that_cannot_be_told_are_refused(sql: str, reason: str) -> None:
    with pytest.raises(NotReadable, match=reason):
        definition_in_full(state(sql, ("lake", "a", "t"), ("lake", "b", "t")), "lake")


def info(properties: dict[str, str], sql: str = "") -> ViewInfo:
    return ViewInfo("ns", "v", "u", sql, (ColumnInfo("k", "int", None),), properties, None)


RECORDED = state("SELECT 1 AS k", settings={"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "false"})
PUBLISHED = view_query(RECORDED.storage_table, ["k"], 1)
SET = {"spark.sql.session.timeZone": "Etc/UTC", "spark.sql.ansi.enabled": "false"}


@pytest.mark.parametrize(
    ("view", "session", "reason"),
    [
        (None, SET, "it is not a materialized view"),
        (info({}), SET, "it is not a materialized view"),
        (info({"icebergmv.format-version": "1"}), SET, "Cannot use the state of lake.ns.v"),
        (info(RECORDED.to_properties(), "SELECT 2 AS k"), SET, "was redefined by hand"),
        (info(replace(RECORDED, partial="--empty").to_properties(), PUBLISHED), SET, "was built with --empty"),
        (
            info(RECORDED.to_properties(), PUBLISHED),
            {**SET, "spark.sql.ansi.enabled": "true"},
            r"Cannot read lake.ns.v: it was refreshed with spark.sql.ansi.enabled = false and this session has true. "
            r"Set it: spark.conf.set\('spark.sql.ansi.enabled', 'false'\)",
        ),
        (
            info(RECORDED.to_properties(), PUBLISHED),
            {**SET, "spark.sql.session.timeZone": "Europe/Paris"},
            "session.timeZone = UTC and this session has Europe/Paris",
        ),
        (
            info(RECORDED.to_properties(), PUBLISHED),
            {**SET, "spark.sql.caseSensitive": "true"},
            r"Unset it: spark.conf.unset\('spark.sql.caseSensitive'\)",
        ),
        (
            info(RECORDED.to_properties(), PUBLISHED),
            {"spark.sql.ansi.enabled": "false"},
            "this session has its default",
        ),
    ],
)
def test_views_and_sessions_that_are_refused(view: ViewInfo | None, session: dict[str, str], reason: str) -> None:
    def spark(sql: str) -> list[tuple[str, str]]:
        return list(session.items()) if sql == "SET" else [(sql.removeprefix("SET "), "its default")]

    with pytest.raises((NotReadable, StateUnreadable), match=reason):
        current_query(Lake(StubCatalog({} if view is None else {"ns.v": view}), spark), ("lake", "ns", "v"))


def test_storage_that_was_dropped_is_the_definition() -> None:
    def spark(sql: str) -> list[tuple[str, str]]:
        return list(SET.items()) if sql == "SET" else [("k", "int")]

    catalog = StubCatalog({"ns.v": info(RECORDED.to_properties(), PUBLISHED)})
    assert current_query(Lake(catalog, spark), ("lake", "ns", "v")) == "SELECT `k` FROM (\nSELECT 1 AS k\n)"
