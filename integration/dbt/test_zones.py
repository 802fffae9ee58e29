"""A machine in another time zone than the session: what Jinja and dbt get is what SQL shows."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture

APPENDED = """
{{ config(materialized='incremental') }}
select * from {{ ref('events') }}
{% if is_incremental() %}
{% set newest = run_query('select max(ts) from ' ~ this).rows[0][0] %}
where ts > timestamp'{{ newest }}'
{% endif %}
"""
EVENTS = "select id, timestampadd(hour, id, timestamp'2026-03-29 00:00:00') as ts from range({}) "
SOURCES = """
sources:
  - name: raw
    database: lake
    schema: "{{ target.schema }}"
    freshness: {warn_after: {count: 1, period: hour}}
    tables:
      - {name: with_zone, loaded_at_field: ts}
      - {name: without_zone, loaded_at_field: ts}
"""


@pytest.fixture(
    params=[
        "Asia/Tokyo",
        pytest.param("America/New_York", marks=pytest.mark.long),
        pytest.param("Europe/Berlin", marks=pytest.mark.long),
    ]
)
def elsewhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("elsewhere")
class TestElsewhere:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"events.sql": EVENTS.format(5), "appended.sql": APPENDED, "sources.yml": SOURCES}

    def test_the_newest_time_goes_back_into_a_statement(self, project: Any) -> None:
        model = Path(project.project_root) / "models" / "events.sql"
        model.write_text(EVENTS.format(5))
        run_dbt(["run", "--full-refresh", "-s", "events", "appended"])
        model.write_text(EVENTS.format(8))
        run_dbt(["run", "-s", "events", "appended"])
        ids = project.run_sql("select id from lake.{schema}.appended order by id", fetch="all")
        assert [row[0] for row in ids] == list(range(8))

    def test_times_are_shown_as_the_session_shows_them(self, project: Any) -> None:
        sql = (
            "select timestamp'2026-07-01 12:00:00' as a, timestamp_ntz'2026-07-01 12:00:00' as b, "
            "timestamp'9999-12-31 23:59:59' as c, timestamp'0001-01-01 00:00:00' as d, "
            "array(struct(timestamp'2026-07-01 12:00:00' as t)) as e, map('k', timestamp'2026-07-01 12:00:00') as a"
        )
        _, log = run_dbt_and_capture(["show", "--inline", sql, "--output", "json"])
        assert log.count("2026-07-01") == 4
        assert "9999-12-31" in log and "23:59:59" in log and "0001-01-01" in log

    def test_freshness(self, project: Any) -> None:
        for name, type_ in (("with_zone", "timestamp"), ("without_zone", "timestamp_ntz")):
            project.run_sql(
                f"create or replace table lake.{{schema}}.{name} using iceberg as "
                f"select cast(current_timestamp() as {type_}) as ts"
            )
        run_dbt(["source", "freshness"])
        results = json.loads((Path(project.project_root) / "target" / "sources.json").read_text())["results"]
        assert {result["status"] for result in results} == {"pass"}
        assert all(abs(result["max_loaded_at_time_ago_in_s"]) < 600 for result in results)
