"""Subqueries in a SELECT list: a table inside them changes the groups of those rows of which they say something else."""

from __future__ import annotations

import pytest

from integration.support.following import in_turn
from integration.support.lake import LakeProject

_BOUGHT = "exists (select 1 from {orders} o where o.customer = c.id)"
VIEWS = {
    "buyers": f"select tier, count_if({_BOUGHT}) as buyers, count(*) as n from {{customers}} c group by tier",
    "idle": f"select tier, sum(case when not {_BOUGHT} then c.credit else 0 end) as credit from {{customers}} c group by 1",
    "large": "select tier, sum(case when c.id in (select customer from {orders} where amount > 8) then 1 end) as n "
    "from {customers} c where c.credit > 1 or c.credit is null group by tier having count(*) > 2",
    "largest": "select tier, sum(coalesce((select max(o.amount) from {orders} o where o.customer = c.id), 0)) as amount "
    "from {customers} c group by tier",
    "flagged": f"with f as (select c.*, {_BOUGHT} as is_buyer from {{customers}} c) "
    "select is_buyer, tier, count(*) as n, max(credit) as credit from f group by is_buyer, tier",
    "kept": f"select tier, credit from (select c.*, not {_BOUGHT} as is_idle from {{customers}} c) f where is_idle",
    "inner_one": "select tier, count_if(exists (select 1 from {orders} o where o.customer = c.id and not exists "
    "(select 1 from {orders} p where p.customer = o.customer and p.amount > o.amount))) as n "
    "from {customers} c group by tier",
}
ROUNDS = {
    "an order comes": "insert into {orders} values (9000, 59, 3)",
    "an order grows": "update {orders} set amount = 50 where id = 7",
    "a customer's orders go": "delete from {orders} where customer = 4",
    "an order moves": "update {orders} set customer = 58 where id = 9",
    "a customer moves": "update {customers} set tier = 't9' where id = 3",
    "no customer": "insert into {orders} values (9001, null, 4), (9002, 7777, 9)",
}


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    names = {name: f"lake.{lake.schema}.listed_{name}" for name in ("orders", "customers")}
    lake.sql(f"create table {names['orders']} (id int, customer int, amount int) using iceberg")
    lake.sql(f"create table {names['customers']} (id int, tier string, credit int) using iceberg")
    lake.sql(f"insert into {names['orders']} select int(id), int(id % 50), int(id % 11) from range(300)")
    lake.sql(
        f"insert into {names['customers']} select int(id), concat('t', id % 20), if(id = 5, null, int(id % 7)) "
        "from range(60)"
    )
    for view, sql in VIEWS.items():
        lake.model(view, sql.format(**names))
    lake.run("--select", *VIEWS)
    return names


@pytest.mark.parametrize("change", in_turn(ROUNDS, 1))
def test_groups_are_replaced(change: str, lake: LakeProject, tables: dict[str, str]) -> None:
    lake.sql(ROUNDS[change].format(**tables))
    found = {name: response["refresh_kind"] for name, response in lake.run("--select", *VIEWS).items()}
    lake.assert_equals_definition(*VIEWS)
    assert set(found.values()) <= {"overwrite", "merge", "none"}, [
        (n, r["_message"]) for n, r in lake.responses().items() if r["refresh_kind"] == "full"
    ]
    assert change == "no customer" or found["largest"] == "overwrite", found
