"""Batches of time: each replaces its own rows, also where its source has none any more, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file

MODEL = """
{{{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='ts', batch_size='{size}',
          begin='2026-01-01', partition_by=['{partition}']) }}}}
select {columns} from {{{{ ref('source_rows') }}}}
"""
SOURCE = """
{{{{ config(materialized='view', event_time='ts') }}}}
select * from values {rows} as t(id, ts)
"""
TIMES = ["2026-01-01 22:10", "2026-01-01 22:20", "2026-01-01 23:00", "2026-01-02 00:30", "2026-01-02 01:59:59.9"]
MODELS = ["days_in_days", "days_in_buckets", "hours_in_days"]
LOOSE = """
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='ts', batch_size='day',
          begin='2026-01-01', partition_by=['days(ts)']) }}
select all_rows.id, case all_rows.id when 3 then ts - interval 1 day when 4 then null else ts end as ts
from {{ ref('source_rows').render() }} as all_rows
join (select id from {{ ref('source_rows') }}) as of_batch on all_rows.id = of_batch.id
"""
"""Only the join leaves out the rows of other batches. One row has a time that is not of its batch, one has none."""
WINDOW = ("2026-01-01T22:00:00", "2026-01-02T02:00:00")
DATES = ("--event-time-start", WINDOW[0], "--event-time-end", WINDOW[1])


def model(size: str, partition: str, columns: str = "*") -> str:
    return MODEL.format(size=size, partition=partition, columns=columns)


def write_source(project: Any, type_: str, ids: Sequence[int]) -> None:
    times = [TIMES[number][: 10 if type_ == "date" else None] for number in ids]
    rows = ", ".join(f"({number}, {type_}'{at}')" for number, at in zip(ids, times, strict=True))
    write_file(SOURCE.format(rows=rows), project.project_root, "models", "source_rows.sql")


def run(project: Any, type_: str, ids: Sequence[int], *options: str, window: Sequence[str] = WINDOW) -> None:
    """Run the models that such times allow, with these rows in their source."""
    write_source(project, type_, ids)
    dates = ("--event-time-start", window[0], "--event-time-end", window[1])
    run_dbt(["run", "-s", "source_rows", *models_of(type_), *dates, *options])


def failing_run(*models: str) -> str:
    """Run models of which one fails, and return what dbt says."""
    _, log = run_dbt_and_capture(["run", "-s", *models, *DATES], expect_pass=False)
    return str(log)


def models_of(type_: str) -> list[str]:
    return MODELS[: 2 if type_ == "date" else 3]


def ids_in(project: Any, model: str) -> list[int]:
    return [row[0] for row in project.run_sql(f"select id from lake.{{schema}}.{model} order by id", fetch="all")]


class TestBatches:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "source_rows.sql": SOURCE.format(rows="(1, timestamp'2026-01-01')"),
            "days_in_days.sql": model("day", "days(ts)"),
            "days_in_buckets.sql": model("day", "bucket(4, id)"),
            "hours_in_days.sql": model("hour", "days(ts)"),
            "loose.sql": LOOSE,
            "timeless.sql": model("day", "id", "id"),
        }

    @pytest.fixture(autouse=True)
    def nothing_is_built(self, project: Any) -> None:
        for name in (*MODELS, "loose", "timeless"):
            project.run_sql(f"drop table if exists lake.{{schema}}.{name}")

    @pytest.mark.parametrize("type_", ["timestamp", "date", pytest.param("timestamp_ntz", marks=pytest.mark.long)])
    def test_each_replaces_its_own_rows(self, project: Any, type_: str) -> None:
        run(project, type_, range(5), "--full-refresh")
        for ids in (range(5), range(3), range(1, 5)):
            run(project, type_, ids)
            found = {model: ids_in(project, model) for model in models_of(type_)}
            assert found == {model: list(ids) for model in found}

    def test_rows_of_other_batches_stay(self, project: Any) -> None:
        run(project, "timestamp", range(5), "--full-refresh")
        run(project, "timestamp", [0], window=("2026-01-01T23:00:00", "2026-01-02T00:00:00"))
        assert ids_in(project, "hours_in_days") == [0, 1, 3, 4]
        assert ids_in(project, "days_in_days") == ids_in(project, "days_in_buckets") == [0, 3, 4]

    def test_a_file_with_rows_of_several_batches_stays(self, project: Any) -> None:
        write_source(project, "timestamp", range(5))
        run_dbt(["run", "-s", "source_rows", "hours_in_days", *DATES])
        project.run_sql(
            "call lake.system.rewrite_data_files(table => '{schema}.hours_in_days', "
            "options => map('min-input-files', '2'))"
        )
        log = failing_run("hours_in_days")
        assert "some, but not all, rows match" in log
        assert ids_in(project, "hours_in_days") == list(range(5))

    def test_rows_that_are_not_of_their_batch(self, project: Any) -> None:
        write_source(project, "timestamp", range(3))
        run_dbt(["run", "-s", "source_rows", "loose", *DATES])
        assert ids_in(project, "loose") == [0, 1, 2]
        for number in (3, 4):
            write_source(project, "timestamp", [0, 1, 2, number])
            assert "the SELECT gives rows whose `ts` is outside of it, or NULL" in failing_run("source_rows", "loose")
            assert ids_in(project, "loose") == [0, 1, 2]

    def test_a_model_without_its_time(self, project: Any) -> None:
        write_source(project, "timestamp", range(5))
        log = failing_run("source_rows", "timeless")
        assert "it has no column ts" in log
        assert project.run_sql("show tables in lake.{schema} like 'timeless'", fetch="all") == []

    def test_hours_of_a_date(self, project: Any) -> None:
        write_source(project, "date", range(5))
        log = failing_run("source_rows", "hours_in_days")
        assert "a batch is shorter than a day" in log
