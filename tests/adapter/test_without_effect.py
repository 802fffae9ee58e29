"""Settings that mean nothing on a materialized view are warned of; what others have use for is let alone."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.icebergmv.view_settings import check_settings
from dbt.adapters.icebergmv.without_effect import WHY
from tests.support.dry_project import PROJECT, DryProject
from tests.support.view_models import OURS, model
from tests.support.warned import warned


def warnings_of(*models: Any, section: object = None) -> list[str]:
    with warned() as found:
        check_settings(models, OURS, section)
    return found


@pytest.mark.parametrize("name", sorted(WHY))
def test_each_is_told_once_for_all_models_that_have_it(name: str) -> None:
    models = [model(f"m{n}", **{name: "day"}) for n in range(5)]
    assert warnings_of(*models) == [
        f"`{name}` has no effect on a materialized view, and m0, m1, m2 and 2 more have it. {WHY[name]}"
    ]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("unique_keys", "unique_key"),
        ("incremental_stratgy", "incremental_strategy"),
        ("on_schema_changes", "on_schema_change"),
        ("merge_update_column", "merge_update_columns"),
    ],
)
def test_a_misspelt_one_has_no_effect_either(name: str, known: str) -> None:
    assert warnings_of(model("daily", **{name: "x"})) == [
        f"`{name}` has no effect on a materialized view, and daily has it. {WHY[known]}"
    ]


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"on_schema_change": "ignore", "lookback": 1, "file_format": "iceberg", "unique_key": None},
        {"event_time": "ts"},
        {"meta": {"unique_key": "id", "on_schema_change": "fail"}},
        {"tags": ["x"], "group": "g", "docs": {"show": False}, "full_refresh": False, "enabled": True},
    ],
)
def test_what_asks_for_nothing_or_has_a_meaning_is_let_alone(config: dict[str, Any]) -> None:
    assert warnings_of(model("daily", **config)) == []


def test_other_models_may_have_them() -> None:
    assert warnings_of(model("rows", "incremental", unique_key="id", incremental_strategy="merge")) == []


def test_what_the_project_gives_to_all_kinds_of_models_is_let_alone_where_one_has_use_for_it() -> None:
    section = {"shop": {"+incremental_strategy": "merge", "marts": {"+materialized": "materialized_view"}}}
    view = model("daily", incremental_strategy="merge")
    incremental = model("rows", "incremental", incremental_strategy="merge")
    assert warnings_of(view, incremental, section=section) == []
    assert len(warnings_of(view, section=section)) == 1
    assert len(warnings_of(view, incremental)) == 1


@pytest.mark.parametrize("name", ["materialised", "Materialized", "materialize"])
def test_a_misspelt_materialization_would_make_a_plain_view(name: str) -> None:
    assert warnings_of(model("daily", "view", **{name: "materialized_view"})) == [
        f"There is no setting `{name}`, which daily has: it has no effect. Is it `materialized`?"
    ]
    assert warnings_of(model("daily", "view", **{name: "x"})) == []


def test_dbt_says_so_and_what_the_project_sets_is_read_from_its_file(tmp_path: Path) -> None:
    with closing(DryProject(tmp_path)) as project:
        settings = project.folder / "dbt_project.yml"
        settings.write_text(PROJECT.replace("}", ", +incremental_strategy: merge}"))
        project.model("daily", "{{ config(unique_keys='k') }} select 1 as k")
        project.model("rows", "{{ config(materialized='incremental') }} select 1 as k")
        succeeded, printed = project.command("--warn-error", "compile")
    # The first warning is the error, and they go by name.
    assert not succeeded
    assert "`unique_keys` has no effect" in printed
