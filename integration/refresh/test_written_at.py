"""Columns that say when their row was written: rows that are kept keep them, and they make no refresh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from integration.support.lake import LakeProject

VIEWS = {
    "plain": "select id, amount, current_timestamp() as loaded_at from {orders}",
    "totals": "select region, sum(amount) as amount, count(*) as n, now() as loaded_at from {orders} group by region",
    "mixed": "with m as (select region, bit_xor(amount) as mixed from {orders} group by region), "
    "final as (select m.*, cast(current_timestamp() as string) as loaded_at from m) select * from final",
    "recent": "select region, day, sum(amount) as amount, now() as loaded_at from {orders} "
    "where day >= current_date - interval 9999 days group by region, day",
}
UNREAD = "with seen as (select id, amount, current_timestamp() as seen_at from {orders}) select id, amount from seen"


@pytest.fixture(scope="module")
def orders(lake: LakeProject) -> str:
    name = f"lake.{lake.schema}.written_orders"
    lake.sql(
        f"create table {name} using iceberg partitioned by (day) as select int(id) as id, concat('r', id % 30) as region, "
        "date_add(date'2024-01-01', int(id % 5)) as day, int(id) as amount from range(300)"
    )
    for view, sql in VIEWS.items():
        lake.model(view, sql.format(orders=name), written_at_columns=["loaded_at"], refresh_policy="incremental")
    lake.model("unread", UNREAD.format(orders=name), refresh_policy="incremental")
    lake.run("--select", *VIEWS, "unread")
    return name


def times(lake: LakeProject, view: str) -> dict[Any, Sequence[Any]]:
    shown = lake.sql(f"select * from {lake.view(view)}")
    return {tuple(row[:-1]): row[-1] for row in shown}


def test_nothing_changed(lake: LakeProject, orders: str) -> None:
    before = {view: times(lake, view) for view in VIEWS}
    found = lake.run("--select", *VIEWS, "unread")
    assert {r["refresh_kind"] for r in found.values()} == {"none"}
    assert {view: times(lake, view) for view in VIEWS} == before


CHANGES = {
    "insert into {} values (900, 'r3', date'2024-01-02', 7)": {"append", "merge", "overwrite"},
    "update {} set amount = amount + 1 where id = 11": {"merge", "overwrite"},
    "update {} set amount = 5 where id = 11 or id = 41": {"merge", "overwrite"},
    "delete from {} where id = 12": {"merge", "overwrite"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_rows_that_are_kept_keep_them(lake: LakeProject, orders: str, change: str) -> None:
    before = {view: times(lake, view) for view in VIEWS}
    lake.sql(change.format(orders))
    found = lake.run("--select", *VIEWS, "unread")
    assert {r["refresh_kind"] for r in found.values()} <= CHANGES[change], {n: r["_message"] for n, r in found.items()}
    after = {view: times(lake, view) for view in VIEWS}
    for view, sql in VIEWS.items():
        assert after[view].keys() == {tuple(row[:-1]) for row in lake.sql(sql.format(orders=orders))}, view
    lake.assert_equals_definition("unread")
    # Of the 30 regions one or two are computed; a merge writes all rows.
    kept = [row for row, written in after["mixed"].items() if before["mixed"].get(row) == written]
    assert len(after["mixed"]) - 2 <= len(kept) < len(after["mixed"])
    assert found["totals"]["refresh_kind"] == "merge"
    assert len({*after["totals"].values()}) == 1 and {*after["totals"].values()}.isdisjoint(before["totals"].values())


def test_rows_that_come_out_the_same(lake: LakeProject, orders: str) -> None:
    before = times(lake, "mixed")
    lake.sql(f"update {orders} set amount = amount where id in (20, 21)")
    lake.sql(f"insert into {orders} values (901, 'r4', date'2024-01-02', 7), (902, 'r4', date'2024-01-02', 7)")
    found = lake.run("--select", "mixed")["mixed"]
    assert found["refresh_kind"] in ("overwrite", "none"), found["_message"]
    assert times(lake, "mixed") == before


def test_it_is_no_difference(lake: LakeProject, orders: str) -> None:
    (lake.folder / "models" / "checks.yml").write_text(
        "models:\n" + "".join(f"  - name: {v}\n    data_tests: [materialized_view_is_right]\n" for v in VIEWS)
    )
    assert lake.dbt("test", "--select", *VIEWS).success


def test_without_the_setting_it_is_full(lake: LakeProject, orders: str) -> None:
    lake.model("plain", VIEWS["plain"].format(orders=orders))
    found = lake.run("--select", "plain")["plain"]
    assert found["refresh_kind"] == "full"
    lake.model("plain", VIEWS["plain"].format(orders=orders), written_at_columns="LOADED_AT")
    lake.run("--select", "plain")
    assert lake.run("--select", "plain")["plain"]["refresh_kind"] == "none"
