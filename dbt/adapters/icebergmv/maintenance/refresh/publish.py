"""The last step of every run that changes something: one commit of the view's SQL and its state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.planning import pinned_queries as render
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import Lake, Publication, load_storage, publish
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection
from dbt.adapters.icebergmv.maintenance.status.pinned_view import sql_hash, view_query
from dbt.adapters.icebergmv.maintenance.status.recorded_state import PREFIX, ViewState
from dbt.adapters.icebergmv.maintenance.status.stale_read_config import LIVE
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan, read_text
from dbt.adapters.icebergmv.maintenance.stitching.snapshot_query import StoredRows


def publish_view(lake: Lake, inspection: Inspection, state: ViewState) -> None:
    """Publish the state, with the SQL that gives readers what `stale_read_behavior` says."""
    storage = load_storage(lake, state.storage_table)
    names = [f.name for f in StoredRows(state.storage_table, storage, state.storage_snapshot_id).schema.fields]
    publish_sql(lake, inspection, state, read_text(inspection, state, storage), names)


def publish_sql(lake: Lake, inspection: Inspection, state: ViewState, query: str, columns: Sequence[str]) -> None:
    """Publish the state with a SELECT of the given columns."""
    config = inspection.request.config
    is_plain = query == view_query(state.storage_table, columns, state.storage_snapshot_id)
    behavior, before = read_plan(inspection).behavior, inspection.state
    if before is not None and (before.stale_read_behavior in LIVE) != (behavior in LIVE):
        # A view over this one watches the storage table, or what lies below; it must see that the other counts now.
        lake.spark(render.set_table_properties(state.storage_table, {f"{PREFIX}stale-read-behavior": behavior}))
    state = replace(state, view_sql_hash="" if is_plain else sql_hash(query), stale_read_behavior=behavior)
    view = render.View(
        name=inspection.request.view,
        columns=tuple(columns),
        query=query,
        comment=config.comment,
        column_comments=config.column_comments,
        properties=state.to_properties(),
    )
    publish(
        lake,
        Publication(view, inspection.view, state.storage_table, state.storage_snapshot_id),
        inspection.table_in_the_way,
    )
