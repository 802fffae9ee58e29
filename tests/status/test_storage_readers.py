"""Which views read a storage table."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from dbt.adapters.icebergmv.maintenance.catalog.reader import ViewInfo
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import STORAGE_UUID
from dbt.adapters.icebergmv.maintenance.status.recorded.storage_readers import may_be_read, view_stored_in
from tests.support.filed_lake import FiledLake
from tests.support.lake_views import add_view, view_metadata

STORAGE, OWNER = ("lake", "ns", "__mv_storage__a"), ("lake", "ns", "a")
SCHEMA = Schema(NestedField(1, "id", LongType(), required=False))


@pytest.fixture
def lake(filed_lake: FiledLake) -> FiledLake:
    return filed_lake


def _view(lake: FiledLake, name: str, sql: str, uuid: str | None = None) -> None:
    properties = {} if uuid is None else {STORAGE_UUID: uuid}
    lake.views[name] = ViewInfo("ns", name, "11111111-1111-1111-1111-111111111111", sql, (), properties, None)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT id FROM lake.ns.__mv_storage__a", True),
        ("SELECT id FROM `ns`.`__MV_storage__a` VERSION AS OF 3", True),
        ("SELECT id FROM __mv_storage__a", True),
        ("", True),
        ("SELECT id FROM other.__mv_storage__a", False),
        ("SELECT id FROM ns.__mv_storage__a2", False),
    ],
)
def test_what_another_view_reads(lake: FiledLake, sql: str, expected: bool) -> None:
    table = lake.iceberg.create_table("ns.__mv_storage__a", SCHEMA)
    _view(lake, "b", sql)
    assert may_be_read(lake, STORAGE, table, OWNER) is expected


def test_a_view_in_a_namespace_of_two_levels(lake: FiledLake, tmp_path: Path) -> None:
    table = lake.iceberg.create_table("ns.__mv_storage__a", SCHEMA)
    lake.iceberg.create_namespace(("team", "sub"))
    assert not may_be_read(lake.filed.reader, STORAGE, table, OWNER)
    metadata = view_metadata(["SELECT id FROM lake.ns.__mv_storage__a"])
    add_view(lake.iceberg, ("team.sub", "deep"), metadata, tmp_path)
    assert may_be_read(lake.filed.reader, STORAGE, table, OWNER)


def test_the_owner_does_not_count(lake: FiledLake) -> None:
    table = lake.iceberg.create_table("ns.__mv_storage__a", SCHEMA)
    _view(lake, "a", "SELECT id FROM lake.ns.__mv_storage__a", str(table.metadata.table_uuid))
    assert not may_be_read(lake, STORAGE, table, OWNER)
    assert view_stored_in(table, lake, OWNER) is None


def test_a_view_that_was_renamed_is_found_by_its_storage(lake: FiledLake) -> None:
    table = lake.iceberg.create_table("ns.__mv_storage__a", SCHEMA)
    _view(lake, "renamed", "SELECT 1", str(table.metadata.table_uuid))
    assert view_stored_in(table, lake, OWNER) == "lake.ns.renamed"
