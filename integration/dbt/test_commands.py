"""One project, and the commands of dbt that a team runs on it: build, retry, state, defer, freshness and the rest."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
import yaml
from dbt.artifacts.schemas.results import FreshnessStatus, RunStatus, TestStatus

from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager
from integration.support.lake import LakeProject

DAILY = "select d, sum(v) as v from {{ ref('staged') }} group by d"
PROPERTIES = """
groups: [{name: finance, owner: {name: Anna}}]
sources:
  - name: raw
    schema: mv_test_commands
    tables:
      - {name: base, config: {freshness: {warn_after: {count: 1, period: day}}}}
      - {name: staged, config: {freshness: {warn_after: {count: 1, period: day}}}}
models:
  - name: staged
    config: {group: finance, access: private}
  - name: daily
    config: {group: finance, access: public, contract: {enforced: true}}
    columns:
      - {name: d, data_type: date, data_tests: [unique, not_null]}
      - {name: v, data_type: bigint}
  - name: monthly
    latest_version: 2
    versions: [{v: 1}, {v: 2}]
unit_tests:
  - name: values_of_a_day_are_added
    model: daily
    given:
      - input: ref('staged')
        rows: [{d: 2024-01-01, v: 1}, {d: 2024-01-01, v: 2}, {d: 2024-01-02, v: 4}]
    expect: {rows: [{d: 2024-01-01, v: 3}, {d: 2024-01-02, v: 4}]}
"""
MACROS = """
{% macro generate_schema_name(custom, node) %}{{ target.schema ~ ('_' ~ custom if custom else '') }}{% endmacro %}
{% macro generate_alias_name(custom=none, node=none) %}
  {{- 'x_' if node.version == 1 }}{{ custom or node.name ~ ('_v' ~ node.version if node.version else '') -}}
{% endmacro %}
{% macro get_incremental_only_new_sql(arguments) %}
  insert into {{ arguments.target_relation }}
  select {{ arguments.dest_columns | map(attribute='quoted') | join(', ') }} from {{ arguments.temp_relation }}
  where d not in (select d from {{ arguments.target_relation }})
{% endmacro %}
"""


@pytest.fixture(scope="module")
def team(lake: LakeProject) -> LakeProject:
    lake.sql(f"CREATE TABLE lake.{lake.schema}.base (d DATE, v BIGINT) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO lake.{lake.schema}.base VALUES (date'2024-01-01', 1), (date'2024-01-02', 2)")
    views = lake.folder / "models" / "views"
    views.mkdir()
    (views / "daily.sql").write_text(DAILY)
    for version in (1, 2):
        text = f"select trunc(d, 'MM') as m, {version} * sum(v) as v from {{{{ ref('daily') }}}} group by 1"
        (views / f"monthly_v{version}.sql").write_text(text)
    lake.model("staged", "select * from {{ source('raw', 'base') }}", materialized="view")
    (lake.folder / "models" / "schema.yml").write_text(PROPERTIES)
    (lake.folder / "macros").mkdir()
    (lake.folder / "macros" / "names.sql").write_text(MACROS)
    project = yaml.safe_load((lake.folder / "dbt_project.yml").read_text())
    project["models"]["p"] = {"views": {"+materialized": "materialized_view"}}
    (lake.folder / "dbt_project.yml").write_text(yaml.safe_dump(project))
    profile = yaml.safe_load((lake.folder / "profiles.yml").read_text())
    outputs = profile["p"]["outputs"]
    outputs["other"] = {**outputs["dev"], "schema": f"{lake.schema}_other"}
    (lake.folder / "profiles.yml").write_text(yaml.safe_dump(profile))
    assert lake.dbt("build").success, lake.failures()
    shutil.copytree(lake.folder / "target", lake.folder / "production")
    return lake


def statuses(lake: LakeProject) -> dict[str, str]:
    results = json.loads((lake.folder / "target" / "run_results.json").read_text())["results"]
    return {each["unique_id"]: each["status"] for each in results}


def state(lake: LakeProject) -> tuple[str, str]:
    return ("--state", str(lake.folder / "production"))


def test_build_makes_and_tests_everything(team: LakeProject) -> None:
    found = statuses(team)
    assert found["unit_test.p.daily.values_of_a_day_are_added"] == TestStatus.Pass
    assert set(found.values()) == {RunStatus.Success, TestStatus.Pass}
    listed = {entry.name for entry in team.reader().entries(team.schema) if entry.kind == "view"}
    assert listed == {"staged", "daily", "x_monthly_v1", "monthly_v2"}
    assert team.rows("x_monthly_v1")[0][1] == 3
    assert team.rows("monthly_v2")[0][1] == 6


def test_a_unit_test_that_fails_keeps_the_view_from_its_refresh(team: LakeProject) -> None:
    before = team.state("daily")
    file = team.folder / "models" / "views" / "daily.sql"
    file.write_text(DAILY.replace("sum", "max"))
    assert not team.dbt("build", "--select", "daily").success
    file.write_text(DAILY)
    assert statuses(team)["model.p.daily"] == RunStatus.Skipped
    assert team.state("daily") == before


def test_compile_and_show_change_nothing(team: LakeProject) -> None:
    before = team.state("daily")
    assert team.dbt("compile", "--select", "daily").success
    assert f"`lake`.`{team.schema}`.`staged`" in team.definition("views/daily")
    shown: Any = team.dbt("show", "--select", "daily").result
    assert sorted(row["v"] for row in shown.results[0].agate_table.rows) == [1, 2]
    assert team.state("daily") == before


def test_only_what_was_modified_is_selected(team: LakeProject) -> None:
    def modified() -> list[str]:
        found: Any = team.dbt("ls", "--select", "state:modified+", *state(team), "--resource-type", "model").result
        return sorted(name.rsplit("views.", maxsplit=1)[-1] for name in found)

    assert modified() == []
    file = team.folder / "models" / "views" / "monthly_v2.sql"
    text = file.read_text()
    file.write_text(text.replace("2 *", "20 *"))
    assert modified() == ["monthly.v2"]
    file.write_text(text)


def test_a_deferred_view_reads_the_other_environment(team: LakeProject) -> None:
    arguments = ("run", "--target", "other", "--select", "daily", "--defer", "--favor-state", *state(team))
    assert team.dbt(*arguments).success
    assert team.responses()["daily"]["refresh_kind"] == "full"
    bases = [base["name"] for base in team.responses()["daily"]["base_tables"]]
    assert bases == [f"lake.{team.schema}.base"]
    assert team.dbt(*arguments).success
    assert team.responses()["daily"]["refresh_kind"] == "none"


def test_retry_runs_what_failed(team: LakeProject) -> None:
    file = team.folder / "models" / "views" / "daily.sql"
    file.write_text(DAILY.replace("sum", "no_such_function"))
    assert not team.dbt("run").success
    file.write_text(DAILY)
    assert team.dbt("retry").success
    assert set(team.responses()) == {"daily", "monthly"}
    assert team.responses()["daily"]["refresh_kind"] == "none"


def test_warnings_can_be_errors(team: LakeProject) -> None:
    team.model("random", "select rand() as r", materialized="materialized_view")
    assert not team.dbt("--warn-error", "run", "--select", "random").success
    assert team.dbt("run", "--select", "random").success
    team.remove_model("random")


@pytest.mark.long
def test_a_strategy_of_the_project(team: LakeProject) -> None:
    def kept(strategy: str) -> None:
        query = "select * from {{ source('raw', 'base') }}"
        team.model("kept", query, materialized="incremental", incremental_strategy=strategy)

    kept("only_new")
    for expected in (2, 3):
        team.run("--select", "kept")
        assert len(team.rows("kept")) == expected
        team.sql(f"INSERT INTO lake.{team.schema}.base VALUES (date'2024-01-02', 9), (date'2024-02-01', 9)")
    for name, words in (("delete+insert", "'delete+insert' is not known"), ("none", "get_incremental_none_sql")):
        kept(name)
        assert words in team.fail("--select", "kept")
    team.remove_model("kept")


class TestSourceFreshness:
    @staticmethod
    def freshness(team: LakeProject, source: str) -> Any:
        answer: Any = team.dbt("source", "freshness", "--select", f"source:raw.{source}").result
        (result,) = answer.results
        return result

    def test_comes_from_the_snapshots(self, team: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
        table = team.reader().table(team.schema, "base")
        assert table is not None
        committed = table.current_snapshot()
        assert committed is not None

        def refuse(*_: Any, **__: Any) -> None:
            raise AssertionError("a statement was run")

        with monkeypatch.context() as patch:
            patch.setattr(IcebergMVConnectionManager, "add_query", refuse)
            result = self.freshness(team, "base")
        assert result.status == FreshnessStatus.Pass
        assert int(result.max_loaded_at.timestamp() * 1000) == committed.timestamp_ms

    def test_of_a_view_is_an_error(self, team: LakeProject) -> None:
        result = self.freshness(team, "staged")
        assert result.status == FreshnessStatus.RuntimeErr
        assert "loaded_at_field" in result.message
