"""When Spark has to say whether the storage table can take the columns of the definition."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField, StringType

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column, other_columns
from dbt.adapters.icebergmv.maintenance.planning.storage_fit import misfit_to_write
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection
from tests.support.metadata_tables import MetadataTable
from tests.support.stub_catalog import StubCatalog

STORED = Schema(NestedField(1, "k", StringType()), NestedField(2, "n", LongType()))
SAME = (Column("k", "string"), Column("n", "bigint"))


def asked(inspected: Table, now: Table | None, columns: Sequence[Column], shown: Sequence[Column]) -> tuple[bool, int]:
    """Return whether the columns fit, and how often Spark, which shows others, was asked."""
    said: list[str] = []

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return [(c.name, c.type) for c in shown]

    config = SimpleNamespace(partition_by=None, storage_table=("lake", "ns", "t"))
    view = cast("Inspection", SimpleNamespace(storage=inspected, request=SimpleNamespace(config=config)))
    catalog = StubCatalog(tables={} if now is None else {"ns.t": now})
    return misfit_to_write(Lake(catalog, spark), view, columns) is None, len(said)


@pytest.fixture
def stored(tmp_path: Path) -> Table:
    return MetadataTable(tmp_path, STORED).table()


def test_the_catalog_is_enough_where_it_shows_the_same(stored: Table) -> None:
    assert asked(stored, stored, SAME, ()) == (True, 0)


def test_spark_has_the_last_word_on_others(stored: Table) -> None:
    other = (Column("k", "string"), Column("n", "int"))
    assert asked(stored, stored, other, SAME) == (False, 1)
    assert asked(stored, stored, other, other) == (True, 1)
    for columns in (SAME[:1], SAME[::-1], (Column("K", "string"), SAME[1])):
        assert asked(stored, stored, columns, SAME) == (False, 1)


def test_what_the_table_is_now_counts(stored: Table, tmp_path: Path) -> None:
    (tmp_path / "now").mkdir()
    now = MetadataTable(tmp_path / "now", Schema(NestedField(1, "k", StringType()))).table()
    assert asked(stored, now, SAME, SAME[:1]) == (False, 1)
    assert asked(stored, None, SAME, ()) == (False, 1)


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (SAME, None),
        ((SAME[0], Column("n", "double")), "its column n is double, and was bigint"),
        (
            (Column("k", "int"), Column("n", "double")),
            "its column k is int, and was string; its column n is double, and was bigint",
        ),
        ((*SAME, Column("x", "int")), "its column x is new"),
        ((SAME[1], Column("K", "string")), "its column K is new; its column k is gone"),
        (SAME[::-1], "its columns are in another order"),
    ],
)
def test_the_columns_that_differ_are_named(now: tuple[Column, ...], words: str | None) -> None:
    assert other_columns(SAME, now) == words
