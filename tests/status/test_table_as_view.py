"""The state of a materialized view that is a table: which snapshot's it is, and what hides it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField

from dbt.adapters.icebergmv.maintenance.errors import StateUnreadable
from dbt.adapters.icebergmv.maintenance.sql.names import show
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import STORAGE_OF, ViewState, read_state
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import (
    STATE_KEY,
    state_of_snapshot,
    state_text,
    text_below_a_view,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import (
    TableView,
    build_properties,
    found_view,
    table_as_view,
)
from tests.support.recording_spark import LocalCatalog, committed_as

NAME = ("lake", "ns", "v")
SCHEMA = Schema(NestedField(1, "a", LongType(), required=False))
STATE = ViewState(
    definition="select 'it''s \\ ${x}' as a",
    definition_hash="h",
    storage_table=NAME,
    storage_uuid="",
    storage_snapshot_id=0,
    base_tables=(),
    refresh_kind="append",
    refresh_reason="new rows",
    started_at="2024-01-02T03:04:05.006+00:00",
    refreshed_at="2024-01-02T03:04:06.006+00:00",
    owner="ann",
    config={"layout": "table"},
)
OURS = {STORAGE_OF: show(NAME)}


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[LocalCatalog]:
    iceberg = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=tmp_path.as_uri())
    iceberg.create_namespace("ns")
    yield LocalCatalog(iceberg)
    iceberg.close()


def rows(*values: int) -> pa.Table:
    return pa.table({"a": pa.array(values, pa.int64())})


def recorded(table: Table, state: ViewState, *values: int) -> None:
    """Add rows as a refresh does, with a state."""
    table.append(rows(*values), snapshot_properties={STATE_KEY: state_text(state)})


def found(catalog: LocalCatalog) -> TableView:
    view = found_view(catalog, NAME)
    assert isinstance(view, TableView)
    return view


def state_of(catalog: LocalCatalog) -> ViewState | None:
    view = found(catalog)
    return read_state("v", view.properties) if view.properties else None


def head(catalog: LocalCatalog) -> int:
    table = catalog.table("ns", "v")
    assert table is not None
    return table.metadata.current_snapshot_id or 0


def test_the_newest_state_on_main_counts(catalog: LocalCatalog) -> None:
    table = catalog.iceberg.create_table("ns.v", SCHEMA, properties=OURS)
    assert state_of(catalog) is None
    recorded(table, STATE, 1)
    recorded(table, replace(STATE, refresh_reason="newer"), 2)
    uuid = str(table.metadata.table_uuid)
    wanted = replace(STATE, refresh_reason="newer", storage_uuid=uuid, storage_snapshot_id=head(catalog))
    assert state_of(catalog) == wanted
    assert found(catalog).foreign is None
    assert [c.name for c in found(catalog).columns] == ["a"]


def test_a_state_on_a_branch_is_none(catalog: LocalCatalog) -> None:
    table = catalog.iceberg.create_table("ns.v", SCHEMA, properties=OURS)
    recorded(table, STATE, 1)
    table.manage_snapshots().create_branch(head(catalog), "icebergmv_x").commit()
    newer = {STATE_KEY: state_text(replace(STATE, refresh_reason="newer"))}
    table.append(rows(2), branch="icebergmv_x", snapshot_properties=newer)
    found_state = state_of(catalog)
    assert found_state is not None
    assert found_state.refresh_reason == "new rows"


def test_rows_of_others_are_seen(catalog: LocalCatalog) -> None:
    table = catalog.iceberg.create_table("ns.v", SCHEMA, properties=OURS)
    recorded(table, STATE, 1)
    table.append(rows(5))
    first = head(catalog)
    table.append(rows(6))
    assert state_of(catalog) is not None
    assert found(catalog).foreign == (
        f"its table was written (append) by something else than a refresh, in the snapshot {head(catalog)}"
    )
    # Main is taken back below them: rows and state are one again.
    table.manage_snapshots().set_current_snapshot(table.metadata.snapshots[0].snapshot_id).commit()
    assert (found(catalog).foreign, head(catalog) == first) == (None, False)


def test_compaction_is_no_change(catalog: LocalCatalog) -> None:
    table = catalog.iceberg.create_table("ns.v", SCHEMA, properties=OURS)
    recorded(table, STATE, 1)
    table.append(rows(5))
    committed_as(table, "replace")
    state = state_of(catalog)
    assert (state and state.storage_snapshot_id, found(catalog).foreign) == (head(catalog), None)


def test_a_table_that_is_made_anew_has_its_state_among_its_properties(catalog: LocalCatalog) -> None:
    table = catalog.iceberg.create_table("ns.v", SCHEMA, properties={**OURS, **build_properties(STATE, None)})
    table.append(rows(1))
    committed_as(table, "overwrite")
    state = state_of(catalog)
    assert (state and state.refresh_reason, found(catalog).foreign) == ("new rows", None)
    table.append(rows(2))
    assert found(catalog).foreign is not None


@pytest.mark.parametrize("is_copied", [True, False])
def test_a_state_among_properties_is_of_one_snapshot(catalog: LocalCatalog, *, is_copied: bool) -> None:
    """Another table with the same properties: a copy (its rows are appended), or one that was replaced later."""
    table = catalog.iceberg.create_table("ns.v", SCHEMA, properties={**OURS, **build_properties(STATE, None)})
    if is_copied:
        table.append(rows(1))
    else:
        later = build_properties(STATE, catalog.table("ns", "v"))
        assert later == build_properties(STATE, None)
        table.append(rows(1))
        committed_as(table, "overwrite")
        later = build_properties(replace(STATE, refresh_reason="later"), catalog.table("ns", "v"))
        with table.transaction() as transaction:
            transaction.set_properties(later)
    assert state_of(catalog) is None
    assert found(catalog).foreign is not None


def test_what_is_no_view(catalog: LocalCatalog) -> None:
    for properties in ({}, {STORAGE_OF: "`lake`.`ns`.`other`"}, {STORAGE_OF: "x..y"}):
        catalog.iceberg.create_table("ns.v", SCHEMA, properties=properties)
        table = catalog.table("ns", "v")
        assert table is not None
        assert table_as_view(NAME, table) is None
        assert found_view(catalog, NAME) is None
        catalog.iceberg.drop_table("ns.v")
    assert found_view(catalog, NAME) is None


def test_the_state_of_rows_below_a_view_is_none_of_a_table(catalog: LocalCatalog) -> None:
    """A storage table that was given the name of its view: its rows may have hidden columns, and are not to be read."""
    table = catalog.iceberg.create_table("ns.__mv_storage__v", SCHEMA, properties=OURS)
    below = replace(STATE, storage_table=("lake", "ns", "__mv_storage__v"), config={})
    table.append(rows(1), snapshot_properties={STATE_KEY: text_below_a_view(below, table)})
    assert found_view(catalog, ("lake", "ns", "__mv_storage__v")) is None
    catalog.iceberg.rename_table("ns.__mv_storage__v", "ns.v")
    assert (found(catalog).properties, found(catalog).recorded_in) == ({}, None)
    renamed = catalog.table("ns", "v")
    assert renamed is not None
    assert state_of_snapshot(("lake", "ns", "__mv_storage__v"), renamed, head(catalog)) is not None
    assert state_of_snapshot(NAME, renamed, head(catalog)) is None


def test_the_state_of_a_view_that_was_a_table_is_none_of_its_storage(catalog: LocalCatalog) -> None:
    table = catalog.iceberg.create_table("ns.v", SCHEMA, properties=OURS)
    recorded(table, STATE, 1)
    assert found(catalog).recorded_in == head(catalog)
    at = head(catalog)
    catalog.iceberg.rename_table("ns.v", "ns.v__dbt_backup")
    backup = catalog.table("ns", "v__dbt_backup")
    assert backup is not None
    assert found_view(catalog, ("lake", "ns", "v__dbt_backup")) is None
    assert state_of_snapshot(("lake", "ns", "v__dbt_backup"), backup, at) is None


def test_a_state_over_one_of_another_table_counts(catalog: LocalCatalog) -> None:
    """What was written for another table is a write of others, above the state as below it."""
    table = catalog.iceberg.create_table("ns.v", SCHEMA, properties=OURS)
    other = replace(STATE, storage_table=("lake", "ns", "__mv_storage__v"), refresh_reason="other")
    recorded(table, other, 1)
    recorded(table, STATE, 2)
    state = state_of(catalog)
    assert (state and state.refresh_reason, found(catalog).foreign) == ("new rows", None)
    recorded(table, other, 3)
    state = state_of(catalog)
    assert state is not None
    assert state.refresh_reason == "new rows"
    assert found(catalog).foreign is not None


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"icebergmv.format-version": "1"}', '{"icebergmv.format-version": "9"}']
)
def test_a_state_that_was_spoilt(catalog: LocalCatalog, text: str) -> None:
    table = catalog.iceberg.create_table("ns.v", SCHEMA, properties=OURS)
    table.append(rows(1), snapshot_properties={STATE_KEY: text})
    with pytest.raises(StateUnreadable):
        read_state("v", found(catalog).properties)
