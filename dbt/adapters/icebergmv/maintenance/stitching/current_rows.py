"""The current rows of a materialized view, from what is recorded with it and from what its tables are now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError, NotReadable
from dbt.adapters.icebergmv.maintenance.planning.key_evaluation import evaluated
from dbt.adapters.icebergmv.maintenance.planning.pinned_queries import SHOW_SETTINGS
from dbt.adapters.icebergmv.maintenance.planning.planner import PlanRequest, RefreshPlan, plan_refresh
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import Lake
from dbt.adapters.icebergmv.maintenance.refresh.storage_table import (
    Column,
    check_columns,
    columns_of_definition,
    describe,
    pinned_definition,
    stored_partitioning,
)
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, qualified
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, inspect_recorded
from dbt.adapters.icebergmv.maintenance.status.session_settings import TIME_ZONE, is_utc, meaning_settings
from dbt.adapters.icebergmv.maintenance.stitching.snapshot_query import StoredRows, as_stored, literal_query


def current_query(lake: Lake, view: TableName, *, at_once: bool = True) -> str:
    """Return one SELECT of the rows that the view would hold if it were refreshed now; nothing is written.

    `at_once`: Spark analyses it now, and not again when the columns of a table may be others.
    Its tables are read at the snapshots that the catalog shows at this moment. Raises MaintenanceError, with the view's
    name, where those rows cannot be told.
    """
    try:
        return _current_query(lake, view, at_once)
    except MaintenanceError as error:
        if show(view) in str(error):
            raise
        raise type(error)(f"Cannot read {show(view)}: {error}") from error


@dataclass(frozen=True)
class CurrentRows:
    """The rows that a refresh would leave, as a query of these columns, and the plan that it follows.

    `definition` gives the same rows without stored ones; None where the query does not mix the two.
    """

    query: str
    columns: tuple[str, ...]
    plan: RefreshPlan
    definition: str | None = None

    def where(self, guard: str | None) -> str:
        """Return the query for sessions that a condition admits; in others the definition alone is the answer."""
        if self.definition is None or guard is None:
            return self.query
        listed = ", ".join(map(identifier, self.columns))
        arms = ((self.query, guard), (self.definition, f"NOT ({guard})"))
        return "\nUNION ALL\n".join(f"SELECT {listed} FROM (\n{query}\n) WHERE {when}" for query, when in arms)


def _current_query(lake: Lake, view: TableName, at_once: bool) -> str:
    inspection = inspect_recorded(lake.catalog, view)
    _check_session(lake, inspection)
    as_names = lambda: inspect_recorded(lake.catalog, view, expand_views=False)  # noqa: E731
    return current_rows(lake, inspection, as_names, at_once=at_once).query


def current_rows(
    lake: Lake, inspection: Inspection, as_names: Callable[[], Inspection], *, at_once: bool
) -> CurrentRows:
    """Return the current rows of an inspected view.

    `as_names` inspects it again with plain views left as names, for when Spark reads them otherwise than their SQL.
    `at_once`: the query is analysed once, now.
    """
    _show_snapshots(lake, inspection)
    plan = _plan(inspection, at_once)
    if plan.kind == "none" and not inspection.status.schema_moved:
        return _rows(inspection, plan, ())
    columns = columns_of_definition(lake, inspection)
    if columns is None:
        inspection = as_names()
        _show_snapshots(lake, inspection)
        columns = describe(lake, pinned_definition(inspection))
    inspection = check_columns(inspection, columns)
    if plan.kind in ("overwrite", "full"):
        definition = evaluated(inspection.definition, inspection.status, lake.spark)
        inspection = replace(inspection, definition=definition)
    return _rows(inspection, _plan(inspection, at_once, _misfit(lake, inspection, columns)), [c.name for c in columns])


def _rows(inspection: Inspection, plan: RefreshPlan, columns: Sequence[str]) -> CurrentRows:
    stored = _stored(inspection)
    query = literal_query(inspection.definition, inspection.bases, plan, columns, stored)
    if plan.kind == "full" or stored is None:
        return CurrentRows(query, tuple(columns), plan)
    names = tuple(f.name for f in stored.schema.fields)
    if plan.kind == "none":
        return CurrentRows(query, names, plan)
    return CurrentRows(query, names, plan, as_stored(pinned_definition(inspection), stored.schema))


def _stored(inspection: Inspection) -> StoredRows | None:
    state, storage = inspection.state, inspection.storage
    if state is None or storage is None or inspection.lost is not None:
        return None
    return StoredRows(state.storage_table, storage, state.storage_snapshot_id)


def _plan(inspection: Inspection, at_once: bool, unfit: str | None = None) -> RefreshPlan:
    request = PlanRequest(
        policy="auto",
        refreshed_at=inspection.state.refreshed_for_people if inspection.state else "",
        lost=inspection.lost or inspection.redefined or unfit,
        partitioning=[(f.column, f.transform) for f in stored_partitioning(inspection.storage)],
        appends=at_once,
    )
    return plan_refresh(inspection.definition, inspection.status, request)


def _misfit(lake: Lake, inspection: Inspection, columns: tuple[Column, ...]) -> str | None:
    """Return why the stored rows cannot stand beside rows of the definition, or None when they can."""
    stored = _stored(inspection)
    if stored is None or describe(lake, stored.query) == columns:
        return None
    return "the columns of the SELECT are not those of the storage table"


def _show_snapshots(lake: Lake, inspection: Inspection) -> None:
    """Let Spark forget the tables that it caches: it may not know yet the snapshots that the catalog shows."""
    sources = [inspection.bases.of(r).source for r in inspection.definition.references]
    tables = dict.fromkeys(s.storage for s in sources if s is not None)
    stored = _stored(inspection)
    for table in (*tables, *([stored.name] if stored is not None else [])):
        lake.spark(f"REFRESH TABLE {qualified(*table)}")


def _check_session(lake: Lake, inspection: Inspection) -> None:
    """Refuse a session in which the SELECT may mean something else than in the one that refreshed the view.

    A setting of that one counts by what this one has for it, be it a default; any other only if it is set here.
    """
    wanted = inspection.request.config.settings
    known = {str(row[0]): str(row[1]) for row in lake.spark(SHOW_SETTINGS)}
    for key in sorted(meaning_settings(known).keys() | wanted.keys()):
        actual = known[key] if key in known else str(lake.spark(f"SET {identifier(key)}")[0][1])
        if key in wanted and not _same(key, actual, wanted[key]):
            raise NotReadable(
                f"it was refreshed with {key} = {wanted[key]} and this session has {actual}. "
                f"Set it: spark.conf.set({key!r}, {wanted[key]!r})."
            )
        if key not in wanted:
            raise NotReadable(
                f"it was refreshed without {key} and this session has {actual}. Unset it: spark.conf.unset({key!r})."
            )


def _same(key: str, actual: str, wanted: str) -> bool:
    def utc(value: str) -> bool:
        settings: Mapping[str, str] = {TIME_ZONE: value}
        return key == TIME_ZONE and is_utc(settings)

    return actual == wanted or (utc(actual) and utc(wanted))
