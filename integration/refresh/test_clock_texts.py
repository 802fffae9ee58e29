"""Texts such as 'today' that are shown or compared with texts: they are no clock, and make no refresh full."""

from __future__ import annotations

import pytest

from integration.support.following import Change, assert_follows, filled, in_turn
from integration.support.lake import LakeProject

TABLES = {
    "tasks": (
        "id bigint, status string, due date",
        "(1, 'today', date'2024-05-05'), (2, 'later', date'2024-05-06'), (3, 'now', date'2024-05-06'), "
        "(4, null, current_date())",
    )
}
PARTITIONED = {"tasks": "PARTITIONED BY (due)"}
VIEWS = {
    "shown": "select id, due, case when id % 2 = 0 then 'now' else 'today' end as label from {tasks}",
    "compared": "select id, due, status in ('now', 'tomorrow') as is_soon from {tasks} where status <> 'today'",
    "grouped": "select due, count(if(status = 'now', 1, null)) as n from {tasks} group by due",
    "below": "with q as (select id, due, coalesce(status, 'today') as s from {tasks}) "
    "select * from q where s = 'today'",
    "beside": "select id, due, status as s from {tasks} union all select id, due, 'yesterday' from {tasks}",
}
FOLLOWED = dict.fromkeys(VIEWS, "overwrite")
CHANGES: list[Change] = [
    ([], dict.fromkeys(VIEWS, "none")),
    (["update {tasks} set status = 'now', id = 8 where id = 2"], FOLLOWED),
    (["delete from {tasks} where id in (3, 4)", "update {tasks} set status = 'today' where id = 1"], {}),
]


@pytest.fixture(scope="module")
def tasks(lake: LakeProject) -> dict[str, str]:
    tables = filled(lake, "texts_", TABLES, PARTITIONED)
    for name, sql in VIEWS.items():
        lake.model(name, sql.format(**tables))
    lake.run("--select", *VIEWS)
    return tables


@pytest.mark.parametrize("change", in_turn(CHANGES, 1))
def test_they_are_refreshed_in_part(lake: LakeProject, tasks: dict[str, str], change: Change) -> None:
    assert_follows(lake, tasks, change, VIEWS)


def test_what_spark_takes_for_the_clock(lake: LakeProject) -> None:
    """A constant that is cast is one, by whatever is beside it; what a name stands for is cast as any text is."""
    assert lake.sql("SELECT current_date() = 'today', current_date() = DATE 'today'")[0] == (True, True)
    # With control characters around it, too, as Java trims a text.
    assert lake.sql("SELECT current_date() = '\\u0001today\\u0002'")[0][0] is True
    for text in ("(SELECT 'today' AS s)", "(SELECT 'x' AS s UNION ALL SELECT 'today')"):
        assert {row[0] for row in lake.sql(f"SELECT try_cast(s AS date) FROM {text} q")} == {None}
