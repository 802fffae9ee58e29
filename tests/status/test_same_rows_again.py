"""Which SELECTs of materialized views give their stored rows again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo, ViewInfo
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState, ExpandedView, ViewState
from dbt.adapters.icebergmv.maintenance.status.same_rows_again import gives_the_same_rows
from tests.support.metadata_tables import MetadataTable
from tests.support.stub_catalog import StubCatalog

NAMES = ("lake", "ns", "t"), ("lake", "ns", "v")
COLUMNS = (ColumnInfo("k", "long", None),)
VIEW = ViewInfo("ns", "v", "u", "SELECT k FROM t", COLUMNS, {}, None, default_namespace=("ns",), types=("bigint",))
READ = tuple(BaseTableState(name, name, TableVersion("u", 1, 0)) for name in NAMES)


def _gives(sql: str, folder: Path, written: ViewState) -> bool:
    table = MetadataTable(folder, Schema(NestedField(1, "k", LongType()), NestedField(2, "d", LongType()))).table()
    catalog = StubCatalog({"ns.v": VIEW}, {"ns.t": table})
    return gives_the_same_rows(catalog, _state(sql), written)


def _state(sql: str, *, tables: tuple[BaseTableState, ...] = (), views: tuple[ExpandedView, ...] = ()) -> ViewState:
    made = ViewState(sql, "h", ("lake", "ns", "s"), "u", 1, tables, "full", "", "", "", "me", views=views)
    return replace(made, default_namespace="ns")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT k FROM t WHERE d > 1", True),
        ("SELECT d, sum(k) AS k FROM lake.ns.t GROUP BY d", True),
        ("SELECT k FROM t LIMIT 3", False),
        ("SELECT k, rand() AS r FROM t", False),
        ("SELECT k, current_timestamp() AS loaded_at FROM t", False),
        ("SELECT d, max_by(k, d) AS k FROM t GROUP BY d", False),
        ("SELECT k, row_number() OVER (ORDER BY d) AS n FROM t", False),
        ("SELECT t.k FROM t JOIN spark_catalog.ns.rates AS r ON r.k = t.k", False),
        ("SELECT k FROM elsewhere", False),
        ("", False),
    ],
)
def test_which_selects_give_their_stored_rows_again(sql: str, expected: bool, tmp_path: Path) -> None:
    assert _gives(sql, tmp_path, _state("", tables=READ[:1])) is expected


def test_what_was_read_as_its_select_is_followed_down(tmp_path: Path) -> None:
    view = ExpandedView(NAMES[1], "u", 1, "h")
    assert _gives("SELECT k FROM v", tmp_path, _state("", tables=READ[:1], views=(view,)))
    assert not _gives("SELECT k FROM v", tmp_path, _state("", tables=()))
