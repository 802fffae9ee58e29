"""An expression that is used several times is asked by itself which of its rows change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.planning.answers.changed_keys import Questions
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import ToAsk, as_far_as_it_pays
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import asking_pays, small_beside_large
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import one_by_one
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import MOST_KEYS, too_many
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from tests.support.bare_tables import bare_table
from tests.support.bases import COLUMNS, analysed, change, partition_rows, sized, status
from tests.support.stub_catalog import StubCatalog

Rows = Sequence[Sequence[object]]
TABLES = {f"ns.{t}": bare_table(t, {c: kind for c, (kind, _) in COLUMNS.items()}, (), (1, 2)) for t in "tu"}
BASES = BaseTables(StubCatalog({}, TABLES))
DAY = change([partition_rows([("identity", "d")], (10,))])
TWICE = analysed(
    "WITH c AS (SELECT t.region, t.v, count(*) AS n FROM t JOIN u ON t.id = u.id GROUP BY t.region, t.v) "
    "SELECT x.region, y.region AS other, y.n FROM c x JOIN c y ON x.v = y.v + 1"
)
MANY = 10_000_000


def questions(*rows: int) -> Questions:
    bases = status(sized(DAY, rows[0]), sized(change(status="fresh"), rows[1], "u", 1))
    columns = (Column("region", "string"), Column("other", "string"), Column("n", "bigint"))
    return Questions(TWICE, TWICE.asked, BASES, bases, columns)


def test_one_question_is_asked_for_all_uses() -> None:
    said: list[str] = []

    def spark(sql: str) -> Rows:
        said.append(sql)
        if sql.startswith("DESCRIBE"):
            return [("region", "string"), ("v", "int"), ("n", "bigint")]
        return [("EU",), (None,)] if "DISTINCT" in sql else [(1,)]

    found = questions(1000, 1000).answers(ToAsk((0,)), one_by_one(spark))
    keys = Domain.of("EU", None)
    assert found == {0: (TupleDomain.where({ColumnKey("region"): keys}), TupleDomain.where({ColumnKey("other"): keys}))}
    (asked,) = (sql for sql in said if "DISTINCT" in sql)
    assert "icebergmv_copy" not in asked and "x.v = y.v" not in asked
    # Only a column that leads on from both uses is asked for.
    assert "`region` AS k0 FROM" in asked and "`v` AS" not in asked


def test_too_many_keys_of_it_are_not_asked_for_by_the_whole_text() -> None:
    said: list[str] = []

    def spark(sql: str) -> Rows:
        said.append(sql)
        if sql.startswith("DESCRIBE"):
            return [("region", "string"), ("v", "int"), ("n", "bigint")]
        return [(str(n),) for n in range(10_001)] if "DISTINCT" in sql else [(1,)]

    assert questions(1000, 1000).answers(ToAsk((0,)), one_by_one(spark)) == {0: too_many(MOST_KEYS)}
    assert all("icebergmv_copy" not in sql for sql in said)


def test_where_groups_are_merged_it_is_asked_whether_anything_is_reached() -> None:
    def spark(sql: str) -> Rows:
        assert not sql.startswith("DESCRIBE")
        return []

    assert questions(1000, 1000).answers(ToAsk((0,), only_whether=True), one_by_one(spark)) == {0: ()}


def test_to_ask_it_alone_pays_where_the_whole_text_would_not() -> None:
    many = analysed(
        "WITH c AS (SELECT region, d, sum(v) AS s FROM t GROUP BY region, d) "
        "SELECT a.region, b.s AS s2, e.s AS s3, f.s "
        "FROM c a JOIN c b ON a.region = b.region JOIN c e ON a.region = e.region JOIN c f ON a.region = f.region"
    )
    base = status(sized(DAY, MANY))
    assert many.asked.shared.keys() == {0}
    assert asking_pays(many.asked, [0], base, frozenset())
    assert not asking_pays(replace(many.asked, shared={}), [0], base, frozenset())
    assert as_far_as_it_pays(many.asked, base, ToAsk((0,)), PlanRequest("auto")) == (ToAsk((0,)), many.asked)


IN_WHICH_TEXT: dict[str, tuple[str, int, bool]] = {
    "two uses of a large table, which the whole text answers": (
        "WITH m AS (SELECT t.region, sum(t.v * u.v) AS s FROM t JOIN u ON t.id = u.id GROUP BY t.region) "
        "SELECT a.region, b.s FROM m a JOIN m b ON a.region = b.region",
        0,
        False,
    ),
    # Without the condition nothing is known of a pair.
    "two uses, which the whole text does not answer": (
        "WITH m AS (SELECT t.region, sum(t.v * u.v) AS s FROM t JOIN u ON t.id = u.id GROUP BY t.region) "
        "SELECT a.region, b.region AS other FROM m a JOIN m b ON a.s > b.s",
        0,
        True,
    ),
    # No column follows the small table, so the facts would be read for each use.
    "four uses of a small table beside a large one": (
        "WITH m AS (SELECT t.region, sum(t.v * u.v) AS s FROM t JOIN u ON t.id = u.id GROUP BY t.region) "
        "SELECT a.region, b.s, c.s AS s2, d.s AS s3 FROM m a JOIN m b ON a.region = b.region "
        "JOIN m c ON a.region = c.region JOIN m d ON a.region = d.region",
        1,
        True,
    ),
}


@pytest.mark.parametrize("name", IN_WHICH_TEXT)
def test_in_which_text_a_table_is_asked(name: str) -> None:
    sql, changed, by_itself = IN_WHICH_TEXT[name]
    asked, day = analysed(sql).asked, replace(DAY, changed_rows=10)
    changes = [day if number == changed else change(status="fresh") for number in range(2)]
    bases = status(sized(changes[0], MANY), sized(changes[1], 1000, "u", 1))
    assert small_beside_large(bases) == {1} & {changed} and asked.shared.keys() == {0, 1}
    _, text = as_far_as_it_pays(asked, bases, ToAsk((changed,)), PlanRequest("auto"))
    assert text == (asked if by_itself else replace(asked, shared={}))
