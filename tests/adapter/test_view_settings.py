"""The configuration of materialized views is checked for all models at once, before any is built."""

from __future__ import annotations

from dataclasses import fields

import pytest
from dbt.adapters.contracts.relation import RelationConfig
from dbt.adapters.spark.impl import SparkConfig
from dbt_common.events import functions
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt.adapters.icebergmv.impl import IcebergMVConfig
from dbt.adapters.icebergmv.view_settings import CHECKS, OF_OTHERS, check_settings
from tests.support.view_models import OURS, model
from tests.support.warned import warned

WITHOUT_CHECK = {"storage_schema", "storage_table_prefix", "view_dialects"}
"""Any text will do, or the refresh itself says what it allows."""


def warnings_of(*models: RelationConfig) -> list[str]:
    """Return what the check warns of."""
    with warned() as found:
        check_settings(models, OURS)
    return found


@pytest.fixture
def warnings_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "WARN_ERROR", True)


def test_all_bad_values_of_all_models_are_told_at_once() -> None:
    models = [
        model("weekly", staleness_window="soon", definition_below_rows=-1, partition_by=["d", "weeks(ts)"]),
        model("fine", refresh_policy="full", staleness_window="1 hour", partition_by=["days(ts)"]),
        model("daily", refresh_policy="never", refresh_on_run="yes", tblproperties="a=b", partition_by=7),
        model("a_table", materialized="table", refresh_policy="never"),
    ]
    with pytest.raises(DbtRuntimeError) as caught:
        check_settings(models, OURS)
    assert str(caught.value.msg) == (
        "Cannot run: the configuration of materialized views is not valid.\n"
        "  daily (models/daily.sql): partition_by is 7. Give a transform such as days(ts), or a list of them.\n"
        "  daily (models/daily.sql): tblproperties is 'a=b'. Give a map of names to values.\n"
        "  daily (models/daily.sql): refresh_policy is 'never'. "
        "Choose one of auto, incremental, incremental_strict, full.\n"
        "  daily (models/daily.sql): refresh_on_run is 'yes'. Set it to true or false.\n"
        "  weekly (models/weekly.sql): partition_by 'weeks(ts)' is no transform: Iceberg has "
        "years, months, days, hours, bucket(n, c), truncate(n, c) and plain columns.\n"
        "  weekly (models/weekly.sql): staleness_window is 'soon'. "
        "Give a number of seconds, minutes, hours, days or weeks, such as '15 minutes'.\n"
        "  weekly (models/weekly.sql): definition_below_rows is -1. "
        "Give a number of rows; with 0 stored rows are always looked at first."
    )


def test_every_setting_of_ours_is_checked() -> None:
    ours = {f.name for f in fields(IcebergMVConfig)} - {f.name for f in fields(SparkConfig)}
    assert ours - CHECKS.keys() == WITHOUT_CHECK


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("stale_read_behaviour", "stale_read_behavior"),
        ("stale_reads_behavior", "stale_read_behavior"),
        ("stale_reads", "stale_read_behavior"),
        ("stale_read", "stale_read_behavior"),
        ("stale-read-behavior", "stale_read_behavior"),
        ("partitioned_by", "partition_by"),
        ("refresh_polcy", "refresh_policy"),
        ("refreshPolicy", "refresh_policy"),
        ("stalenes_window", "staleness_window"),
        ("definition_below_row", "definition_below_rows"),
        ("tbl_properties", "tblproperties"),
        ("storage_prefix", "storage_table_prefix"),
        ("partition_bys", "partition_by"),
        ("on_config_change", "on_configuration_change"),
    ],
)
def test_a_misspelt_name_is_told_with_the_right_one(name: str, meant: str) -> None:
    assert warnings_of(model("daily", **{name: "x"})) == [
        f"There is no setting `{name}`, which daily has: it has no effect. Is it `{meant}`?"
    ]


def test_a_name_is_told_once_for_all_models_that_have_it() -> None:
    models = [model(f"m{n}", refresh_polcy="full") for n in range(5)]
    assert warnings_of(*models) == [
        "There is no setting `refresh_polcy`, which m0, m1, m2 and 2 more have: it has no effect. "
        "Is it `refresh_policy`?"
    ]


@pytest.mark.parametrize(
    "name",
    [
        *sorted(OF_OTHERS),
        "auto_refresh",
        "backup",
        "cluster_by",
        "clustered_by",
        "dist",
        "enable_refresh",
        "liquid_clustered_by",
        "location",
        "max_staleness",
        "partition_expiration_days",
        "refresh_interval_minutes",
        "schedule",
        "sort",
        "sql_header",
        "table_type",
        "unique_tmp_table_suffix",
        "my_own_setting",
    ],
)
def test_settings_of_others_are_let_alone(name: str) -> None:
    assert warnings_of(model("daily", **{name: "x"})) == []


def test_what_is_no_setting_of_a_view_is_let_alone() -> None:
    assert warnings_of(model("daily", meta={"refresh_polcy": "full"})) == []
    assert warnings_of(model("daily", materialized="table", partitioned_by=["d"])) == []
    # For another adapter, beside ours.
    assert warnings_of(model("daily", partitioned_by=["d"], partition_by=["d"])) == []


def test_a_unique_key_has_no_effect() -> None:
    words = " it. A view stores what its SELECT gives; if that should be one row of each key, write it in the SELECT."
    start = "`unique_key` has no effect on a materialized view, and "
    assert warnings_of(model("daily", unique_key="id"), model("a_table", materialized="table", unique_key="id")) == [
        f"{start}daily has{words}"
    ]
    assert warnings_of(*(model(f"m{n}", unique_key=["a", "b"]) for n in range(5))) == [
        f"{start}m0, m1, m2 and 2 more have{words}"
    ]


@pytest.mark.usefixtures("warnings_are_errors")
def test_a_warning_that_is_made_an_error_says_so() -> None:
    with pytest.raises(DbtRuntimeError, match="Is it `refresh_policy`") as caught:
        check_settings([model("daily", refresh_polcy="full")], OURS)
    assert not isinstance(caught.value, CompilationError)
    assert "This is a warning, which --warn-error makes an error." in str(caught.value)
