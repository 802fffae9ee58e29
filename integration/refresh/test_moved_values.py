"""A WHERE that compares rows with the value of a subquery, whose value changes: the last thirty days of what there is."""

from __future__ import annotations

import pytest

from integration.support.following import Change, assert_follows, built, in_turn
from integration.support.lake import LakeProject

TABLES = {
    "sales": "PARTITIONED BY (day) TBLPROPERTIES ('write.update.mode'='copy-on-write') AS "
    "SELECT date_add(DATE '2024-01-01', cast(id % 60 as int)) AS day, id, cast(id % 50 as int) AS customer, "
    "cast(id % 97 as decimal(9, 2)) AS amount, cast(id % 7 as smallint) AS size, id / 10D AS weight, "
    "timestamp '2024-03-30 22:00:00' + make_interval(0, 0, 0, 0, 0, cast(id % 600 as int)) AS at FROM range(6000)",
    "limits": "AS SELECT 'amount' AS what, cast(90.50 as decimal(9, 2)) AS value, cast(5 as smallint) AS size, "
    "590.5D AS weight, 'k' AS name",
    "customers": "TBLPROPERTIES ('write.metadata.metrics.default'='none') AS SELECT cast(id as int) AS id, "
    "chr(cast(97 + id % 26 as int)) AS name FROM range(50)",
}
DAYS = "where day >= (select max(day) - interval 30 days from {sales})"
VIEWS = {
    "rolling": f"select day, sum(amount) as total, count(distinct customer) as n from {{sales}} {DAYS} group by day",
    "rolling_rows": f"select day, id, amount from {{sales}} {DAYS} and amount > 3",
    "rolling_names": "select s.day, c.name, count(distinct s.id) as n from {customers} c left join "
    f"(select day, id, customer from {{sales}} {DAYS}) s on s.customer = c.id group by s.day, c.name",
    "above": "select customer, count(distinct day) as n from {sales} where amount > (select max(value) from {limits}) "
    "group by customer",
    "heavy": "select day, max(weight) as w, count(distinct id) as n from {sales} where weight > (select max(weight) "
    "from {limits}) group by day",
    "sized": "select day, count(distinct id) as n from {sales} where size >= (select max(size) from {limits}) "
    "or size is null group by day",
    "named": "select id, name from {customers} where name > (select max(name) from {limits})",
    "recent": "select id, at from {sales} where at > (select max(at) - interval 1 minute from {sales}) and size = 3",
    "both": "select day, count(distinct id) as n from {sales} where amount > (select max(l.value) - max(c.id) "
    "from {limits} l cross join {customers} c where l.what = 'amount') group by day",
}
A_DAY = (
    "INSERT INTO {sales} SELECT DATE '2024-03-01', id, cast(id % 50 as int), 5, 3, 1D, at FROM {sales} WHERE id < 90"
)
CHANGES: list[Change] = [
    ([A_DAY], {"rolling": "overwrite", "rolling_rows": "overwrite", "rolling_names": "overwrite"}),
    # No amount is between the two.
    (["UPDATE {limits} SET value = 90"], {"above": "none", "both": "none", "named": "none"}),
    (
        ["UPDATE {limits} SET value = NULL, size = 6, weight = 595.25D, name = 'm'"],
        {"above": "overwrite", "heavy": "overwrite", "sized": "overwrite", "named": "overwrite"},
    ),
    (
        ["UPDATE {limits} SET value = 96, size = NULL", "DELETE FROM {sales} WHERE day >= '2024-02-29'"],
        {"rolling": "overwrite", "above": "none", "sized": "overwrite", "both": "overwrite"},
    ),
    (["INSERT INTO {limits} VALUES ('amount', 95, 2, 590.5D, 'it''s')", A_DAY.replace("90", "900")], {}),
    (["DELETE FROM {customers} WHERE id > 40", "UPDATE {limits} SET value = value - 2, weight = double('NaN')"], {}),
    (
        [
            "INSERT INTO {sales} SELECT day, id, customer, amount, size, -0.0D, at + interval 70 seconds FROM {sales} "
            "WHERE id = 598"
        ],
        {"recent": "overwrite"},
    ),
    (["DELETE FROM {limits}"], {}),
]


@pytest.fixture(scope="module")
def bounded(lake: LakeProject) -> tuple[LakeProject, dict[str, str]]:
    return lake, built(lake, "bounded_", TABLES, VIEWS, VIEWS)


@pytest.mark.parametrize("change", in_turn(CHANGES, 1))
def test_views_follow_the_bound(bounded: tuple[LakeProject, dict[str, str]], change: Change) -> None:
    found = assert_follows(*bounded, change, VIEWS)
    for view, kind in change[1].items():
        if kind == "overwrite":
            assert int(found[view]["rows_affected"]) < 1500, found[view]


def test_beside_a_branch_at_a_snapshot(lake: LakeProject) -> None:
    table, limits = (f"lake.{lake.schema}.branch_{name}" for name in ("rows", "limits"))
    lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT cast(id AS int) AS id, id % 5 AS k FROM range(100)")
    lake.sql(f"CREATE TABLE {limits} USING iceberg AS SELECT 90 AS value")
    snapshot = lake.sql(f"SELECT snapshot_id FROM {table}.snapshots")[0][0]
    lake.model(
        "beside_a_branch",
        f"select id, k from {table} where id > (select max(value) from {limits}) "
        f"union all select id, k from {table} version as of {snapshot}",
    )
    lake.run("--select", "beside_a_branch")
    lake.sql(f"INSERT INTO {limits} VALUES (95)")
    lake.run("--select", "beside_a_branch")
    lake.assert_equals_definition("beside_a_branch")
