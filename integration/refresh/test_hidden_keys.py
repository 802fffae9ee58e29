"""SELECTs that leave out what changes are followed by: the storage keeps it all the same, and nobody sees it."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager
from dbt.adapters.icebergmv.reading import read_materialized_view
from integration.support.following import in_turn
from integration.support.lake import LakeProject

VIEWS = {
    "amounts": "select id, amount from {orders}",
    "in_steps": "with source as (select * from {orders}), renamed as (select id as order_id, amount -- in cents\n"
    " as cents, at, customer from source where amount is not null), final as (select order_id, cents from renamed join"
    " {customers} c on customer = c.id) select * from final",
    "enriched": "select o.id, c.country from {orders} o left join {customers} c on o.customer = c.id",
    "matched": "select o.amount, c.country from {orders} o join {customers} c on o.customer = c.id",
    "ranked": "select id, rank() over (partition by date(at) order by id) as r from {orders}",
    "beside_all": "select id, amount - sum(amount) over (partition by customer) as less from {orders}",
    "last_of_each": "select amount from (select *, row_number() over (partition by customer order by id desc) as n "
    "from {orders}) where n = 1",
    "days": "select count(*) as n, sum(amount) as amount from {orders} group by at, customer",
    "busy": "select customer, max(amount) as amount from {orders} group by date(at), at, customer having count(*) > 0",
    "runs": "select concat(customer, '-', run) as run, count(*) as n, percentile(amount, 0.5) as median from "
    "(select *, sum(amount) over (partition by customer order by at, id) as run from {orders}) group by customer, run",
    "one_country": "select o.id from {orders} o where o.customer in (select id from {customers} where country = 'DE')",
}
ROUNDS = {
    "one day is updated": (
        ["UPDATE {orders} SET amount = amount + 1 WHERE date(at) = date'2024-01-03'"],
        {"amounts": (1, 10), "in_steps": (1, 10), "matched": (1, 10)},
    ),
    "a row moves to another day": (
        ["UPDATE {orders} SET at = timestamp'2024-01-09 23:59:59' WHERE id = 3"],
        {"amounts": (2, 10), "enriched": (2, 10)},
    ),
    "rows without a day": (
        ["INSERT INTO {orders} VALUES (900, null, null, 1)", "DELETE FROM {orders} WHERE id = 4"],
        {"amounts": (2, 11)},
    ),
    "a day goes": (
        ["DELETE FROM {orders} WHERE date(at) = date'2024-01-05' OR at IS NULL"],
        {"amounts": (2, 11), "enriched": (2, 11)},
    ),
}


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    names = {name: f"lake.{lake.schema}.{name}" for name in ("orders", "customers")}
    lake.sql(
        f"CREATE TABLE {names['orders']} USING iceberg PARTITIONED BY (days(at)) AS SELECT cast(id AS int) AS id, "
        "timestamp'2024-01-01 10:00:00' + make_dt_interval(cast(id % 10 AS int)) AS at, cast(id % 8 AS int) AS customer,"
        " cast(id % 5 AS int) AS amount FROM range(80)"
    )
    lake.sql(
        f"CREATE TABLE {names['customers']} USING iceberg AS SELECT cast(id AS int) AS id, "
        "if(id % 2 = 0, 'DE', 'FR') AS country FROM range(7)"
    )
    for name, sql in VIEWS.items():
        lake.model(name, sql.format(**names))
    assert {r["refresh_kind"] for r in lake.run().values()} == {"full"}
    return names


@pytest.mark.parametrize("change", in_turn(ROUNDS, 2))
def test_days_that_nothing_shows_are_followed(lake: LakeProject, tables: dict[str, str], change: str) -> None:
    statements, partitions = ROUNDS[change]
    for statement in statements:
        lake.sql(statement.format(**tables))
    found = lake.run("--select", *VIEWS)
    lake.assert_equals_definition(*VIEWS)
    followed = {name: (found[name]["stale_partitions"], found[name]["total_partitions"]) for name in partitions}
    assert (followed, {found[name]["refresh_kind"] for name in partitions}) == (partitions, {"overwrite"})


def test_a_customer_is_followed_by_the_key_of_the_join(lake: LakeProject, tables: dict[str, str]) -> None:
    lake.sql(f"UPDATE {tables['customers']} SET country = 'US' WHERE id = 1")
    found = lake.run("--select", *VIEWS)
    lake.assert_equals_definition(*VIEWS)
    assert {name: found[name]["refresh_kind"] for name in ("enriched", "matched", "amounts")} == {
        "enriched": "overwrite",
        "matched": "overwrite",
        "amounts": "none",
    }


def test_rows_of_a_window_are_followed_by_what_it_is_partitioned_by(lake: LakeProject, tables: dict[str, str]) -> None:
    lake.sql("UPDATE {orders} SET amount = amount + 7 WHERE id = 79".format(**tables))
    found = lake.run("--select", "beside_all", "last_of_each")
    lake.assert_equals_definition("beside_all", "last_of_each")
    assert {name: response["refresh_kind"] for name, response in found.items()} == {
        "beside_all": "overwrite",
        "last_of_each": "overwrite",
    }
    assert {len(lake.sql(f"SELECT * FROM {lake.view(name)}")[0]) for name in found} == {1, 2}


def test_groups_are_followed_by_a_key_that_is_left_out(lake: LakeProject, tables: dict[str, str]) -> None:
    lake.sql("UPDATE {orders} SET amount = amount + 9 WHERE id = 78".format(**tables))
    found = lake.run("--select", "days", "busy", "runs")
    lake.assert_equals_definition("days", "busy", "runs")
    assert {name: response["refresh_kind"] for name, response in found.items()} == {
        **{"days": "overwrite", "busy": "overwrite", "runs": "overwrite"}
    }


def test_nobody_sees_them(lake: LakeProject, tables: dict[str, str]) -> None:
    lake.model("over_it", "select * from {{ ref('amounts') }}")
    lake.run("--select", "over_it")
    lake.assert_equals_definition("over_it")
    for name in ("amounts", "over_it"):
        assert [row[0] for row in lake.sql(f"DESCRIBE lake.{lake.schema}.{name}")] == ["id", "amount"]
    lake.sql(f"UPDATE {tables['orders']} SET amount = amount + 1 WHERE id = 11")
    found = lake.run("--select", "amounts", "over_it")
    assert {name: r["refresh_kind"] for name, r in found.items()} == {"amounts": "overwrite", "over_it": "overwrite"}
    lake.assert_equals_definition("amounts", "over_it")


@pytest.mark.long
def test_readers_stitch_by_them(lake: LakeProject, tables: dict[str, str]) -> None:
    lake.model("stitched", VIEWS["amounts"].format(**tables), stale_read_behavior="use_stitching")
    assert lake.run("--select", "stitched")["stitched"]["stale_read_behavior"] == "use_stitching"
    for change in (
        "UPDATE {orders} SET amount = amount + 1 WHERE date(at) = date'2024-01-06'",
        "UPDATE {orders} SET at = null WHERE id = 12",
        "INSERT INTO {orders} VALUES (901, timestamp'2024-01-02 00:00:00', 3, 8)",
    ):
        lake.sql(change.format(**tables))
        lake.assert_equals_definition("stitched")
    now = read_materialized_view(SparkSession.active(), f"lake.{lake.schema}.amounts")
    wanted = lake.sql(lake.definition("amounts"))
    assert sorted(map(repr, now.collect())) == sorted(map(repr, wanted))


@pytest.mark.long
def test_a_base_that_is_partitioned_otherwise_later(lake: LakeProject, tables: dict[str, str]) -> None:
    base = f"lake.{lake.schema}.evolving"
    lake.sql(
        f"CREATE TABLE {base} USING iceberg PARTITIONED BY (region) AS SELECT id, concat('r', id % 3) AS region,"
        " date_add(date'2024-01-01', cast(id % 4 AS int)) AS day FROM range(24)"
    )
    lake.model("ids", f"select id from {base}")
    lake.run("--select", "ids")
    lake.sql(f"ALTER TABLE {base} REPLACE PARTITION FIELD region WITH day")
    lake.sql(f"UPDATE {base} SET id = id + 100 WHERE day = date'2024-01-02'")
    lake.run("--select", "ids")
    lake.assert_equals_definition("ids")
    assert lake.run("--select", "ids", "--full-refresh")["ids"]["refresh_kind"] == "full"
    lake.sql(f"UPDATE {base} SET id = id + 100 WHERE day = date'2024-01-03'")
    found = lake.run("--select", "ids")["ids"]
    assert (found["refresh_kind"], found["stale_partitions"], found["total_partitions"]) == ("overwrite", 1, 4)
    lake.assert_equals_definition("ids")
    lake.sql(f"ALTER TABLE {base} REPLACE PARTITION FIELD day WITH bucket(4, id)")
    lake.sql(f"ALTER TABLE {base} DROP COLUMN day")
    lake.sql(f"INSERT INTO {base} VALUES (77, 'r1')")
    lake.run("--select", "ids")
    lake.assert_equals_definition("ids")
    assert lake.run("--select", "ids")["ids"]["refresh_kind"] == "none"


@pytest.mark.long
def test_a_select_that_changes(lake: LakeProject, tables: dict[str, str]) -> None:
    lake.model("changing", VIEWS["amounts"].format(**tables))
    lake.run("--select", "changing")
    lake.model("changing", "select customer, count(*) as n from {orders} group by customer".format(**tables))
    assert lake.run("--select", "changing")["changing"]["refresh_kind"] == "full"
    assert lake.run("--select", "changing")["changing"]["refresh_kind"] == "none"
    lake.sql(f"INSERT INTO {tables['orders']} VALUES (902, timestamp'2024-01-02 00:00:00', 3, 8)")
    lake.run("--select", "changing")
    lake.assert_equals_definition("changing")
    lake.model("changing", "select customer from {orders}".format(**tables), contract={"enforced": False})
    lake.run("--select", "changing")
    lake.sql(f"UPDATE {tables['orders']} SET customer = 5 WHERE id = 902")
    found = lake.run("--select", "changing")["changing"]
    assert (found["refresh_kind"], found["stale_partitions"]) == ("overwrite", 1)
    lake.assert_equals_definition("changing")


@pytest.mark.long
def test_a_rebuild_for_other_keys_that_died(lake: LakeProject, tables: dict[str, str]) -> None:
    """The storage has other keys then, of the same type, than the rows that the view still shows."""
    base = f"lake.{lake.schema}.rebuilt"
    lake.sql(
        f"CREATE TABLE {base} USING iceberg PARTITIONED BY (shop) AS SELECT id, concat('r', id % 3) AS shop,"
        " concat('r', (id + 1) % 4) AS region FROM range(24)"
    )
    lake.model("rebuilt_ids", f"select id from {base}")
    lake.run("--select", "rebuilt_ids")
    lake.sql(f"ALTER TABLE {base} REPLACE PARTITION FIELD shop WITH region")
    name = base.removeprefix("lake.")
    lake.sql(f"CALL lake.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true'))")
    assert lake.run("--select", "rebuilt_ids")["rebuilt_ids"]["refresh_kind"] == "none"
    with pytest.MonkeyPatch.context() as patch:
        add_query = IcebergMVConnectionManager.add_query

        def before_it_is_published(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
            if "CREATE OR REPLACE VIEW" in sql:
                raise RuntimeError("killed")
            return add_query(self, sql, *arguments, **named)

        patch.setattr(IcebergMVConnectionManager, "add_query", before_it_is_published)
        lake.fail("--select", "rebuilt_ids", "--full-refresh")
    lake.sql(f"UPDATE {base} SET id = id + 100 WHERE region = 'r1'")
    lake.run("--select", "rebuilt_ids")
    lake.assert_equals_definition("rebuilt_ids")


def kinds(lake: LakeProject, *names: str) -> set[str]:
    """Run views, and return the kinds of their refreshes."""
    return {found["refresh_kind"] for found in lake.run("--select", *names).values()}


@pytest.mark.long
def test_readers_of_a_view_whose_base_gets_another_name_for_a_key(lake: LakeProject, tables: dict[str, str]) -> None:
    """The SELECT does not name the column, so it goes on."""
    base = f"lake.{lake.schema}.renamed"
    lake.sql(
        f"CREATE TABLE {base} USING iceberg PARTITIONED BY (day) AS SELECT id,"
        " date_add(date'2024-01-01', cast(id % 4 AS int)) AS day FROM range(24)"
    )
    for behavior in ("use_view_query", "fail"):
        lake.model(f"renamed_{behavior}", f"select id from {base}", stale_read_behavior=behavior)
    names = ("renamed_use_view_query", "renamed_fail")
    lake.run("--select", *names)
    lake.sql(f"ALTER TABLE {base} RENAME COLUMN day TO happened_at")
    lake.assert_equals_definition(*names[:1])
    assert kinds(lake, *names) == {"full"}, "the rows are stored anew, by the column under its new name"
    lake.assert_equals_definition(*names)
    lake.sql(f"INSERT INTO {base} VALUES (900, date'2024-01-02')")
    assert kinds(lake, *names) == {"append"}
    lake.sql(f"ALTER TABLE {base} RENAME COLUMN happened_at TO day")
    assert kinds(lake, *names) == {"full"}
    lake.sql(f"UPDATE {base} SET id = id + 100 WHERE day = date'2024-01-02'")
    assert kinds(lake, *names) == {"overwrite"}
    lake.assert_equals_definition(*names)
