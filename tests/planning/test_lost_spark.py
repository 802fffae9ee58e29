"""When Spark goes away, that is no answer to a question: nothing is planned instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.definition.hidden_names import HIDDEN_STATE
from dbt.adapters.icebergmv.maintenance.errors import SparkLost, first_line
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import columns_of_definition
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import NotListed, rows_of
from dbt.adapters.icebergmv.maintenance.status.resting import RestingView, inspect_for_run
from dbt.adapters.icebergmv.spark.errors import ServerLost
from tests.refresh.refreshes import Model, Stage


def test_a_refusal_is_an_answer_and_a_lost_server_is_none() -> None:
    def refuses(sql: str) -> Any:
        raise RuntimeError("no such function\n at line 1")

    def is_lost(sql: str) -> Any:
        raise ServerLost("the server went away")

    assert rows_of("SELECT 1", refuses) == NotListed("cannot be asked (no such function)")
    with pytest.raises(SparkLost):
        rows_of("SELECT 1", is_lost)


def test_a_lost_server_does_not_refuse_the_hidden_columns(tmp_path: Path) -> None:
    said: list[str] = []

    def is_lost_once(sql: str) -> Any:
        said.append(sql)
        if len(said) == 1:
            raise ServerLost("the server went away")
        return [("region", "string"), ("mean", "double")]

    stage = Stage(tmp_path)
    model = Model("SELECT region, avg(amount) AS mean FROM orders GROUP BY region", ())
    inspection = inspect_for_run(stage.catalog, stage.request(model))
    assert not isinstance(inspection, RestingView)
    with pytest.raises(SparkLost):
        columns_of_definition(Lake(stage.catalog, is_lost_once), inspection)
    assert HIDDEN_STATE in said[0]
    stage.close()


def test_the_first_line_of_an_error_of_dbt_is_its_message() -> None:
    assert first_line(ServerLost("gone.\nmore")) == "gone"
    assert first_line(ValueError()) == "ValueError"
