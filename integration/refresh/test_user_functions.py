"""Views that call functions of the user: full at every run, unless the model says that they are deterministic."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession

from integration.support.lake import LakeProject
from tests.support.shares import one_of

CENTS, BAND = "mv_cents", "mv_band"
VIEWS = {
    "priced": f"select id, day, {CENTS}(amount) as cents from {{orders}}",
    "bands": f"select {BAND}(amount) as band, count(*) as n, sum({CENTS}(amount)) as cents from {{orders}} group by 1",
    "large": f"select day, count(*) as n from {{orders}} where {BAND}(amount) = 'large' group by day",
    "named": f"select o.id, o.amount, b.label from {{orders}} o join {{bands}} b on {BAND}(o.amount) = b.band",
    "latest": "select id, day, band from (select id, day, band, row_number() over (partition by band order by day desc, "
    f"id) as rn from (select id, day, {BAND}(amount) as band from {{orders}}) o) r where rn <= 3",
}
OF_ORDERS = (
    "insert into {orders} values (900, date'2024-01-09', 500)",
    "update {orders} set amount = 9999, day = date'2024-01-08' where id = 7",
    "update {orders} set amount = amount + 1 where id = 3",
    "delete from {orders} where day = date'2024-01-03' and id < 20",
)
OF_BANDS = "update {bands} set label = 'huge' where band = 'large'"


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    names = {name: f"lake.{lake.schema}.own_{name}" for name in ("orders", "bands")}
    lake.sql("select 1")
    # Iceberg's extensions of Spark know no functions that are written in SQL.
    functions = SparkSession.active().udf
    functions.register(CENTS, lambda amount: amount * 100, "bigint")
    functions.register(BAND, lambda amount: "large" if amount > 150 else "small", "string")
    lake.sql(
        f"create table {names['orders']} using iceberg partitioned by (day) as select int(id) as id, "
        "date_add(date'2024-01-01', int(id % 5)) as day, id as amount from range(200)"
    )
    lake.sql(
        f"create table {names['bands']} using iceberg as select * from values ('large', 'L'), ('small', 'S') b(band, label)"
    )
    return names


def configure(lake: LakeProject, tables: dict[str, str], names: Sequence[str] | None) -> None:
    for view, sql in VIEWS.items():
        lake.model(view, sql.format(**tables), refresh_policy="incremental", deterministic_functions=names)


@pytest.mark.long
def test_without_the_setting_each_run_is_full(lake: LakeProject, tables: dict[str, str]) -> None:
    configure(lake, tables, None)
    lake.run("--select", *VIEWS)
    found = lake.run("--select", *VIEWS)
    assert {r["refresh_kind"] for r in found.values()} == {"full"}
    assert all("deterministic_functions does not name it" in r["refresh_reason"] for r in found.values())


def test_with_it_nothing_is_done_where_nothing_changed(lake: LakeProject, tables: dict[str, str]) -> None:
    configure(lake, tables, [CENTS, BAND])
    lake.run("--select", *VIEWS)
    found = lake.run("--select", *VIEWS)
    assert {r["refresh_kind"] for r in found.values()} == {"none"}


@pytest.mark.parametrize("change", one_of(2, OF_ORDERS))
def test_what_changed_is_refreshed(lake: LakeProject, tables: dict[str, str], change: str) -> None:
    lake.sql(change.format(**tables))
    found = lake.run("--select", *VIEWS)
    reasons = {view: (r["refresh_kind"], r["refresh_reason"]) for view, r in found.items()}
    assert {kind for kind, _ in reasons.values()} <= {"append", "merge", "overwrite"}, reasons
    assert reasons["bands"][0] == "merge"
    for view in VIEWS:
        lake.assert_equals_definition(view)


def test_other_views_are_left_alone(lake: LakeProject, tables: dict[str, str]) -> None:
    lake.sql(OF_BANDS.format(**tables))
    found = lake.run("--select", *VIEWS)
    assert {view for view, r in found.items() if r["refresh_kind"] != "none"} == {"named"}
    assert found["named"]["refresh_kind"] == "overwrite"
    lake.assert_equals_definition("named")
