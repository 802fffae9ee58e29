"""The text step that reads plain views as their SQL."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace

import pytest
import sqlglot
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable, Table
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.types import DateType, IntegerType, LongType, NestedField, StringType, StructType

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo, ViewInfo
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.spark_types import ddl_type, spark_type
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState, ExpandedView, ViewState
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.status.tables.view_expansion import DEPTH_LIMIT, ExpandedSql, expand, redefined
from tests.support.analysis import analysed_in
from tests.support.stub_catalog import StubCatalog

TYPES = {"int": IntegerType(), "bigint": LongType(), "string": StringType(), "date": DateType()}


def table(columns: str) -> Table:
    """Make an empty table from column definitions as `k int, d date`."""
    pairs = [c.split() for c in columns.split(", ")]
    schema = Schema(*(NestedField(i, n, TYPES[t], required=False) for i, (n, t) in enumerate(pairs, start=1)))
    metadata = new_table_metadata(schema, UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER, "file:/nowhere", {})
    return StaticTable(("ns", "t"), metadata, "file:/nowhere/metadata.json", PyArrowFileIO(), None)  # type: ignore[arg-type]


def view(sql: str, columns: str, query_columns: str | None = None, namespace: str = "ns") -> ViewInfo:
    """Make the metadata that Spark writes for CREATE VIEW (columns) AS sql, run in the namespace."""
    pairs = [c.split() for c in columns.split(", ")]
    names = query_columns if query_columns is not None else ",".join(n for n, _ in pairs)
    return ViewInfo(
        namespace=namespace,
        name="v",
        uuid=str(uuid.uuid4()),
        sql=sql,
        columns=tuple(ColumnInfo(n, t, None) for n, t in pairs),
        properties={"spark.query-column-names": names},
        comment=None,
        version_id=1,
        default_namespace=(namespace,),
        types=tuple(t for _, t in pairs),
    )


TABLES = {"ns.t": table("k int, d date, s string"), "other.t": table("k int, x int"), "lake.t": table("k int")}
V = view("SELECT k, d FROM t", "k int, d date")
V_TEXT = (
    "(SELECT `icebergmv_view`.`k`, `icebergmv_view`.`d` FROM ("
    "\nSELECT k, d FROM `lake`.`ns`.`t`\n) AS `icebergmv_view`)"
)


def bases_of(views: Mapping[str, ViewInfo]) -> BaseTables:
    return BaseTables(StubCatalog(views, TABLES))


def expanded(sql: str, **views: ViewInfo) -> str:
    """Expand over views of the namespace ns; what comes out must be understood by the parser and read base tables."""
    result = expand(sql, "ns", bases_of({f"ns.{n}": v for n, v in views.items()}), True)
    sqlglot.parse_one(result.sql, dialect="spark")
    return result.sql


def reason(sql: str, name: str = "v", **views: ViewInfo) -> str:
    """Return why the view stays a name; nothing of the SQL may have been replaced then."""
    bases = bases_of({f"ns.{n}": v for n, v in views.items()})
    result = expand(sql, "ns", bases, True)
    assert result == ExpandedSql(sql)
    definition = analysed_in(sql, "ns", bases.columns_of, True)
    (said,) = {b.untrackable for r in definition.references if (b := bases.of(r)).source is None and b.name[2] == name}
    assert said is not None
    assert said.startswith(f"lake.ns.{name} is a view, which cannot be read at a recorded snapshot: ")
    return said.split(": ", 1)[1]


def analysed(sql: str, **views: ViewInfo) -> ViewDefinition:
    bases = bases_of({f"ns.{n}": v for n, v in views.items()})
    return analysed_in(expand(sql, "ns", bases, True).sql, "ns", bases.columns_of, True)


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT k FROM v", f"SELECT k FROM {V_TEXT} AS `v`"),
        ("SELECT v.k FROM ns.v -- the end", f"SELECT v.k FROM {V_TEXT} AS `v` -- the end"),
        ("SELECT x.k FROM lake . `ns`.v AS x", f"SELECT x.k FROM {V_TEXT} AS x"),
        ("SELECT x.q FROM v x(q, r)", f"SELECT x.q FROM {V_TEXT} x(q, r)"),
        (
            "SELECT a.k FROM v a JOIN v b ON a.k = b.k",
            f"SELECT a.k FROM {V_TEXT} a JOIN {V_TEXT} b ON a.k = b.k",
        ),
        (
            "SELECT k FROM t WHERE EXISTS (SELECT 1 FROM v WHERE v.k = t.k) AND k IN (SELECT k FROM v)",
            f"SELECT k FROM t WHERE EXISTS (SELECT 1 FROM {V_TEXT} AS `v` WHERE v.k = t.k)"
            f" AND k IN (SELECT k FROM {V_TEXT} AS `v`)",
        ),
        ("SELECT k FROM v, t", f"SELECT k FROM {V_TEXT} AS `v`, t"),
        ("WITH c AS (SELECT k FROM v) SELECT k FROM c", f"WITH c AS (SELECT k FROM {V_TEXT} AS `v`) SELECT k FROM c"),
        ("WITH v AS (SELECT 1 AS k) SELECT k FROM v", "WITH v AS (SELECT 1 AS k) SELECT k FROM v"),
        ("WITH v AS (SELECT k FROM v) SELECT k FROM v", f"WITH v AS (SELECT k FROM {V_TEXT} AS `v`) SELECT k FROM v"),
        ("WITH v AS (SELECT 1 AS k) SELECT k FROM ns.v", f"WITH v AS (SELECT 1 AS k) SELECT k FROM {V_TEXT} AS `v`"),
        ("SELECT 'v' AS k -- FROM v", "SELECT 'v' AS k -- FROM v"),
        ("SELECT k FROM V", "SELECT k FROM V"),
        ("SELECT k FROM other.v", "SELECT k FROM other.v"),
        ("SELECT k FROM spark_catalog.ns.v", "SELECT k FROM spark_catalog.ns.v"),
        ("SELECT FROM WHERE v", "SELECT FROM WHERE v"),
    ],
)
def test_in_place_of_the_name(sql: str, wanted: str) -> None:
    result = expand(sql, "ns", bases_of({"ns.v": V}), True)
    assert result.sql == wanted
    assert [v.name for v in result.views] == ([("lake", "ns", "v")] if V_TEXT in wanted else [])


def test_odd_names_are_quoted() -> None:
    odd = view("SELECT k FROM t", "k int")
    sql = expand("SELECT * FROM `o``dd v`", "ns", bases_of({"ns.o`dd v": odd}), True).sql
    assert sql.endswith(") AS `o``dd v`")


@pytest.mark.parametrize("end", ["-- the end", "/* the end */", ";", " ; -- the end", "-- it's"])
def test_the_end_of_the_views_sql(end: str) -> None:
    text = expanded("SELECT k FROM v WHERE k = 1", v=replace(V, sql=f"{V.sql} {end}"))
    assert [t.name for t in sqlglot.parse_one(text, dialect="spark").find_all(sqlglot.exp.Table)] == ["t"]
    assert text.endswith("WHERE k = 1")


@pytest.mark.parametrize(
    ("sql", "reads"),
    [
        ("SELECT k FROM t", ["`lake`.`other`.`t`"]),
        ("SELECT k FROM other.t", ["`lake`.`other`.`t`"]),
        ("SELECT k FROM lake.ns.t", ["`lake`.`ns`.`t`"]),
        ("SELECT k FROM spark_catalog.ns.t", ["`spark_catalog`.`ns`.`t`"]),
        ("WITH t AS (SELECT k FROM t) SELECT k FROM t", ["`lake`.`other`.`t`", "t"]),
        ("WITH c AS (SELECT k FROM t) SELECT k FROM c", ["`lake`.`other`.`t`", "c"]),
        ("SELECT k FROM lake.ns.t VERSION AS OF 7", ["`lake`.`ns`.`t` VERSION AS OF 7"]),
        ("SELECT t.k FROM t UNION SELECT u.k FROM t u", ["`lake`.`other`.`t`", "`lake`.`other`.`t` u"]),
    ],
)
def test_names_in_a_view_are_those_of_its_own_namespace(sql: str, reads: list[str]) -> None:
    text = expanded(
        "WITH t AS (SELECT 1 AS k), u AS (SELECT 1) SELECT k FROM v",
        v=replace(view(sql, "k int"), default_namespace=("other",)),
    )
    for read in reads:
        assert f"FROM {read}" in text
    assert text.count("`t`") == sum("`t`" in read for read in reads)


@pytest.mark.parametrize("namespace", [(), ("a", "b")])
def test_qualified_names_in_a_view_need_no_namespace(namespace: tuple[str, ...]) -> None:
    sql = "WITH c AS (SELECT k, d FROM lake.ns.t) SELECT c.k, c.d FROM c JOIN lake.other.t o ON o.k = c.k"
    text = expanded("SELECT k FROM v", v=replace(V, sql=sql, default_namespace=namespace))
    assert "FROM `lake`.`ns`.`t`" in text
    assert "JOIN `lake`.`other`.`t` o" in text


@pytest.mark.parametrize("namespace", [(), ("a", "b")])
def test_a_schema_in_a_name_takes_the_place_of_the_namespace(namespace: tuple[str, ...]) -> None:
    text = expanded("SELECT k FROM v", v=replace(V, sql="SELECT k, d FROM ns.t", default_namespace=namespace))
    assert "FROM `lake`.`ns`.`t`" in text


def test_views_below_a_view_without_a_namespace_are_expanded() -> None:
    outer = replace(V, sql="SELECT k, d FROM lake.ns.inner_v", default_namespace=())
    text = expanded("SELECT k FROM v", v=outer, inner_v=V)
    assert V_TEXT in text


def test_names_in_a_view_are_those_of_its_own_catalog() -> None:
    text = expanded("SELECT k FROM v", v=replace(V, default_catalog="elsewhere"))
    assert "FROM `elsewhere`.`ns`.`t`" in text


def test_column_list_binds_by_position() -> None:
    listed = view("SELECT count(*), d, d FROM t GROUP BY d", "n bigint, a date, b date", "count(1),d,d")
    assert expanded("SELECT * FROM v", v=listed) == (
        "SELECT * FROM (SELECT CAST(`icebergmv_view`.`n` AS bigint) AS `n`, `icebergmv_view`.`a`, `icebergmv_view`.`b`"
        " FROM (\n"
        "SELECT count(*), d, d FROM `lake`.`ns`.`t` GROUP BY d\n) AS `icebergmv_view`(`n`, `a`, `b`) "
        "WHERE IF((typeof(`icebergmv_view`.`n`) = typeof(CAST(NULL AS bigint)) "
        "OR typeof(`icebergmv_view`.`n`) IN ('tinyint', 'smallint', 'int')), true, "
        "raise_error('A value of v does not fit into the type that the view was made with. "
        "Make it again, or run its model.'))) AS `v`"
    )


def test_column_of_another_type_is_cast() -> None:
    was = view("SELECT k, d FROM t", "k bigint, d date")
    text = expanded("SELECT k FROM v", v=was)
    assert "SELECT CAST(`icebergmv_view`.`k` AS bigint) AS `k`, `icebergmv_view`.`d` FROM" in text


def test_struct_is_cast_with_quoted_fields() -> None:
    of = StructType(NestedField(1, "a b", IntegerType(), required=False))
    assert (spark_type(of), ddl_type(of)) == ("struct<a b:int>", "struct<`a b`:int>")


def test_star_keeps_the_columns_it_was_created_with() -> None:
    star = view("SELECT * FROM t", "k int, d date")
    assert expanded("SELECT * FROM v", v=star) == (
        "SELECT * FROM (SELECT `icebergmv_view`.`k`, `icebergmv_view`.`d` FROM (\nSELECT * FROM `lake`.`ns`.`t`\n)"
        " AS `icebergmv_view`) AS `v`"
    )
    twice = view("SELECT *, d AS S FROM t", "k int, d date", "k,d")
    text = expanded("SELECT * FROM v", v=twice)
    assert "AS `icebergmv_view`(`k`, `d`, `icebergmv_view_0`, `icebergmv_view_1`)" in text
    renamed = view("SELECT * FROM t", "a int, b date", "k,d")
    assert "AS `icebergmv_view`(`a`, `b`, `icebergmv_view_0`)" in expanded("SELECT * FROM v", v=renamed)


def test_view_over_view() -> None:
    outer = view("SELECT k AS key, count(*) AS n FROM v GROUP BY k", "key int, n bigint")
    result = expand("SELECT key FROM w", "ns", bases_of({"ns.v": V, "ns.w": outer}), True)
    assert V_TEXT + " AS `v` GROUP BY k" in result.sql
    assert result.views == tuple(
        ExpandedView(("lake", "ns", n), v.uuid, 1, result.views[i].definition_hash)
        for i, (n, v) in enumerate((("v", V), ("w", outer)))
    )
    definition = analysed("SELECT key FROM w", v=V, w=outer)
    assert [(r.catalog, r.namespace, r.name) for r in definition.references] == [("lake", "ns", "t")]


def test_tracking_goes_through_views() -> None:
    listed = view("SELECT d, count(*) FROM v GROUP BY d", "day date, n bigint", "d,count(1)")
    definition = analysed("SELECT day, sum(n) AS n FROM w GROUP BY day", v=V, w=listed)
    assert [(n, [t.column for t in tracks]) for n, tracks in definition.tracks_of(Occurrence(0)).items()] == [
        ("day", ["d"])
    ]


def test_what_a_view_computes_is_judged() -> None:
    volatile = view("SELECT k FROM t WHERE rand() < 0.5", "k int")
    definition = analysed("SELECT k FROM v", v=volatile)
    assert definition.always_full == "rand() gives a new value at every run"
    limited = analysed("SELECT k FROM v", v=view("SELECT k FROM t ORDER BY k LIMIT 3", "k int"))
    assert limited.obstacles == {Occurrence(0): "LIMIT"}


@pytest.mark.parametrize(
    ("definition", "because"),
    [
        (replace(V, sql=""), "its SQL is not in Spark's dialect"),
        (replace(V, sql="SELECT FROM WHERE"), "its SQL cannot be analysed"),
        (replace(V, sql="VALUES (1, date'2024-01-01')"), "its SQL cannot be analysed"),
        (replace(V, default_namespace=("a", "b")), "its SQL was not written in a namespace of one part"),
        (replace(V, default_namespace=()), "its SQL was not written in a namespace of one part"),
        (replace(V, sql="SELECT k FROM x.t", default_namespace=()), "its SQL reads x.t, whose catalog is not known"),
        (
            replace(V, sql="SELECT k FROM lake.t", default_namespace=()),
            "its SQL reads lake.t, whose catalog is not known",
        ),
        (view("SELECT mine(k) AS k FROM t", "k int"), "mine() is a user-defined function"),
        (view("SELECT k FROM lake.ns.t.branch_b", "k int"), "is not a table name of three parts"),
        (view("SELECT k FROM t VERSION AS OF 'b'", "k int"), "is read at a branch, a tag or a time"),
        (view("SELECT ns.t.k FROM ns.t", "k int"), "its SQL names columns with a schema"),
        (view("SELECT k FROM gone.t", "k int"), "its SQL reads gone.t, whose catalog is not known"),
        (view("SELECT k FROM lake.t", "k int"), "its SQL reads lake.t, whose catalog is not known"),
        (view("SELECT explode(map(k, k)) FROM t", "key int, value int"), "its columns cannot be counted"),
        (view("SELECT * FROM t VERSION AS OF 7", "k int"), "the columns of its * are not known"),
        (view("SELECT * FROM t", "d date, k int"), "its * means other columns than when it was created"),
        (view("SELECT * FROM t", "a int, b date", "a,b"), "its * means other columns than when it was created"),
        (view("SELECT k FROM v", "k int"), "it reads itself"),
    ],
)
def test_views_that_stay_names(definition: ViewInfo, because: str) -> None:
    sql = "SELECT k FROM v"
    bases = bases_of({"ns.v": definition})
    result = expand(sql, "ns", bases, True)
    if because == "it reads itself":
        assert "FROM `lake`.`ns`.`v`\n" in result.sql
    else:
        assert because in reason(sql, v=definition)


@pytest.mark.parametrize(
    ("sql", "because"),
    [
        ("SELECT k FROM v VERSION AS OF 3", "the SELECT reads it at a version"),
        ("SELECT k FROM v TABLESAMPLE (10 PERCENT)", "the SELECT samples or pivots it"),
        ("SELECT ns.v.k FROM ns.v", "the SELECT names its columns with its schema"),
        ("SELECT lake.ns.v.k FROM lake.ns.v", "the SELECT names its columns with its schema"),
        ("SELECT NS.V.k FROM v", "the SELECT names its columns with its schema"),
    ],
)
def test_places_that_no_subquery_can_take(sql: str, because: str) -> None:
    assert reason(sql, v=V) == because


def test_fields_of_structs_are_no_schema() -> None:
    assert V_TEXT in expanded("SELECT v.k.a, x.k.b FROM v JOIN ns.v x ON true", v=V)


def test_cycle_ends() -> None:
    one, two = view("SELECT k FROM v", "k int"), view("SELECT k FROM w", "k int")
    text = expanded("SELECT k FROM v", v=two, w=one)
    assert "FROM `lake`.`ns`.`v`\n" in text
    assert text.count("FROM (") == 4


def test_depth_and_size_are_bounded() -> None:
    chain = {f"v{i}": view(f"SELECT k FROM v{i - 1}", "k int") for i in range(1, 40)}
    text = expanded("SELECT k FROM v39", v0=V, **chain)
    assert f"FROM `lake`.`ns`.`v{39 - DEPTH_LIMIT}`\n" in text
    doubled = {f"v{i}": view(f"SELECT a.k FROM v{i - 1} a JOIN v{i - 1} b", "k int") for i in range(1, 14)}
    assert len(expanded("SELECT k FROM v13", v0=V, **doubled)) < 500_000


STATE = ViewState(
    definition="", definition_hash="", storage_table=("lake", "ns", "s"), storage_uuid="", storage_snapshot_id=1,
    base_tables=(BaseTableState(("lake", "ns", "b"), ("lake", "ns", "b"), TableVersion("u", 1, 0)),),
    refresh_kind="", refresh_reason="", started_at="", refreshed_at="", owner="",
)  # fmt: skip


def views_of(definition: ViewInfo, name: str = "v") -> tuple[ExpandedView, ...]:
    return expand(f"SELECT * FROM {name}", "ns", bases_of({f"ns.{name}": definition}), True).views


def test_same_definition_in_a_new_version_is_no_change() -> None:
    state = replace(STATE, views=views_of(V))
    again = replace(V, uuid="new", version_id=9, sql="select\n k,d FROM t -- reformatted", comment="x")
    assert redefined(views_of(V), state) is None
    assert redefined(views_of(replace(again, sql=again.sql.upper().replace("K,D", "k,d"))), state) is not None
    assert redefined(views_of(replace(again, sql="SELECT\n k,d FROM t -- reformatted")), state) is None


@pytest.mark.parametrize(
    "changed",
    [
        replace(V, sql="SELECT k, d FROM t WHERE k > 0"),
        view("SELECT k, d FROM t", "d date, k int"),
        view("SELECT k, d FROM t", "k bigint, d date"),
        replace(V, default_namespace=("other",)),
        replace(V, default_catalog="elsewhere"),
    ],
)
def test_redefined_view(changed: ViewInfo) -> None:
    state = replace(STATE, views=views_of(V))
    assert redefined(views_of(changed), state) == "the view lake.ns.v was redefined"


def test_tables_that_become_views_and_back() -> None:
    name: TableName = ("lake", "ns", "b")
    assert redefined(views_of(V, "b"), STATE) == f"the view {show(name)} was redefined"
    assert redefined((), replace(STATE, views=views_of(V, "b"), base_tables=())) == "the view lake.ns.b was redefined"
    assert redefined(views_of(V), STATE) == "the view lake.ns.v was not read by the last refresh"
    assert redefined((), STATE) is None


def test_a_view_of_plain_columns_does_not_hide_which_of_them_are_read() -> None:
    found = analysed("SELECT k FROM v WHERE EXISTS (SELECT 1 FROM t WHERE t.k = v.k)", v=V)
    assert not found.reads_unnamed
    assert found.read_in_full == frozenset()
    computed = view("SELECT k, max(d) FROM t GROUP BY k", "k int, d date")
    assert analysed("SELECT k FROM v", v=computed).reads_unnamed


@pytest.mark.parametrize(
    "item", ["CAST(CAST(k AS int) AS int)", "k::bigint::int", "m.k", "(k)", "coalesce(k)", "try_cast(k AS int)"]
)
def test_a_column_that_spark_names_is_given_its_name(item: str) -> None:
    """Else its name could mean a column of the query around it."""
    over_t = view(f"SELECT {item} FROM t AS m", "k int")
    around = "SELECT d FROM t AS o WHERE EXISTS (SELECT 1 FROM v WHERE v.k = o.k)"
    assert ("AS `icebergmv_view`(`k`)" in expanded(around, v=over_t)) is (item != "m.k")
