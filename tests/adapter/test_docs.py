"""What `dbt docs generate` shows of a materialized view, from a real catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from dbt.adapters.icebergmv.docs import catalog_rows, catalog_table
from dbt.adapters.icebergmv.maintenance.catalog.opening import open_catalog
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState, ViewState
from tests.support.lake_views import SCHEMA, add_view, view_metadata

BASES = (("lake", "ns", "t"), ("lake", "ns", "a b"))
STATE = ViewState(
    definition="select id from t",
    definition_hash="x",
    storage_table=("lake", "ns", "__mv_storage__mv"),
    storage_uuid="u",
    storage_snapshot_id=1,
    base_tables=tuple(BaseTableState(name, name, TableVersion("u", 7, 0)) for name in BASES),
    refresh_kind="append",
    refresh_reason="t: 2 rows appended",
    started_at="2024-01-02T03:04:05.006+00:00",
    refreshed_at="2024-01-02T03:04:06.006+00:00",
    owner="anna",
    stale_read_behavior="fail",
)


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[tuple[SqlCatalog, CatalogReader, Path]]:
    uri = f"sqlite:///{tmp_path}/catalog.db"
    catalog = SqlCatalog("lake", uri=uri, warehouse=tmp_path.as_uri())
    catalog.create_namespace("ns")
    storage = catalog.create_table(
        ("ns", "__mv_storage__mv"), SCHEMA, properties={"icebergmv.storage-of": "lake.ns.mv"}
    )
    for ids in ([1, 2], [3]):
        storage.append(pa.table({"id": pa.array(ids, pa.int64())}))
    yield catalog, open_catalog("lake", {"type": "sql", "uri": uri}), tmp_path
    catalog.close()


def shown(reader: CatalogReader) -> dict[str, Any]:
    (row,) = catalog_rows(reader, "ns")
    assert (row["table_type"], row["column_name"]) == ("materialized_view", "id")
    stats = {k.split(":")[1]: v for k, v in row.items() if k.startswith("stats:") and k.endswith(":value")}
    return {"owner": row["table_owner"], **stats}


def test_a_table_that_pyiceberg_does_not_understand_has_no_rows(
    lake: tuple[SqlCatalog, CatalogReader, Path],
) -> None:
    catalog, reader, _ = lake
    for name in ("plain", "with_variant"):
        catalog.create_table(("ns", name), SCHEMA)
    file = Path(unquote(urlsplit(catalog.load_table(("ns", "with_variant")).metadata_location).path))
    file.write_text(file.read_text().replace('"type":"long"', '"type":"variant"'))
    assert [row["table_name"] for row in catalog_rows(reader, "ns")] == ["plain"]


def test_the_last_refresh_is_shown(lake: tuple[SqlCatalog, CatalogReader, Path]) -> None:
    catalog, reader, folder = lake
    # The view shows the first of two snapshots.
    first = catalog.load_table(("ns", "__mv_storage__mv")).history()[0].snapshot_id
    properties = replace(STATE, storage_snapshot_id=first).to_properties()
    add_view(catalog, ("ns", "mv"), view_metadata(["select 1"], properties=properties), folder)
    stats = shown(reader)
    assert stats.pop("bytes") > 0
    assert stats == {
        "owner": "anna",
        "last_refresh": "2024-01-02T03:04:06.006+00:00",
        "refresh_kind": "append",
        "refresh_reason": "t: 2 rows appended",
        "stale_read_behavior": "fail",
        "storage_table": "`lake`.`ns`.`__mv_storage__mv`",
        "rows": 2,
        "base_snapshots": "lake.ns.t @ 7, lake.ns.`a b` @ 7",
    }


def test_kind_and_reason_are_shown_first_and_ids_last(lake: tuple[SqlCatalog, CatalogReader, Path]) -> None:
    catalog, reader, folder = lake
    (first, _) = catalog.load_table(("ns", "__mv_storage__mv")).history()
    properties = replace(STATE, storage_snapshot_id=first.snapshot_id).to_properties()
    add_view(catalog, ("ns", "mv"), view_metadata(["select 1"], properties=properties), folder)
    (row,) = catalog_rows(reader, "ns")
    labels = sorted(value for key, value in row.items() if key.startswith("stats:") and key.endswith(":label"))
    assert labels[:3] == ["Refresh", "Refresh reason", "Refreshed at"]
    assert labels[-1] == "Versions of base tables"


@pytest.mark.parametrize("edited", [{"icebergmv.refresh-kind": "none"}, {"icebergmv.format-version": "2"}])
def test_a_state_that_cannot_be_used_is_not_shown(
    lake: tuple[SqlCatalog, CatalogReader, Path], edited: dict[str, str]
) -> None:
    catalog, reader, folder = lake
    properties = {**STATE.to_properties(), **edited}
    add_view(catalog, ("ns", "mv"), view_metadata(["select 1"], properties=properties), folder)
    assert shown(reader) == {"owner": "anna", "storage_table": "`lake`.`ns`.`__mv_storage__mv`"}


def test_one_relation_is_shown_as_among_all(lake: tuple[SqlCatalog, CatalogReader, Path]) -> None:
    catalog, reader, folder = lake
    add_view(catalog, ("ns", "mv"), view_metadata(["select 1"], properties=STATE.to_properties()), folder)
    (row,) = catalog_rows(reader, "ns")
    found = catalog_table(reader, "ns", "mv")
    assert found is not None
    assert (found.metadata.type, found.metadata.owner) == ("materialized_view", "anna")
    assert {name: column.type for name, column in found.columns.items()} == {"id": row["column_type"]}
    assert {name: stat.value for name, stat in found.stats.items()} == {
        key.split(":")[1]: value for key, value in row.items() if key.endswith(":value")
    }
    assert catalog_table(reader, "ns", "absent") is None
