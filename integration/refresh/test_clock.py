"""Views that filter by the clock, on Spark: days go by between runs, and Spark's own date is what the runs count with.

The runs of dbt read a clock that the test sets. A view is compared with its SELECT, in which other code puts literals in
place of the clock functions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.icebergmv import materialized_views
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.session.clock import clock_of, utc_now
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import TIME_ZONE
from integration.support.lake import LakeProject
from integration.support.spark_settings import with_settings

VIEWS = {
    "by_region": "select region, count(*) as n, sum(v) as s from {e} "
    "where d >= current_date - interval 30 days group by region",
    "by_day": "select d, id, v from {e} where d between date_sub(current_date(), 30) and curdate()",
    "this_month": "select d, count(*) as n from {e} where date_trunc('month', d) = date_trunc('month', current_date) "
    "group by d",
    "not_before": "select id, region from {e} where not (d < add_months(current_date, -1) or d is null) or v = 3",
    "nulled": "select id, d from {e} where nullif(d <= current_date, false)",
    "joined": "select r.name, sum(e.v) as s from {e} e join {r} r on e.region = r.region "
    "where e.d > current_date - 30 and e.d <= current_date group by r.name",
    "missing": "select r.region, r.name from {r} r where not exists "
    "(select 1 from {e} e where e.region = r.region and e.d >= current_date - 2)",
    "supplied": "select r.region, e.id from {r} r left join (select * from {e} where d = current_date) e "
    "on e.region = r.region",
    "twice": "with c as (select * from {e} where d >= current_date - 3) "
    "select a.region, count(*) as n from c a join c b on a.id = b.id group by a.region",
    "expanded": "select region, count(*) as n from {w} group by region",
    "until_now": "select id, ts from {e} where ts < now()",
    "an_hour": "select region, count(*) as n from {e} where ts >= current_timestamp() - interval 1 hour "
    "and cast(ts as timestamp_ntz) < localtimestamp() group by region",
    "of_month": "select region, sum(case when d >= current_date - interval 30 days then v else 0 end) as recent, "
    "count(*) filter (where d > current_date) as later, count(*) as n from {e} group by region",
    "labelled": "select id, d, case when d between current_date - 7 and current_date then 'week' "
    "when datediff(current_date, d) > 30 then 'old' end as label from {e}",
    "by_label": "select d > current_date as is_later, count(*) as n, sum(v) as s from {e} group by d > current_date",
    "valid": "select id, current_date between date_sub(d, v) and d as is_valid, region from {e} where id < 60 or d is null",
    "joined_since": "select r.name, count(e.id) as n from {r} r left join {e} e "
    "on e.region = r.region and e.d >= current_date - 7 group by r.name",
    "without": "select r.region, r.name from {r} r left anti join {e} e on e.region = r.region and e.d = current_date",
    "aged": "select id, datediff(current_date, d) as age from {e}",
}
FIRST, LATER, NEXT, FAR, BACK = (
    "2026-03-01T11:00:00+00:00",
    "2026-03-01T23:30:00+00:00",
    "2026-03-02T11:00:00+00:00",
    "2026-04-10T11:00:00+00:00",
    "2026-03-01T11:00:00+00:00",
)
_CALL = re.compile(r"\b(?:(current_date|curdate)|(now|current_timestamp)|(localtimestamp))\b(?:\(\))?")


class Days:
    """A project in which it is what time the test says."""

    def __init__(self, lake: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lake = lake
        self.moment = FIRST
        real = RefreshRequest

        def request(**fields: Any) -> RefreshRequest:
            return replace(real(**fields), now=lambda: datetime.fromisoformat(self.moment))

        monkeypatch.setattr(materialized_views, "RefreshRequest", request)

    def run(self, moment: str) -> dict[str, dict[str, Any]]:
        """Run all views at a moment; each must equal its SELECT of that moment."""
        self.moment = moment
        responses = self.lake.run("--select", *VIEWS)
        zone = SparkSession.active().conf.get(TIME_ZONE) or ""
        clock = clock_of({TIME_ZONE: zone}, datetime.fromisoformat(moment))
        assert clock is not None
        kinds = ("", "date", "timestamp", "timestamp_ntz")
        for name, sql in VIEWS.items():
            meant = _CALL.sub(
                lambda m: f"{kinds[m.lastindex or 0]} '{clock[kinds[m.lastindex or 0]]}'", sql.format(**self.names)
            )
            wanted, found = self.lake.at_once([meant, f"select * from {self.lake.view(name)}"])
            assert Counter(map(repr, wanted)) == Counter(map(repr, found)), (name, responses[name])
        return responses

    @property
    def names(self) -> dict[str, str]:
        """The tables, and in place of the plain view its SQL."""
        base = f"lake.{self.lake.schema}"
        return {
            "e": f"{base}.events",
            "r": f"{base}.regions",
            "w": f"(select * from {base}.events where d = current_date)",
        }


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def days(lake: LakeProject, monkeypatch_module: pytest.MonkeyPatch) -> Days:
    found = Days(lake, monkeypatch_module)
    names = {**found.names, "w": f"lake.{lake.schema}.todays"}
    lake.sql(
        f"create table {names['e']} (id int, d date, ts timestamp, region string, v int) using iceberg partitioned by (d)"
    )
    # A day each, at noon of UTC, around the moments of the runs; and rows without a day.
    rows = (
        "select cast(id as int) as id, date_add(date '2026-01-15', cast(id as int)) as d, "
        "timestamp '2026-01-15 12:00:00Z' + make_dt_interval(cast(id as int)) as ts, "
        "element_at(array('a', 'b', 'c', cast(null as string)), cast(id % 4 as int) + 1) as region, cast(id % 5 as int) as v "
        "from range(100)"
    )
    lake.sql(f"insert into {names['e']} {rows}")
    lake.sql(f"insert into {names['e']} values (900, null, null, 'a', 3), (901, null, null, null, 4)")
    lake.sql(f"create table {names['r']} (region string, name string) using iceberg")
    lake.sql(f"insert into {names['r']} values ('a', 'A'), ('b', 'B'), ('c', 'C'), ('z', 'Z')")
    lake.sql(f"create view {names['w']} as select * from {names['e']} where d = current_date")
    for name, sql in VIEWS.items():
        lake.model(name, sql.format(**names), refresh_policy="auto" if name == "aged" else "incremental_strict")
    first = found.run(FIRST)
    assert {r["refresh_kind"] for r in first.values()} == {"full"}
    return found


ON_TIME = {"until_now", "an_hour"}


@pytest.mark.long
def test_days_go_by(days: Days) -> None:
    same = days.run(LATER)
    assert {n for n, r in same.items() if r["refresh_kind"] == "none"} >= set(VIEWS) - ON_TIME
    assert same["until_now"]["refresh_kind"] == "overwrite"
    assert same["until_now"]["rows_affected"] == 1
    following = days.run(NEXT)
    for name in ("by_region", "expanded", "supplied", "of_month", "labelled", "by_label", "valid", "joined_since"):
        assert following[name]["refresh_reason"] == "the date moved from 2026-03-01 to 2026-03-02"
    kinds = {name: response["refresh_kind"] for name, response in following.items()}
    assert kinds.pop("aged") == "full"
    assert "not only conditions on rows read it" in following["aged"]["refresh_reason"]
    # No row of events is in reach, but for one without a region.
    assert {kinds.pop(name) for name in ("this_month", "until_now", "an_hour", "missing")} == {"none"}
    assert set(kinds.values()) == {"overwrite"}, kinds
    assert following["by_day"]["stale_partitions"] == 2
    again = days.run(NEXT)
    assert {r["refresh_kind"] for r in again.values()} == {"none"}


@pytest.mark.long
def test_tables_change_on_the_same_day_and_over_night(days: Days) -> None:
    events = days.names["e"]
    days.lake.sql(f"insert into {events} values (700, date '2026-03-02', timestamp '2026-03-02 10:59:59Z', 'b', 1)")
    days.lake.sql(f"delete from {events} where id = 45")
    same = days.run(NEXT)
    assert "full" not in {r["refresh_kind"] for r in same.values()}
    days.lake.sql(
        f"insert into {events} values (701, date '2026-04-10', null, 'z', 1), (702, date '2026-03-20', null, 'z', 9)"
    )
    days.lake.sql(f"update {events} set v = v + 1, region = 'c' where d = date '2026-03-01'")
    days.lake.sql(f"delete from {events} where d = date '2026-02-20'")
    both = days.run(FAR)
    assert {n for n, r in both.items() if r["refresh_kind"] == "full"} == {"aged"}
    assert both["joined"]["refresh_reason"].endswith("the date moved from 2026-03-02 to 2026-04-10")


@pytest.mark.long
def test_the_clock_goes_back(days: Days) -> None:
    back = days.run(BACK)
    assert {n for n, r in back.items() if r["refresh_kind"] == "full"} == {"aged"}


@pytest.mark.parametrize(
    "zone", ["UTC", "America/New_York", "Asia/Kolkata", "Etc/GMT+12", "Pacific/Kiritimati", "-11:00", "+05:45"]
)
def test_the_clock_is_that_of_spark(zone: str, lake: LakeProject) -> None:
    with with_settings({TIME_ZONE: zone}):
        early = clock_of({TIME_ZONE: zone}, utc_now())
        ((date, time, wall),) = lake.sql(
            "select string(current_date), date_format(to_utc_timestamp(string(localtimestamp()), current_timezone()), "
            "'yyyy-MM-dd HH:mm:ss.SSSSSS') || 'Z', date_format(localtimestamp(), 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
        )
        late = clock_of({TIME_ZONE: zone}, utc_now())
    assert early is not None
    assert late is not None
    assert early["date"] <= date <= late["date"]
    assert early["timestamp"] <= time <= late["timestamp"]
    assert early["timestamp_ntz"] <= wall <= late["timestamp_ntz"]
