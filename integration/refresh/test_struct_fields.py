"""Fields of structs, named without the table: they are read, filtered, grouped and joined by as columns are."""

from __future__ import annotations

import pytest

from integration.support.following import in_turn
from integration.support.lake import LakeProject

VIEWS = {
    "kinds": "select payload.kind as kind, count(*) as n, sum(amount) as amount from {events} group by payload.kind",
    "known": "select id, payload.user.id as user_id, amount from {events} where payload.user.id > 5 and amount < 900",
    "widest": "select payload.kind as kind, percentile(amount, 0.5) as median from {events} where payload.user.id < 30 "
    "group by payload.kind having count(*) > 1",
    "by_name": "select u.name, payload.kind as kind, max(amount) as amount from {events} e "
    "join {users} u on payload.user.id = u.id group by u.name, payload.kind",
    "largest": "select kind, id from (select payload.kind as kind, id, row_number() over (partition by payload.kind "
    "order by amount desc) as place from {events}) e where place = 1",
    "unread": "with staged as (select * from {events}) select id % 9 as k, sum(amount) as amount from staged group by 1",
    "unread_ones": "with staged as (select * from {events}) select id % 9 as k, percentile(amount, 0.5) as median "
    "from staged group by id % 9",
}
ROUNDS = {
    "events come": "insert into {events} values (900, named_struct('kind', 'k1', 'user', named_struct('id', 7)), 5, "
    "null), (901, null, 6, null), (902, named_struct('kind', null, 'user', null), 7, null)",
    "an event changes": "update {events} set payload = named_struct('kind', 'k2', 'user', named_struct('id', 8)) "
    "where id = 15",
    "events go": "delete from {events} where payload.kind = 'k3'",
    "a user is renamed": "update {users} set name = 'other' where id = 7",
}


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    names = {name: f"lake.{lake.schema}.fields_{name}" for name in ("events", "users")}
    lake.sql(
        f"create table {names['events']} (id int, payload struct<kind: string, user: struct<id: int>>, amount int, "
        "others struct<`of a name`: int, `select`: string>) using iceberg"
    )
    lake.sql(f"create table {names['users']} (id int, name string) using iceberg")
    lake.sql(
        f"insert into {names['events']} select int(id), named_struct('kind', concat('k', id % 20), "
        "'user', named_struct('id', int(id % 40))), int(id * 7 % 1000), null from range(400)"
    )
    lake.sql(f"insert into {names['users']} select int(id), concat('n', id % 15) from range(40)")
    for view, sql in VIEWS.items():
        lake.model(view, sql.format(**names), refresh_policy="incremental")
    lake.run("--select", *VIEWS)
    return names


@pytest.mark.parametrize("change", in_turn(ROUNDS, 2))
def test_in_part(change: str, lake: LakeProject, tables: dict[str, str]) -> None:
    lake.sql(ROUNDS[change].format(**tables))
    found = lake.run("--select", *VIEWS)
    lake.assert_equals_definition(*VIEWS)
    kinds = {name: response["refresh_kind"] for name, response in found.items()}
    assert "full" not in kinds.values(), {n: r["_message"] for n, r in found.items()}
