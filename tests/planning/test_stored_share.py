"""About how many stored rows are within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from dbt.adapters.icebergmv.maintenance.planning.cost import stored_share
from dbt.adapters.icebergmv.maintenance.planning.cost.stored_share import (
    most_within,
    share_within,
    shares_within_bounds,
)
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.tables.listed_rows import ListedRows
from tests.support.bases import analysed, change, sized, status

NEW = change([TupleDomain.where({ColumnKey("id"): Domain.between(Range(100, 399))})], unit="file")
NEW = replace(NEW, appended_since=1, appended_rows=20)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredRows]:
    """Two files: 100 rows with n from 0 to 99, and 300 rows with n from 100 to 399; only the first has a `late`."""
    folder = tmp_path_factory.mktemp("lake")
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=folder.as_uri())
    catalog.create_namespace("ns")

    def rows(numbers: range, late: int | None) -> pa.Table:
        return pa.table(
            {
                "n": pa.array(numbers, pa.int64()),
                "name": [f"customer-{n:05}" for n in numbers],
                "day": [date.fromordinal(719163 + n) for n in numbers],
                "price": pa.array([float(n) for n in numbers]),
                "half": pa.array([None, 5] * (len(numbers) // 2) + [5] * (len(numbers) % 2), pa.int64()),
                "late": pa.array([late] * len(numbers), pa.int64()),
            }
        )

    table = catalog.create_table("ns.t", rows(range(1), 1).schema)
    table.append(rows(range(100), 7))
    table.append(rows(range(100, 400), None))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    yield StoredRows(("lake", "ns", "t"), table, snapshot.snapshot_id)
    catalog.close()


def between(low: Value | None, high: Value | None, column: str = "n") -> TupleDomain:
    return TupleDomain.where({ColumnKey(column): Domain.between(Range(low, high))})


SHARES: dict[str, tuple[list[TupleDomain], float]] = {
    "all of them": ([between(0, 399)], 1.0),
    "more than all": ([between(-1000, 1000)], 1.0),
    "one file": ([between(100, 399)], 0.75),
    "a half of one file": ([between(250, 399)], 0.375),
    "beyond": ([between(500, 600)], 0.0),
    "without an end": ([between(100, None)], 0.75),
    "texts, which begin alike": ([between("customer-00000", "customer-00399", "name")], 1.0),
    "days": ([between(100, 399, "day")], 0.75),
    "a list of values": ([TupleDomain.where({ColumnKey("n"): Domain.of(1, 200, 300)})], 0.0),
    "two columns": ([TupleDomain.all_of((*between(100, 399).constraints, *between(0, 249, "day").constraints))], 0.375),
    "the widest of several": ([between(0, 99), between(100, 399)], 0.75),
    "without metrics": ([between(0.0, 399.0, "price")], 0.0),
    "a column that is not stored": ([between(0, 399, "other")], 0.0),
    "a transform": ([TupleDomain.where({ColumnKey("n", "bucket[4]"): Domain.of(0, 1, 2, 3)})], 0.0),
    "one value": ([between(0, 9, "late")], 0.25),
    "NULL": ([TupleDomain.where({ColumnKey("late"): Domain.only_null()})], 0.75),
    "all of a file, half of which is NULL": ([between(0, 9, "half")], 0.5),
    "NULL of such a file": ([TupleDomain.where({ColumnKey("half"): Domain.only_null()})], 0.5),
    "another type": ([between("0", "9")], 0.0),
    "another type, one value in the file": ([between("0", "9", "late")], 0.0),
    "nothing": ([], 0.0),
}


@pytest.mark.parametrize("name", SHARES)
def test_the_share(name: str, stored: StoredRows) -> None:
    region, share = SHARES[name]
    assert share_within(region, stored) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("limit", ["COUNTED_FILES", "COUNTED_OVERLAPS"])
def test_very_many_files_are_not_counted(limit: str, stored: StoredRows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_share, limit, 1)
    assert share_within([between(0, 399)], stored) == 0.0


LARGE = sized(NEW, 5_000_000)


def test_references_with_bounds_have_shares(stored: StoredRows) -> None:
    by_n = analysed("SELECT id AS n, median(v) AS m FROM t GROUP BY id")
    assert shares_within_bounds(by_n, status(LARGE), stored, ()) == {0: pytest.approx(0.75, abs=0.01)}
    listed, small = replace(LARGE, listed=ListedRows({"id": "int"}, ((1,),), (1,))), sized(NEW, 1000)
    for other in (listed, sized(replace(NEW, unit="day"), 5_000_000), small):
        assert shares_within_bounds(by_n, status(other), stored, ()) == {}


def test_a_reference_that_nothing_follows_has_no_bounds(stored: StoredRows) -> None:
    definition = analysed("SELECT id AS n, median(v) AS m FROM t WHERE v < (SELECT max(v) FROM t) GROUP BY id")
    both = replace(LARGE, references=(0, 1))
    assert shares_within_bounds(definition, status(both), stored, ()).keys() == {0}


@pytest.mark.parametrize(
    ("region", "most"),
    [
        ([{"n": Domain.of(3, 50)}], 0.25),
        ([{"n": Domain.of(99)}], 0.25),
        ([{"n": Domain.of(100, 5000)}], 0.75),
        ([{"n": Domain.of(99, 100)}], 1.0),
        ([{"n": Domain.of(-5, 400)}], 0.0),
        ([{"n": Domain.between(Range(50, 60))}], 0.25),
        ([{"n": Domain.of(5)}, {"n": Domain.of(300)}], 1.0),
        ([{"n": Domain.of(5), "day": Domain.of(300)}], 0.0),
        ([{"name": Domain.of("customer-00001", "zebra")}], 0.25),
        ([{"half": Domain.only_null()}], 1.0),
        ([{"late": Domain.only_null()}], 0.75),
        ([{"late": Domain.of(7)}], 0.25),
        ([{"price": Domain.of(3.0)}], 1.0),
        ([{}], 1.0),
        ([], 0.0),
    ],
)
def test_files_that_may_hold_rows_of_a_region(region: list[dict[str, Domain]], most: float, stored: StoredRows) -> None:
    rows = [TupleDomain.where({ColumnKey(name): domain for name, domain in one.items()}) for one in region]
    assert most_within(rows, stored) == most


def test_of_many_files_it_is_not_asked(stored: StoredRows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_share, "COUNTED_FILES", 1)
    assert most_within([TupleDomain.where({ColumnKey("n"): Domain.of(3)})], stored) == 1.0
