"""Views by longer periods than the partitions below: a day is merged into its month, and other months are left alone."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.planning.choice import merge_or_overwrite
from dbt.adapters.icebergmv.maintenance.planning.cost import cost
from integration.support.following import Change, assert_follows, built, except_later
from integration.support.lake import LakeProject

TABLES = {
    "sales": "PARTITIONED BY (day) TBLPROPERTIES ('write.update.mode'='merge-on-read') AS SELECT cast(id AS int) AS id,"
    " date_add(date'2024-01-01', cast(id % 120 AS int)) AS day, cast(id % 7 AS int) AS amount,"
    " cast(id % 5 AS string) AS customer FROM range(24000)",
    "events": "PARTITIONED BY (hours(at)) AS SELECT id, timestamp'2024-03-30 20:00:00' + make_dt_interval(0,"
    " cast(id % 50 AS int)) AS at, map('k', cast(id % 3 AS string)) AS props FROM range(10000)",
}
VIEWS = {
    "monthly": "select date_trunc('month', day) as month, count(*) as n, sum(amount) as s, avg(amount) as a, max(id) as m"
    " from {sales} group by 1",
    "by_quarter": "select year(day) as y, trunc(day, 'quarter') as q, customer, sum(amount) as s from {sales} group by all",
    "daily": "select date(at) as day, count(*) as n, max(id) as newest from {events} group by 1",
    "not_merged": "select date_trunc('month', day) as month, count(distinct customer) as n from {sales} group by 1",
}
MERGED = dict.fromkeys(["monthly", "by_quarter"], "merge")
CHANGES: tuple[Change, ...] = (
    (["UPDATE {sales} SET amount = amount + 1 WHERE day = date'2024-02-10'"], {**MERGED, "not_merged": "overwrite"}),
    (["INSERT INTO {sales} VALUES (90000, date'2024-03-31', 5, null), (90001, null, 5, 'x')"], MERGED),
    (
        ["DELETE FROM {sales} WHERE day BETWEEN date'2024-04-01' AND date'2024-04-30'"],
        {**MERGED, "monthly": "overwrite"},
    ),
    (["INSERT INTO {events} VALUES (-1, timestamp'2024-03-31 01:30:00', null)"], {"daily": "merge", "monthly": "none"}),
    (["UPDATE {sales} SET day = date_add(day, 31) WHERE id % 2400 = 9"], {}),
)


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    return built(lake, "longer_", TABLES, VIEWS, VIEWS)


@pytest.fixture(autouse=True)
def _large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "FEW_ROWS", 0)
    monkeypatch.setattr(merge_or_overwrite, "LEAST_SAVED", 1)
    monkeypatch.setattr(merge_or_overwrite, "WRITTEN_AGAIN", 0)


def files_of(lake: LakeProject, view: str) -> set[str]:
    return {row[0] for row in lake.sql(f"SELECT file_path FROM {lake.state(view)['icebergmv.storage-table']}.files")}


def test_a_day_is_merged_into_its_month(lake: LakeProject, tables: dict[str, str]) -> None:
    assert "icebergmv_state_" in str(lake.sql(f"DESCRIBE {lake.state('monthly')['icebergmv.storage-table']}"))
    assert "icebergmv_state_" not in str(lake.sql(f"DESCRIBE {lake.view('monthly')}"))
    before = files_of(lake, "monthly")
    assert_follows(lake, tables, CHANGES[0], VIEWS)
    assert len(before - files_of(lake, "monthly")) == 1, "the file of February alone was written anew"


@pytest.mark.parametrize("change", except_later(range(1, len(CHANGES)), (2, 4)))
def test_views_by_longer_periods_follow(lake: LakeProject, tables: dict[str, str], change: int) -> None:
    assert_follows(lake, tables, CHANGES[change], VIEWS)


def test_new_rows_with_maps_are_asked_which_groups_they_reach(lake: LakeProject, tables: dict[str, str]) -> None:
    lake.model(
        "of_maps", "select id % 10 as k, count(distinct props['k']) as n from {events} group by 1".format(**tables)
    )
    lake.run("--select", "of_maps")
    change = (
        ["INSERT INTO {events} VALUES (20000, timestamp'2024-03-31 01:00:00', map('k', 'new'))"],
        {"of_maps": "overwrite"},
    )
    assert_follows(lake, tables, change, ["of_maps"])


def test_a_group_by_that_begins_with_a_window_of_time_is_understood(lake: LakeProject, tables: dict[str, str]) -> None:
    sql = "select window(at, '1 hour') as w, count(*) as n from {events} group by window(at, '1 hour')"
    lake.model("of_windows", sql.format(**tables))
    lake.run("--select", "of_windows")
    assert_follows(lake, tables, ([], {"of_windows": "none"}), ["of_windows"])
    one = ["INSERT INTO {events} VALUES (1, timestamp'2024-05-01 01:00:00', null)"]
    assert_follows(lake, tables, (one, {"of_windows": "full"}), ["of_windows"])
