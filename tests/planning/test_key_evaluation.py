"""What Spark is asked of the keys that it has to compute."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dbt.adapters.icebergmv.maintenance.planning.questions.key_evaluation import evaluated
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from tests.support.analysis import analysed_in
from tests.support.bases import change, columns_of, sized, status

CHANGED = TupleDomain.where({ColumnKey("region"): Domain.of("a"), ColumnKey("ts"): Domain.of(5)})


@pytest.mark.parametrize(
    ("sql", "is_utc", "asked"),
    [
        ("SELECT coalesce(region, 'x') AS r, ts FROM t", False, {"coalesce"}),
        ("SELECT to_date(ts) AS day, v FROM t", False, {"offsets"}),
        ("SELECT coalesce(region, 'x') AS r, to_date(ts) AS day FROM t", False, {"coalesce", "offsets"}),
        ("SELECT to_date(ts) AS day, v FROM t", True, set()),
        ("SELECT region, ts FROM t", False, set()),
    ],
)
def test_the_zone_is_asked_where_a_column_depends_on_it(sql: str, is_utc: bool, asked: set[str]) -> None:
    said: list[str] = []

    def run(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return [("e", "string", "")] if sql.startswith("DESCRIBE") else []

    definition = analysed_in(sql, "ns", columns_of, session_is_utc=is_utc)
    evaluated(definition, status(sized(change([CHANGED]), 100)), run)
    texts = {"coalesce": "coalesce(", "offsets": "timestamp_micros("}
    assert {name for name, text in texts.items() if any(text in sql for sql in said)} == asked
