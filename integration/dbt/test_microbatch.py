"""Batches of time: each replaces its own rows, also where its source has none any more, and no others."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture

MODEL = """
{{{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='ts', batch_size='{size}',
          begin='2026-01-01', partition_by=['{partition}']) }}}}
select * from {{{{ ref('source_rows') }}}}
"""
SOURCE = """
{{{{ config(materialized='table', event_time='ts') }}}}
select * from values {rows} as t(id, ts)
"""
TIMES = ["2026-01-01 01:10", "2026-01-01 01:20", "2026-01-01 03:00", "2026-01-02 05:00", "2026-01-02 05:59"]
WINDOW = ("--event-time-start", "2026-01-01", "--event-time-end", "2026-01-03")


def source(type_: str, ids: range = range(5)) -> str:
    return SOURCE.format(rows=", ".join(f"({i}, {type_}'{TIMES[i][: 10 if type_ == 'date' else None]}')" for i in ids))


def found(project: Any, model: str) -> list[tuple[Any, ...]]:
    sql = f"select id, cast(ts as string) from lake.{{schema}}.{model} order by id"
    return [tuple(row) for row in project.run_sql(sql, fetch="all")]


class TestBatches:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "source_rows.sql": source("timestamp"),
            "hours_in_days.sql": MODEL.format(size="hour", partition="days(ts)"),
            "days_in_days.sql": MODEL.format(size="day", partition="days(ts)"),
            "days_in_buckets.sql": MODEL.format(size="day", partition="bucket(4, id)"),
        }

    @pytest.mark.parametrize("type_", ["timestamp", "timestamp_ntz", "date"])
    def test_each_replaces_its_own_rows(self, project: Any, type_: str) -> None:
        models = ["days_in_days", "days_in_buckets"] + ["hours_in_days"] * (type_ != "date")
        (project.project_root / "models" if hasattr(project.project_root, "joinpath") else None)
        for ids in (range(5), range(5), range(3), range(1, 5)):
            write(project, source(type_, ids))
            run_dbt(["run", "-s", "source_rows", *models, *WINDOW, *["--full-refresh"] * (ids == range(5))])
            for model in models:
                assert [row[0] for row in found(project, model)] == list(ids), (model, ids)

    def test_a_file_with_rows_of_several_batches_stays(self, project: Any) -> None:
        write(project, source("timestamp"))
        run_dbt(["run", "-s", "source_rows", "hours_in_days", *WINDOW, "--full-refresh"])
        before = found(project, "hours_in_days")
        project.run_sql("call lake.system.rewrite_data_files(table => '{schema}.hours_in_days', "
                        "options => map('min-input-files', '2'))")
        _, log = run_dbt_and_capture(["run", "-s", "hours_in_days", *WINDOW], expect_pass=False)
        assert "some, but not all, rows match" in log
        assert found(project, "hours_in_days") == before


def write(project: Any, sql: str) -> None:
    from pathlib import Path
    (Path(project.project_root) / "models" / "source_rows.sql").write_text(sql)
