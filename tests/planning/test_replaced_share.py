"""When many keys are in so many stored rows that everything is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from dbt.adapters.icebergmv.maintenance.errors import QueryStopped
from dbt.adapters.icebergmv.maintenance.planning.answers.replaced_share import (
    are_of_many_keys,
    full_instead,
    most_replaced,
)
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import NOT_UTF8, Answer
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from tests.support.bases import change, sized, status

KEYS = TupleDomain.where({ColumnKey("n"): Domain.of(*range(1500))})
PLAN = Overwrite("t: 1 day changed", (KEYS,))
STATUS = status(sized(change([KEYS], unit="day"), 10_000))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredRows]:
    """A thousand rows."""
    folder = tmp_path_factory.mktemp("lake")
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=folder.as_uri())
    catalog.create_namespace("ns")
    rows = pa.table({"n": pa.array(range(1000), pa.int32())})
    table = catalog.create_table("ns.t", rows.schema)
    table.append(rows)
    snapshot = table.current_snapshot()
    assert snapshot is not None
    yield StoredRows(("lake", "ns", "t"), table, snapshot.snapshot_id)
    catalog.close()


@pytest.mark.parametrize(
    ("most", "count", "is_full"),
    [(0.2, 0, False), (0.2, 200, False), (0.2, 201, True), (0.2, 1000, True), (0.8, 800, False), (0.8, 801, True)],
)
def test_more_than_a_share_is_computed_anew(stored: StoredRows, most: float, count: int, is_full: bool) -> None:
    asked: list[str] = []

    def run(sql: str) -> Sequence[Sequence[object]]:
        asked.append(sql)
        return [(count,)]

    found = full_instead(PLAN, STATUS, stored, run, most)
    assert (found is not None) == is_full
    (sql,) = asked
    assert f"FROM `lake`.`ns`.`t` VERSION AS OF {stored.snapshot_id}" in sql and "explode(split(" in sql
    if found is not None:
        assert found.reason.startswith(f"cheaper than an overwrite of {count / 10:.0f}% of the rows by their keys (")


def test_what_no_file_can_hold_is_not_counted(stored: StoredRows) -> None:
    def never(sql: str) -> Sequence[Sequence[object]]:
        raise AssertionError(sql)

    beyond = TupleDomain.where({ColumnKey("n"): Domain.of(*range(1000, 2500))})
    assert full_instead(Overwrite("t: 1 day changed", (beyond,)), STATUS, stored, never, 0.2) is None


def test_rows_that_cannot_be_counted(stored: StoredRows) -> None:
    def late(sql: str) -> Sequence[Sequence[object]]:
        raise QueryStopped

    def fails(sql: str) -> Sequence[Sequence[object]]:
        raise RuntimeError("no")

    found = full_instead(PLAN, STATUS, stored, late, 0.2)
    assert isinstance(found, Full) and found.reason.startswith("the rows to replace could not be counted in time (")
    assert full_instead(PLAN, STATUS, stored, fails, 0.2) is None


@pytest.mark.parametrize(
    ("answers", "nearly_all", "most"),
    [
        ([(KEYS,)], inf, 0.2),
        ([(KEYS,)], 5, 0.2),
        ([()], 1500, 0.8),
        ([()], 1501, None),
        ([()], inf, None),
    ],
)
def test_when_stored_rows_are_counted(answers: Sequence[Answer], nearly_all: float, most: float | None) -> None:
    """The plan replaces 1500 keys."""
    assert most_replaced(PLAN, answers, nearly_all) == most


RANGES = [Range(3 * n, 3 * n + 1) for n in range(1500)]


@pytest.mark.parametrize(
    ("answer", "are_many"),
    [
        ((KEYS,), True),
        ((TupleDomain.where({ColumnKey("n"): Domain.of(*range(1000))}),), False),
        ((TupleDomain.where({ColumnKey("n"): Domain.between(*RANGES)}),), False),
        ((), False),
        (NOT_UTF8, False),
    ],
)
def test_what_many_keys_are(answer: Answer, are_many: bool) -> None:
    assert are_of_many_keys([(), answer]) == are_many
