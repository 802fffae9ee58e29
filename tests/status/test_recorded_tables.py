"""Base tables as a refresh read them, whatever they are now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.types import LongType

from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference, find_references
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import parse_query
from dbt.adapters.icebergmv.maintenance.errors import NotReadable
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState, read_state
from dbt.adapters.icebergmv.maintenance.status.tables.recorded_tables import RecordedTables
from tests.refresh.refreshes import ROWS, Stage, sell


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    made.refresh(ROWS)
    yield made
    made.close()


def reference(name: str) -> TableReference:
    query = parse_query(f"select 1 as one from lake.ns.{name}")
    assert query is not None
    return find_references(query, "ns").tables[0]


def recorded(stage: Stage) -> ViewState:
    return read_state("v", stage.catalog.views["sales"].properties)


def test_rows_and_columns_of_that_time(stage: Stage) -> None:
    state, before = recorded(stage), stage.tables()["orders"]
    sell("EU")(stage.tables())
    with stage.tables()["orders"].update_schema() as update:
        update.add_column("more", LongType())
    source = RecordedTables(stage.catalog, state).of(reference("orders")).source
    assert source is not None
    assert source.version.snapshot_id == before.metadata.current_snapshot_id
    assert source.table_schema == before.schema()


def test_what_was_not_read_cannot_be_shown(stage: Stage) -> None:
    with pytest.raises(NotReadable, match=r"recorded no snapshot of lake\.ns\.regions"):
        RecordedTables(stage.catalog, recorded(stage)).of(reference("regions"))


def test_an_expired_snapshot(stage: Stage) -> None:
    state = recorded(stage)
    sell("EU")(stage.tables())
    snapshot = state.base_tables[0].version.snapshot_id
    assert snapshot is not None
    stage.tables()["orders"].maintenance.expire_snapshots().by_id(snapshot).commit()
    with pytest.raises(NotReadable, match=f"lake.ns.orders has expired the snapshot {snapshot}"):
        RecordedTables(stage.catalog, state).of(reference("orders"))
