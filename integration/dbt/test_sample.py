"""`dbt run --sample`: rows of a sample are marked as such, and the next run replaces them."""

from __future__ import annotations

import pytest
from dbt.tests.adapter.sample_mode.test_sample_mode import BaseSampleModeTest

from integration.support.lake import LakeProject

EVENTS = "select 1 as id, timestamp'2020-01-01' as ts union all select 2, current_timestamp() - interval 1 hour"


class TestSampleMode(BaseSampleModeTest):
    pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def events(lake: LakeProject) -> str:
    lake.model("events", EVENTS, materialized="table", event_time="ts")
    lake.run("--select", "events")
    return "{{ ref('events') }}"


@pytest.mark.parametrize("setting", ["apply", "continue"])
@pytest.mark.parametrize("built_before", [True, False])
def test_sampled_rows_never_stay(lake: LakeProject, events: str, setting: str, built_before: bool) -> None:
    name = f"sampled_{setting}_{built_before}".lower()
    lake.model(name, f"select id, ts from {events}", on_configuration_change=setting)
    if built_before:
        lake.run("--select", name)
        lake.assert_equals_definition(name)
    response = lake.run("--select", name, "--sample", "1 day")[name]
    assert response["refresh_reason"].startswith("built with --sample")
    assert [row[0] for row in lake.sql(f"SELECT id FROM {lake.view(name)}")] == [2]
    response = lake.run("--select", name)[name]
    assert (response["refresh_kind"], response["refresh_reason"]) == ("full", "the last run was built with --sample")
    lake.assert_equals_definition(name)
    assert lake.run("--select", name)[name]["refresh_kind"] == "none"
