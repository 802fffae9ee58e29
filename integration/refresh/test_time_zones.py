"""Sessions outside UTC: keys on the wall clock over tables partitioned by UTC days, with daylight saving on both ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.status.session.session_settings import TIME_ZONE
from integration.support.lake import LakeProject
from integration.support.spark_settings import SPARK, with_settings

ZONE = "Europe/Berlin"
VIEWS = {
    "local_day": "select date(ts) as day, count(*) as c, sum(v) as s from {e} group by date(ts)",
    "local_hour": "select date_trunc('hour', ts) as hour, sum(v) as s from {e} group by 1",
    "local_month": "select date_trunc('month', ts) as month, count(*) as c from {e} group by all",
    "local_year": "select year(ts) as y, max(v) as m from {e} group by year(ts)",
    "wall": "select cast(n as date) as day, count(*) as c from {e} group by cast(n as date)",
    "wall_hour": "select date_trunc('hour', n) as hour, count(*) as c from {e} group by 1",
    "joined": "select date(e.ts) as day, d.name, e.v from {e} e join {d} d on date(e.ts) = d.day",
    "by_week_day": "select date(ts) as day, v from {e} where dayofweek(ts) > 1",
}
HOURS = (
    "select timestamp '2026-03-25 00:00:00Z' + make_dt_interval(0, cast(id as int)) as ts, "
    "timestamp_ntz '2026-03-25 00:00:00' + make_dt_interval(0, cast(id as int)) as n, cast(id as int) as v from range({n})"
)


@pytest.fixture(scope="module")
def zone(lake: LakeProject) -> Iterator[str]:
    """The time zone of the session that the tests' statements and dbt's share."""
    with with_settings({TIME_ZONE: ZONE}):
        yield ZONE


@pytest.fixture(scope="module")
def zoned(lake: LakeProject, zone: str, warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> LakeProject:
    """A lake whose statements, dbt's and the test's, run in another session time zone."""
    target: dict[str, Any] = {
        "type": "icebergmv",
        "method": "session",
        "catalog": "lake",
        "schema": lake.schema,
        "warehouse": str(warehouse),
        "threads": 1,
        "server_side_parameters": {**SPARK, TIME_ZONE: zone},
    }
    made = LakeProject(tmp_path_factory.mktemp("zoned") / "project", target)
    names = {"e": f"lake.{lake.schema}.events", "d": f"lake.{lake.schema}.days"}
    made.sql(
        f"create table {names['e']} (ts timestamp, n timestamp_ntz, v int) using iceberg partitioned by (days(ts), days(n))"
    )
    made.sql(f"insert into {names['e']} {HOURS.format(n=24 * 20)}")
    made.sql(f"create table {names['d']} (day date, name string) using iceberg partitioned by (day)")
    made.sql(f"insert into {names['d']} select date_add(date '2026-03-24', cast(id as int)), 'x' from range(24)")
    for name, sql in VIEWS.items():
        made.model(name, sql.format(**names))
    made.run()
    return made


CHANGES = {
    "the hour that is skipped": ["update lake.{s}.events set v = v + 1 where ts = timestamp '2026-03-29 01:00:00Z'"],
    "the first and the last hour of a local day, a wall time that does not exist, an hour that is repeated": [
        "delete from lake.{s}.events where ts = timestamp '2026-03-30 21:00:00Z'",
        "delete from lake.{s}.events where ts = timestamp '2026-03-31 22:00:00Z'",
        "insert into lake.{s}.events values (timestamp '2026-03-29 00:30:00Z', timestamp_ntz '2026-03-29 02:30:00', 7), "
        "(timestamp '2026-10-25 00:30:00Z', timestamp_ntz '2026-10-25 02:30:00', 7), "
        "(timestamp '2026-10-25 01:30:00Z', timestamp_ntz '2026-10-25 02:30:00', 8)",
    ],
    "a day of the other table": ["update lake.{s}.days set name = 'y' where day = date '2026-04-02'"],
}


@pytest.mark.parametrize(
    "change", [pytest.param(c, marks=() if "an hour that is repeated" in c else pytest.mark.long) for c in CHANGES]
)
def test_local_keys_are_refreshed_where_they_changed(zoned: LakeProject, change: str) -> None:
    for statement in CHANGES[change]:
        zoned.sql(statement.format(s=zoned.schema))
    responses = zoned.run()
    touched = {"joined"} if "other table" in change else set(VIEWS)
    assert {n for n, r in responses.items() if r["refresh_kind"] == "overwrite"} == touched
    assert responses["local_day"]["stale_partitions"] <= 2 * len(CHANGES[change]) + 2
    for name in touched:
        zoned.assert_equals_definition(name)
