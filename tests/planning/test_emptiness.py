"""Whether changed rows reach the SELECT that reads them at all, by FROM and WHERE around them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import pytest

from dbt.adapters.icebergmv.maintenance.planning.questions.asker import one_by_one
from dbt.adapters.icebergmv.maintenance.planning.questions.emptiness import Blocks
from dbt.adapters.icebergmv.maintenance.planning.questions.question_texts import QuestionTexts
from tests.support.asked import OneTable
from tests.support.bases import analysed, change, partition_rows, sized, status

BASE = sized(change([partition_rows([("day", "ts")], (10,))], unit="day"), 1000)
DEFINITION = analysed("SELECT sum(v) AS s FROM t WHERE region = 'EU'")
BLOCKS = Blocks(
    QuestionTexts(DEFINITION, DEFINITION.asked, OneTable(BASE), status(BASE)), reads_little=False, until=inf
)


@pytest.mark.parametrize("rows", [[], [[1]]])
def test_from_and_where_say_it(rows: list[list[int]]) -> None:
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return rows

    assert BLOCKS.is_empty(0, spark) is (rows == [])
    assert BLOCKS.reach_nothing(0, one_by_one(spark)) is (rows == [])
    assert all("WHERE region = 'EU'" in sql for sql in said)


def test_what_spark_cannot_say_is_not_known() -> None:
    def spark(sql: str) -> Sequence[Sequence[object]]:
        raise RuntimeError(sql)

    assert BLOCKS.is_empty(0, spark) is None
    assert not BLOCKS.reach_nothing(0, one_by_one(spark))


def test_without_changed_rows_nothing_is_reached() -> None:
    assert BLOCKS.has_no_row(0, lambda sql: [])
    assert not BLOCKS.has_no_row(0, lambda sql: [[1]])


def test_nothing_is_asked_when_time_is_over() -> None:
    late = Blocks(BLOCKS.texts, reads_little=False, until=0.0)

    def spark(sql: str) -> Sequence[Sequence[object]]:
        raise AssertionError(sql)

    assert not late.reach_nothing(0, one_by_one(spark))
