"""A change that a condition with constants keeps nothing of: it writes nothing, and asks no changed row."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.rules.constant_values import value_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import parse_expression
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Scope
from integration.support.following import Change, assert_follows, built, in_turn
from integration.support.lake import LakeProject
from integration.support.said import recorded

TABLES = {
    "sales": "PARTITIONED BY (day) TBLPROPERTIES ('write.update.mode'='copy-on-write', "
    "'write.delete.mode'='merge-on-read', 'format-version'='2') AS "
    "SELECT date_add(DATE '2026-01-01', cast(id % 60 as int)) AS day, id, cast(id % 7 as int) AS shop, "
    "cast(id % 97 as int) AS amount FROM range(6000)",
    "events": "AS SELECT cast(timestamp_seconds(1767225600 + id * 3600) as timestamp) AS at, id, "
    "cast(id % 7 as int) AS shop, if(id % 2 = 0, 'web', 'store') AS channel FROM range(1000) ORDER BY id",
    "shops": "AS SELECT cast(id as int) AS shop, concat('n', id) AS name FROM range(7)",
}
BOUNDED = {
    "by_day": "select day, count(*) as n, sum(amount) as total from {sales} where day >= DATE '2026-02-01' group by day",
    "by_shop": "select shop, median(amount) as m from {sales} where day > '2026-01-31' group by shop",
    "total": "select max(amount) as m, count(*) as n from {sales} where day >= DATE '2026-03-03' - interval 30 days",
    "ranked": "select id, rank() over (partition by shop order by id) as place from {sales} "
    "where day between '2026-02-01' and date_add(DATE '2026-02-01', 100)",
    "above": "with c as (select day as at, shop, count(*) as n from {sales} group by day, shop) "
    "select c.at, s.name, c.n from c join {shops} s on s.shop = c.shop where c.at >= DATE '2026-02-01'",
    "supplied": "select s.name, f.id from {shops} s left join {sales} f on f.shop = s.shop and f.amount > 90 "
    "where f.day >= '2026-02-01'",
    "none_left": "select s.name from {shops} s where not exists "
    "(select 1 from {sales} f where f.shop = s.shop and f.day >= '2026-02-01' and f.amount > 95)",
}
OTHERS = {
    "early_too": "select shop, count(distinct amount) as n from {sales} where day >= '2026-02-01' or shop = 3 group by shop",
    "twice": "select a.shop, count(*) as n from {sales} a join {sales} b on a.id = b.id where b.amount > 50 "
    "and a.day >= DATE '2026-02-01' group by a.shop",
}
VIEWS = {**BOUNDED, **OTHERS}
NONE = dict.fromkeys(BOUNDED, "none")
EARLY: list[Change] = [
    (["INSERT INTO {sales} SELECT DATE '2026-01-15', id + 6000, 3, 96 FROM range(40)"], NONE),
    (["DELETE FROM {sales} WHERE day = DATE '2026-01-20' AND shop > 2"], NONE),
    (["UPDATE {sales} SET amount = amount + 3 WHERE day < DATE '2026-01-10'"], NONE),
    (["DELETE FROM {sales} WHERE day = DATE '2026-01-21'", "INSERT INTO {sales} VALUES (null, -1, 3, 96)"], NONE),
]
ANYWHERE: list[Change] = [
    (["UPDATE {sales} SET day = DATE '2026-02-10' WHERE day = DATE '2026-01-11' AND id % 3 = 0"], {}),
    (["UPDATE {sales} SET day = DATE '2026-01-10' WHERE day = DATE '2026-02-11' AND amount > 40"], {}),
    (["INSERT INTO {sales} VALUES (DATE '2026-02-01', 9001, 3, 99), (DATE '2026-01-31', 9002, 3, 99)"], {}),
    (["DELETE FROM {sales} WHERE amount > 90"], {}),
    (["UPDATE {shops} SET name = concat(name, '_') WHERE shop = 3"], {}),
]
BY_BOUNDS = {
    "late": "select channel, count(*) as n from {events} where at >= TIMESTAMP '2026-02-01 00:00:00' group by channel",
    "of_days": "select date(at) as day, count(distinct shop) as n from {events} where date(at) > DATE '2026-01-31' "
    "group by date(at)",
    "of_store": "select shop, max(id) as last from {events} where channel = 'store' and id >= 0 group by shop",
}
CONSTANTS = (
    *("DATE '2026-01-31'", "DATE '2026-01-31' - INTERVAL 30 DAYS", "DATE '2026-01-31' + INTERVAL '1' MONTH"),
    *("DATE '2024-02-29' - INTERVAL 1 YEAR", "DATE '2026-01-31' - INTERVAL '-30' DAY", "DATE '2026-01-31' - 30"),
    *("date_sub(DATE '2026-01-31', 30)", "date_add(DATE '2026-01-31', -2)", "date_add(DATE '2026-01-31', 6)"),
    *("add_months(DATE '2026-01-31', 1)", "add_months(DATE '2024-03-31', -13)", "trunc(DATE '2026-02-03', 'MM')"),
    *("trunc(DATE '2026-02-03', 'WEEK')", "DATE '2026-01-31' + INTERVAL 2 WEEKS", "CAST('2026-01-31' AS DATE)"),
    *("DATE '2026-01-31' - INTERVAL 1 DAY - INTERVAL 1 MONTH", "DATE '2026-01-31' - (INTERVAL 3 DAYS)"),
)


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    return built(lake, "bounded_", TABLES, {**VIEWS, **BY_BOUNDS}, {**VIEWS, **BY_BOUNDS})


@pytest.mark.parametrize("change", in_turn(EARLY, 1))
def test_what_a_condition_leaves_out_writes_nothing(
    lake: LakeProject, tables: dict[str, str], change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = recorded(monkeypatch)
    found = assert_follows(lake, tables, change, VIEWS)
    for name in BOUNDED:
        assert found[name]["refresh_reason"].startswith("no row of the view can be affected (bounded_sales: ")
    read = [s.sql for s in said if "bounded_sales" in s.sql and "ALTER VIEW" not in s.sql]
    assert [sql for sql in read if any(f'"model.p.{name}"' in sql for name in BOUNDED)] == []


@pytest.mark.parametrize("change", in_turn(ANYWHERE, 1))
def test_views_follow_every_other_change(lake: LakeProject, tables: dict[str, str], change: Change) -> None:
    assert_follows(lake, tables, change, VIEWS)


def test_column_bounds_leave_files_out(lake: LakeProject, tables: dict[str, str]) -> None:
    added = "INSERT INTO {events} SELECT at, id + 1000, shop, channel FROM {events} WHERE "
    early = [f"{added} at < TIMESTAMP '2026-01-05 00:00:00' AND channel = 'web'"]
    assert_follows(lake, tables, (early, dict.fromkeys(BY_BOUNDS, "none")), BY_BOUNDS)
    late = [f"{added} at > TIMESTAMP '2026-02-05 00:00:00' AND channel = 'web'"]
    found = assert_follows(lake, tables, (late, {"of_store": "none"}), BY_BOUNDS)
    assert "none" not in {found[name]["refresh_kind"] for name in ("late", "of_days")}
    both = [f"{added} at < TIMESTAMP '2026-02-01 02:00:00' AND at > TIMESTAMP '2026-01-31 22:00:00'"]
    found = assert_follows(lake, tables, (both, {}), BY_BOUNDS)
    assert "none" not in {one["refresh_kind"] for one in found.values()}


def test_stale_reads_are_of_what_is_stored(lake: LakeProject, tables: dict[str, str]) -> None:
    sql = "select day, count(*) as n from {sales} where day >= DATE '2026-02-01' group by day".format(**tables)
    lake.model("stitched", sql, stale_read_behavior="use_stitching", definition_below_rows=0)
    lake.run("--select", "stitched")
    for day in ("2026-01-15", "2026-02-15"):
        lake.sql(f"INSERT INTO {tables['sales']} VALUES (DATE '{day}', 7000, 3, 96)")
        lake.assert_equals_definition("stitched")


ODD = {
    "a product that overflows": "select id, k from {odd} where id >= 4 * 1024 * 1024 * 1024",
    "in groups": "select k, count(*) as n from {odd} where k > 2147483647 * 2 group by k",
    "a number beyond bigint": "select id, k from {odd} where k < 9223372036854775808",
    "a day with a time": "select id, at from {odd} where at >= DATE '2026-01-31 10:00:00'",
    "a text with a time": "select id, at from {odd} where at >= CAST('2026-01-31 10:00:00' AS DATE)",
    "a decimal that is rounded": "select id, g from {odd} where g IN (3L, 4)",
    "a day beyond the calendar": "select id, d from {odd} where d >= date_add(DATE '2026-01-31', 2147483647)",
}
"""Conditions with constants that Spark takes for something else than they say."""


@pytest.mark.long
def test_constants_that_are_something_else_for_spark(lake: LakeProject) -> None:
    views = {f"odd_{number}": sql for number, sql in enumerate(ODD.values())}
    columns = "(id bigint, k int, g decimal(38,20), at timestamp, d date)"
    lake.sql(f"CREATE TABLE lake.{lake.schema}.odd {columns} USING iceberg")
    tables = {"odd": f"lake.{lake.schema}.odd"}
    for view, sql in views.items():
        lake.model(view, sql.format(**tables), refresh_policy="incremental")
    lake.run("--select", *views)
    rounded = "CAST('3.00000000000000000001' AS decimal(38,20))"
    rows = f"(1, 3, {rounded}, TIMESTAMP '2026-01-31 05:00:00', DATE '2026-02-01')"
    assert_follows(lake, tables, ([f"INSERT INTO {{odd}} VALUES {rows}"], {}), views)
    assert_follows(lake, tables, (["INSERT INTO {odd} VALUES (2, null, null, null, null)"], {}), views)


def test_rows_that_do_not_matter_to_one_view_matter_to_the_next(lake: LakeProject) -> None:
    """Changed rows of a small table are read once for all views, but not where one of them wants a part of them."""
    made = {
        "facts": "AS SELECT id, cast(id % 300 as int) AS customer FROM range(120000)",
        "customers": "PARTITIONED BY (country) AS SELECT cast(id as int) AS id, concat('c', id % 3) AS country, "
        "concat('n', id % 50) AS name FROM range(300)",
    }
    joined = "select c.name, count(*) as n from {facts} f join {customers} c on f.customer = c.id"
    views = {"of_c1": f"{joined} where c.country = 'c1' group by c.name", "of_all": f"{joined} group by c.name"}
    tables = built(lake, "part_", made, views, views)
    for name in ("concat(name, '_')", "if(id % 2 = 0, name, 'x')"):
        lake.sql(f"INSERT OVERWRITE {tables['customers']} SELECT id, country, {name} FROM {tables['customers']}")
        for view in views:
            found = lake.run("--select", view)
            assert found[view]["refresh_kind"] != "full", found
        lake.assert_equals_definition(*views)


def test_constants_are_those_of_spark(lake: LakeProject) -> None:
    shown = ", ".join(f"unix_date(CAST({constant} AS DATE))" for constant in CONSTANTS)
    (row,) = lake.sql(f"SELECT {shown}")
    scope = Scope({}, True, units_are_literals=True)
    assert [value_of(parse_expression(constant), "date", scope) for constant in CONSTANTS] == list(row)
