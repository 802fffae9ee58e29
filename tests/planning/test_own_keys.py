"""The output rows that changed rows lead to by their own values."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.icebergmv.maintenance.planning.questions.asker import one_by_one
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import MOST_KEYS
from dbt.adapters.icebergmv.maintenance.planning.questions.own_keys import FollowedColumns, join_keys
from dbt.adapters.icebergmv.maintenance.planning.questions.question_texts import QuestionTexts
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from tests.support.asked import OneTable
from tests.support.bases import analysed, change, partition_rows, sized, status

BASE = sized(change([partition_rows([("day", "ts")], (10,))], unit="day"), 1000)


def followed(sql: str) -> FollowedColumns:
    definition = analysed(sql)
    return FollowedColumns(
        QuestionTexts(definition, definition.asked, OneTable(BASE), status(BASE)), frozenset(), MOST_KEYS
    )


def test_rows_with_the_values_of_changed_rows() -> None:
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return [[3], [None]]

    found = followed("SELECT id, count(*) AS n FROM t GROUP BY id").own_keys(0, one_by_one(spark))
    assert found == (TupleDomain.where({ColumnKey("id"): Domain.of(3, None)}),)
    assert len(said) == 1 and "SELECT DISTINCT" in said[0] and "GROUP BY id" not in said[0]


def test_none_where_no_column_follows() -> None:
    assert followed("SELECT count(*) AS n FROM t").own_keys(0, one_by_one(lambda sql: [])) is None


def test_columns_that_follow_two_tables_join_them() -> None:
    definition = analysed("SELECT a.id, a.d, b.v FROM t a JOIN u b ON a.id = b.id")
    assert join_keys(definition, 0) == frozenset({"id"})
