"""Aggregates of what does not add up: the rows below them that changes reach are computed as they are and as they were."""

from __future__ import annotations

import pytest

from integration.support.following import assert_follows
from integration.support.lake import LakeProject

pytestmark = pytest.mark.long

VIEWS = {
    # TPC-H 13.
    "of_counts": "select c_count, count(*) as customers from (select c.id, count(o.id) as c_count from {customers} c"
    " left outer join {orders} o on c.id = o.customer and o.note not like '%9%' group by c.id) q group by c_count",
    # TPC-H 17.
    "large_ones": "select count(*) as n, sum(o.price) / 7.0 as yearly from {orders} o join {customers} c"
    " on o.customer = c.id where c.country <> 'US'"
    " and o.price > (select 1.3 * avg(i.price) from {orders} i where i.customer = c.id)",
    "common": "select count(*) as n, sum(customer) as s from"
    " (select customer, day from {orders} intersect select customer, day from {returns}) q",
    "never_returned": "select day, count(*) as n from (select distinct customer, day from {orders}"
    " except select customer, day from {returns}) q where customer > 0 or customer is null group by day",
    # TPC-DS 97.
    "channels": "with o as (select customer, day from {orders} group by customer, day),"
    " r as (select customer, day from {returns} group by customer, day)"
    " select sum(case when o.customer is not null and r.customer is null then 1 else 0 end) as only_o,"
    " sum(case when o.customer is null and r.customer is not null then 1 else 0 end) as only_r, count(*) as n"
    " from o full outer join r on o.customer = r.customer and o.day = r.day",
    "using": "select count(a.n) as l, count(b.n) as r, sum(a.n * b.n) as s, count(customer) as k from"
    " (select customer, count(*) as n from {orders} group by customer) a full join"
    " (select customer, count(*) as n from {returns} group by customer) b using (customer)",
    "ranked": "select count(*) as n, sum(amount) as s from"
    " (select customer, amount, rank() over (partition by customer order by amount desc) as r from {orders}) q"
    " where r = 1",
    "not_there": "select count(*) as n, sum(amount) as s from {orders} o"
    " where not exists (select 1 from {returns} r where r.customer = o.customer and r.day = o.day)",
    "supplied": "select r.day, count(*) as n, sum(o.amount) as s from {orders} o left join {returns} r"
    " on o.customer = r.customer group by r.day",
    "above_average": "select count(*) as n, sum(amount) as s from {orders} o"
    " where amount > (select avg(amount) from {orders} i where i.customer <=> o.customer)",
    "numbered": "select count(*) as n, sum(amount) as s from (select customer, amount, row_number() over"
    " (partition by customer order by day, amount) as r from {orders}) q where r = 1",
    # Values that depend on the order in which rows are read.
    "of_floats": "select count(*) as n from (select customer, sum(score) as s from {orders} group by customer) q"
    " where s > 1",
}
MERGED = [name for name in VIEWS if name != "of_floats"]
# Changes one after the other, and how views follow.
ROUNDS = {
    "one more order": (
        ["INSERT INTO {orders} VALUES (100, 1, date'2024-03-01', 50, 9991.25, 'n', 1.5D)"],
        {**dict.fromkeys(MERGED, "merge"), "never_returned": "overwrite", "of_floats": "full"},
    ),
    "orders of nobody": (
        [
            "INSERT INTO {orders} VALUES (101, null, date'2024-03-01', null, null, 'zz', null),"
            " (102, null, null, 3, 4.5, null, -0.0D)"
        ],
        {**dict.fromkeys(("channels", "using", "ranked", "not_there"), "merge"), "of_counts": "none"},
    ),
    "nobody returns them": (
        ["INSERT INTO {returns} VALUES (900, null, null), (901, null, date'2024-03-01'), (902, 1, date'2024-03-01')"],
        dict.fromkeys(("common", "channels", "using", "not_there"), "merge"),
    ),
    "written again with the same rows": (
        ["UPDATE {orders} SET amount = amount WHERE day = date'2024-01-02'"],
        dict.fromkeys(("of_counts", "large_ones", "using", "ranked", "supplied"), "none"),
    ),
    "to another customer": (
        ["UPDATE {orders} SET customer = 2, price = price + 1000 WHERE id = 3"],
        dict.fromkeys(("of_counts", "large_ones", "channels", "ranked", "using", "above_average"), "merge"),
    ),
    "both sides change": (
        [
            "DELETE FROM {orders} WHERE customer = 3",
            "DELETE FROM {returns} WHERE customer = 1",
            "INSERT INTO {returns} VALUES (903, 2, date'2024-01-04'), (904, 5, date'2024-01-05')",
            "UPDATE {customers} SET country = 'O\\'x \\\\ `y`' WHERE id = 1",
            "INSERT INTO {customers} VALUES (6, null)",
        ],
        dict.fromkeys(("of_counts", "common", "channels", "using", "not_there"), "merge"),
    ),
    "everything goes": (
        ["DELETE FROM {returns}"],
        dict.fromkeys(("common", "channels", "using", "not_there"), "merge"),
    ),
    "and begins again": (
        ["INSERT INTO {returns} SELECT id, customer, day FROM {orders} WHERE id < 9"],
        dict.fromkeys(("common", "channels", "using", "not_there"), "merge"),
    ),
}


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    names = {name: f"lake.{lake.schema}.{name}" for name in ("orders", "returns", "customers")}
    lake.sql(
        f"CREATE TABLE {names['orders']} USING iceberg PARTITIONED BY (months(day)) TBLPROPERTIES "
        "('format-version'='2', 'write.delete.mode'='merge-on-read', 'write.metadata.metrics.default'='none') AS "
        "SELECT cast(id AS int) AS id, cast(id % 3 + 1 AS int) AS customer, date_add(date'2024-01-01', "
        "cast(id % 4 AS int)) AS day, cast(id % 5 AS int) AS amount, cast(id * 1.37 AS decimal(15, 2)) AS price,"
        " concat('n', id) AS note, cast(id AS double) / 2 AS score FROM range(24)"
    )
    lake.sql(
        f"CREATE TABLE {names['returns']} USING iceberg TBLPROPERTIES ('write.metadata.metrics.default'='none') AS "
        f"SELECT id, customer, day FROM {names['orders']} WHERE id % 5 = 0"
    )
    lake.sql(
        f"CREATE TABLE {names['customers']} USING iceberg TBLPROPERTIES "
        "('write.metadata.metrics.default'='none') AS SELECT * FROM VALUES "
        "(1, 'DE'), (2, 'FR'), (3, 'US'), (4, cast(null as string)), (5, 'FR') AS c(id, country)"
    )
    for name, sql in VIEWS.items():
        lake.model(name, sql.format(**names))
    lake.run()
    return names


@pytest.mark.parametrize("change", ROUNDS)
def test_groups_are_merged_by_the_rows_below(lake: LakeProject, tables: dict[str, str], change: str) -> None:
    assert_follows(lake, tables, ROUNDS[change], VIEWS)
