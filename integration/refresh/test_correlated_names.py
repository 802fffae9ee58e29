"""Subqueries beside a row: what they show, and names in them that mean something else where they are asked alone."""

from __future__ import annotations

import pytest

from integration.support.following import Change, assert_follows, built, in_turn
from integration.support.lake import LakeProject

SHOWN = {
    "orders": "TBLPROPERTIES ('write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read') AS "
    "SELECT id, cast(id % 4 as int) AS customer, date_add(DATE '2024-01-01', cast(id % 5 as int)) AS day, "
    "cast(id % 3 as int) AS size FROM range(40)",
    "events": "AS SELECT cast(id % 4 as int) AS customer, date_add(DATE '2024-01-01', cast(id % 5 as int)) AS day, "
    "cast(id % 7 as int) AS value, chr(cast(97 + id % 3 as int)) AS name, cast(id % 3 as int) AS size FROM range(30)",
    "tops": "PARTITIONED BY (size, top) AS SELECT cast(id % 3 as int) AS size, cast(id % 7 as bigint) AS top FROM range(40)",
    "tags": "AS SELECT * FROM VALUES (0, 'x'), (1, 'y'), (2, 'x') AS t(size, tag)",
}
SHOWING = {
    "shows_sum": "select o.customer, coalesce((select sum(value) from {events} e where e.customer = o.customer "
    "and e.day <= o.day), 0) as total from {orders} o",
    "shows_max": "select a.day, a.size, (select max(e.name) from {events} e where e.size = a.size) as name "
    "from (select distinct day, size from {orders}) a",
    "shows_more": "select customer, total + 1 as total from (select o.customer, (select max(value) from {events} e "
    "where e.customer = o.customer) as total from {orders} o)",
    "groups_it": "select size, total, count(distinct id) as n from (select o.id, o.size, (select max(value) "
    "from {events} e where e.size = o.size) as total from {orders} o) group by size, total",
    "follows_it": "select a.size, a.top from {tops} a union all select o.size, cast((select max(value) from {events} e "
    "where e.size = o.size) as bigint) as top from {orders} o",
    "joins_by_it": "select size, top, o.id from (select o.id, o.size, cast((select max(value) from {events} e "
    "where e.size = o.size) as bigint) as top from {orders} o) o left join {tops} using (size, top)",
    "joins_it": "select x.size, x.name, t.tag from (select o.id, o.size, (select max(name) from {events} e "
    "where e.size = o.size) as name from {orders} o) x join {tags} t on t.size = x.size where x.id < 3",
}
ROWS: list[Change] = [
    (["INSERT INTO {orders} VALUES (100, 1, DATE '2024-01-02', 1), (101, 2, DATE '2024-01-03', 2)"], {}),
    (
        ["DELETE FROM {orders} WHERE id IN (100, 101)"],
        {"shows_sum": "overwrite", "shows_more": "overwrite", "groups_it": "overwrite"},
    ),
    (["UPDATE {orders} SET size = 2 WHERE customer = 1"], {"shows_max": "overwrite", "groups_it": "overwrite"}),
    (["INSERT INTO {tops} VALUES (0, 6), (1, 6), (2, 6), (1, 4), (0, 5), (2, 5)"], {}),
    (["UPDATE {tags} SET tag = 'z' WHERE size > 0"], {"joins_it": "overwrite", "shows_max": "none"}),
]

NAMES = {
    "owners": "AS SELECT * FROM VALUES (1, 'a', 100), (2, current_user(), 100), (3, 'b', 3) AS o(id, user, bound)",
    "values": "TBLPROPERTIES ('write.metadata.metrics.default'='none') AS "
    "SELECT * FROM VALUES ('a', 1), (current_user(), 5), ('b', 40) AS t(owner, value)",
}
NAMING = {
    "counts_mine": "select o.id, o.user, (select count(*) from {values} v where v.owner = user) as n from {owners} o",
    "has_mine": "select o.id from {owners} o where exists (select 1 from {values} v where v.owner = user and value > 5)",
    "above": "select id from {owners} where id < (select count(*) from {values} where value < bound)",
    "in_list": "select id, (select max(value) from {values} where value < bound) as top from {owners}",
    "there_is": "select id from {owners} where exists (select 1 from {values} where value > bound)",
    "lateral": "select id, m from {owners} join lateral (select max(value) as m from {values} where value < bound) z",
}
MINE = {"counts_mine": "full", "has_mine": "full"}


@pytest.fixture(scope="module")
def shown(lake: LakeProject) -> dict[str, str]:
    return built(lake, "shown_", SHOWN, SHOWING, SHOWING)


@pytest.mark.parametrize("change", in_turn(ROWS, 1))
def test_views_that_show_correlated_subqueries(lake: LakeProject, shown: dict[str, str], change: Change) -> None:
    assert_follows(lake, shown, change, SHOWING)


@pytest.mark.long
def test_names_that_are_functions_or_variables_without_the_row(lake: LakeProject) -> None:
    tables = built(lake, "named_", NAMES, NAMING, NAMING)
    lake.sql("DECLARE OR REPLACE VARIABLE bound INT DEFAULT -1")
    try:
        for value in (60, 2):
            assert_follows(lake, tables, ([f"INSERT INTO {{values}} VALUES (current_user(), {value})"], MINE), NAMING)
        assert_follows(lake, tables, (["DELETE FROM {values} WHERE value < 5"], MINE), NAMING)
    finally:
        lake.sql("DROP TEMPORARY VARIABLE bound")


def test_a_variable_is_noticed_under_any_name(lake: LakeProject) -> None:
    table = f"lake.{lake.schema}.rates"
    lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT * FROM VALUES (1, 10), (2, 20) AS t(day, value)")

    def run(rate: int) -> dict[str, dict[str, object]]:
        # The session of dbt may be another one than that of the test.
        declared = f"DECLARE OR REPLACE VARIABLE rate INT DEFAULT {rate}"
        lake.sql(declared)
        rated = f"select day, sum(value) * rate as rate from {table} group by day"
        lake.model("rated", rated, pre_hook=declared)
        starred = f"with c as (select * from {table}) select day, value < rate as below from c"
        lake.model("starred", starred, pre_hook=declared)
        return lake.run("--select", "rated", "starred")

    try:
        run(10)
        lake.sql(f"INSERT INTO {table} VALUES (3, 30)")
        found = run(20)
        assert {name: found[name]["refresh_kind"] for name in found} == {"rated": "full", "starred": "full"}
        lake.assert_equals_definition("rated", "starred")
    finally:
        lake.sql("DROP TEMPORARY VARIABLE rate")
