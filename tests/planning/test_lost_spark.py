"""When Spark goes away, that is no answer to a question: nothing is planned instead."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.errors import SparkLost, first_line
from dbt.adapters.icebergmv.maintenance.planning.key_queries import NotListed, rows_of
from dbt.adapters.icebergmv.spark.errors import ServerLost


def test_a_refusal_is_an_answer_and_a_lost_server_is_none() -> None:
    def refuses(sql: str) -> Any:
        raise RuntimeError("no such function\n at line 1")

    def is_lost(sql: str) -> Any:
        raise ServerLost("the server went away")

    assert rows_of("SELECT 1", refuses) == NotListed("cannot be asked (no such function)")
    with pytest.raises(SparkLost):
        rows_of("SELECT 1", is_lost)


def test_the_first_line_of_an_error_of_dbt_is_its_message() -> None:
    assert first_line(ServerLost("gone.\nmore")) == "gone"
    assert first_line(ValueError()) == "ValueError"
