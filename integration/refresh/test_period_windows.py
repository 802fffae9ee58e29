"""Windows by months, weeks and years of a column that the view shows: a changed row refreshes its period."""

from __future__ import annotations

import pytest

from integration.support.following import in_turn
from integration.support.lake import LakeProject

VIEWS = {
    "to_date": "select id, shop, ts, v, sum(v) over (partition by shop, date_trunc('month', ts) order by ts, id "
    "rows between unbounded preceding and current row) as month_to_date from {e}",
    "by_day": "select cast(ts as date) as d, sum(v) as s, sum(sum(v)) over (partition by trunc(cast(ts as date), 'MM') "
    "order by cast(ts as date)) as month_to_date from {e} group by cast(ts as date)",
    "two": "select id, ts, count(*) over (partition by year(ts)) as of_year, "
    "max(v) over (partition by date_trunc('week', ts)) as of_week from {e}",
    "ranked": "select * from (select id, ts, v, rank() over (partition by date_trunc('quarter', ts) order by v desc) as r "
    "from {e}) where r <= 3",
}
CHANGES = {
    "late rows": "insert into {e} values (900, 'a', timestamp '2024-02-10 23:59:59Z', 7)",
    "an update": "update {e} set v = v + 100 where id = 45",
    "a row moves to another month": "update {e} set ts = timestamp '2024-03-31 22:30:00Z' where id = 20",
    "a row without a time": "insert into {e} values (901, null, null, 3)",
    "a deletion": "delete from {e} where cast(ts as date) = date '2024-02-10'",
}


@pytest.fixture(scope="module")
def events(lake: LakeProject) -> str:
    name = f"lake.{lake.schema}.period_events"
    lake.sql(f"create table {name} (id int, shop string, ts timestamp, v int) using iceberg partitioned by (days(ts))")
    lake.sql(
        f"insert into {name} select cast(id as int), element_at(array('a', 'b', null), cast(id % 3 as int) + 1), "
        "timestamp '2023-12-20 06:00:00Z' + make_dt_interval(cast(id as int)), cast(id % 7 as int) from range(120)"
    )
    for view, sql in VIEWS.items():
        lake.model(view, sql.format(e=name))
    lake.run("--select", *VIEWS)
    return name


@pytest.mark.parametrize("change", in_turn(CHANGES, 1))
def test_a_changed_row_refreshes_its_period(change: str, lake: LakeProject, events: str) -> None:
    lake.sql(CHANGES[change].format(e=events))
    responses = lake.run("--select", *VIEWS)
    lake.assert_equals_definition(*VIEWS)
    assert {name: r["refresh_kind"] for name, r in responses.items() if r["refresh_kind"] != "overwrite"} == {}
