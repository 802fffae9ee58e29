"""Why a view is refreshed as it is: what each column follows, what stops each table, the next plan and its SQL.

It is also made for a SELECT that is no materialized view yet: what would it be? Only the catalog is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias

from dbt.adapters.icebergmv.maintenance.catalog.one_look import OneLook
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.definition.all_obstacles import Obstacles, all_obstacles, shortest_first
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_hidden
from dbt.adapters.icebergmv.maintenance.definition.partitioning import spec_fields, stored_partitioning
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Track
from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError
from dbt.adapters.icebergmv.maintenance.planning.considered import Considered, considered
from dbt.adapters.icebergmv.maintenance.planning.forecast import Forecast
from dbt.adapters.icebergmv.maintenance.planning.foreseen import foresee
from dbt.adapters.icebergmv.maintenance.planning.plan import Full
from dbt.adapters.icebergmv.maintenance.planning.settle import PlanOptions
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Computed, inverse
from dbt.adapters.icebergmv.maintenance.reports.next_refresh import Outlook, outlook
from dbt.adapters.icebergmv.maintenance.reports.next_sql import NextSql, next_sql
from dbt.adapters.icebergmv.maintenance.reports.view_status import (
    Configured,
    Subject,
    Unread,
    ViewStatus,
    absent_tables,
    configured_status,
    left_alone,
    limits_of,
    status_of,
)
from dbt.adapters.icebergmv.maintenance.reports.what_if import Trial, WhatIf, trial
from dbt.adapters.icebergmv.maintenance.sql.names import show
from dbt.adapters.icebergmv.maintenance.status.configuration_change import OnChange
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, RefreshedView, inspect, inspect_recorded
from dbt.adapters.icebergmv.maintenance.status.session.clock import utc_now
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import over_columns, read_plan

Verdict: TypeAlias = Literal["incremental", "partly", "full", "unknown", "error"]
_AS_IT_IS = "as it is"
_SELECT_ITSELF = (
    "the SELECT itself: to compute it over base tables of this size takes less time than to look for what changed"
)


@dataclass(frozen=True)
class ColumnTrack:
    """An output column follows a column of a base table: `how` is what is made of its values on the way."""

    base_table: str
    base_column: str
    how: str


@dataclass(frozen=True)
class ColumnExplanation:
    """An output column and what it follows. `hidden`: it is stored and not shown."""

    name: str
    type: str | None
    tracks: tuple[ColumnTrack, ...]
    hidden: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a change of a base table comes to: all kinds of refresh that it may be, and what is asked to know which."""

    kinds: tuple[str, ...]
    reason: str
    questions: tuple[str, ...] = ()


@dataclass(frozen=True)
class BaseTableExplanation:
    """A base table: which output columns follow it, and all that is in the way of following it, the shortest first.

    `rows_added` and `rows_changed` are what refreshes come to if nothing else changes; None of a table without rows,
    and where a table is not built yet.
    """

    name: str
    partitioned_by: tuple[str, ...]
    followed_by: tuple[str, ...]
    obstacles: tuple[str, ...]
    rows_added: Outcome | None
    rows_changed: Outcome | None


@dataclass(frozen=True)
class Explanation:
    """Why a view is refreshed as it is, or would be.

    incremental: changes of every base table are refreshed in part, if the answers to what is asked allow it; partly:
    those of some tables; full: those of none; unknown: a table that it reads is not built yet, or only a run knows its
    SELECT; error: it is no view that can be built, `error` says why. `obstacles` are those of the SELECT as a whole,
    the shortest first. `readers` says what readers get after the next run, where it is not the stored rows alone.
    `tie_breakers` are the columns by which rows are ordered that tie in windows, one text a window.
    `status` is None of a SELECT that is no materialized view. `partitioned_by` is how the stored rows are partitioned,
    None where there are none yet.
    """

    name: str
    verdict: Verdict
    columns: tuple[ColumnExplanation, ...] = ()
    base_tables: tuple[BaseTableExplanation, ...] = ()
    obstacles: tuple[str, ...] = ()
    readers: str | None = None
    status: ViewStatus | None = None
    considered: tuple[Considered, ...] = ()
    sql: NextSql | None = None
    error: str | None = None
    tie_breakers: tuple[str, ...] = ()
    partitioned_by: tuple[str, ...] | None = None


def explain(catalog: CatalogReader, subject: Subject, now: datetime | None = None) -> Explanation:
    """Return why a view is refreshed as it is. What is wrong with it is in there; nothing is raised but defects."""
    return explain_all(catalog, [subject], now)[0]


def explain_all(
    catalog: CatalogReader, subjects: Iterable[Subject], now: datetime | None = None
) -> tuple[Explanation, ...]:
    """Return an explanation of each view, in the order given. All are judged by one look at each table."""
    look, moment = OneLook(catalog), utc_now() if now is None else now
    return tuple(_explained(look, subject, moment) for subject in subjects)


def without_status(explanation: Explanation) -> Explanation:
    """Return the explanation of a SELECT that is no materialized view: it has no next refresh."""
    return replace(explanation, readers=None, status=None, considered=(), partitioned_by=None)


def _explained(catalog: CatalogReader, subject: Subject, now: datetime) -> Explanation:
    name = show(subject.name)
    try:
        if isinstance(subject, Configured):
            view: Inspection = inspect(catalog, subject.request)
            resting = left_alone(catalog, subject, now)
            found = configured_status(catalog, view, subject, now, resting)
            return _of(catalog, view, found, _ahead(view, subject.on_change))
        found = status_of(catalog, subject, now)
        if isinstance(subject, Unread):
            return Explanation(name, "unknown", obstacles=(subject.why,), status=found)
        if found.error is not None or found.next is None:
            return Explanation(name, "error", status=found, error=found.error or found.note)
        view = inspect_recorded(catalog, subject.name)
        return _of(catalog, view, found, outlook(view))
    except MaintenanceError as error:
        found = status_of(catalog, subject, now)
        if found.error is None and found.next is not None:
            return Explanation(name, "unknown", obstacles=(error.cause,), status=found)
        return Explanation(name, "error", status=found, error=found.error or error.cause)


def _ahead(view: Inspection, on_change: OnChange) -> Outlook | None:
    """Return the next refresh, None where it fails."""
    try:
        return outlook(view, on_change)
    except MaintenanceError:
        return None


def _of(catalog: CatalogReader, view: Inspection, found: ViewStatus, ahead: Outlook | None) -> Explanation:
    definition, bases = view.definition, view.status.base_tables
    is_all_there, obstacles, limits = not absent_tables(catalog, view), Obstacles(), None
    if is_all_there:
        obstacles = all_obstacles(definition, view.bases.columns_of, catalog.name)
        limits = limits_of(definition)
    tried = trial(view) if is_all_there else None
    tables = tuple(_base_table(base, definition, tried, obstacles) for base in bases)
    verdict: Verdict = _verdict(definition, tables) if is_all_there else "unknown"
    return Explanation(
        view.request.name,
        "error" if found.error is not None else verdict,
        tuple(_columns(view)),
        tables,
        obstacles.whole or tuple(said for said in (limits,) if said is not None),
        _readers(view) if is_all_there and found.error is None else None,
        found,
        () if ahead is None else _considered(view),
        None if ahead is None else next_sql(view, ahead),
        found.error,
        tuple(text.removeprefix(", ") for text in definition.tie_breakers),
        tuple(f.ddl() for f in stored_partitioning(view.storage)) if isinstance(view, RefreshedView) else None,
    )


def _readers(view: Inspection) -> str | None:
    """Return what readers get of a view that can be built, and why where it is not what is configured."""
    reads = read_plan(view)
    if reads.is_small:
        return _SELECT_ITSELF
    if isinstance(view, RefreshedView):
        reads = over_columns(reads, view.definition, view.stored.columns_and_keys)
    if reads.behavior == "use_data_table":
        return None
    return f"{reads.behavior}: {reads.reason}" if reads.reason is not None else reads.behavior


def _considered(view: Inspection) -> tuple[Considered, ...]:
    foreseen = foresee(view, PlanOptions.of_run(view.request.config))
    if foreseen.request is None:
        return (Considered(foreseen.forecast.plan.kind, "chosen", foreseen.forecast.plan.reason),)
    made = (foreseen.request, foreseen.forecast)
    return considered(view.definition, foreseen.view.definition, foreseen.view.status, made)


def _verdict(definition: ViewDefinition, tables: Iterable[BaseTableExplanation]) -> Verdict:
    if definition.always_full is not None or definition.full_when_changed is not None:
        return "full"
    followed = [_is_incremental(t.rows_changed) or _is_incremental(t.rows_added) for t in tables]
    if all(followed):
        return "incremental"
    return "partly" if any(followed) else "full"


def _is_incremental(outcome: Outcome | None) -> bool:
    """Return whether a refresh may be less than full; of a table without rows nothing speaks against it."""
    return outcome is None or bool({"append", "overwrite", "merge"} & {*outcome.kinds})


def _columns(view: Inspection) -> Iterable[ColumnExplanation]:
    definition = view.definition
    tables = {r.index: show(view.bases.of(r).name) for r in definition.references}
    for column in definition.columns or ():
        open_tracks = (t for t in column.tracks if t.occurrence not in definition.obstacles)
        tracks = {ColumnTrack(tables[t.occurrence.index], t.column, _how(t)) for t in open_tracks}
        in_order = sorted(tracks, key=lambda t: (t.base_table, t.base_column, t.how))
        yield ColumnExplanation(column.name, column.type, tuple(in_order), is_hidden(column.name))


def _how(track: Track) -> str:
    """Return by which steps a column is followed; those to a period and back are one."""
    words: list[str] = []
    left = track.function
    while left:
        there = next((left[:n] for n in range(len(left) // 2, 0, -1) if left[n : 2 * n] == inverse(left[:n])), ())
        if there:
            words.append(f"with all rows of the same {there[-1].name}")
        elif isinstance(left[0], Computed) and not words:
            words.append(left[0].written_of(track.column))
        else:
            words.append(left[0].name.replace("`?`", "?"))
        left = left[2 * len(there) or 1 :]
    return ", then ".join(words) or _AS_IT_IS


def _base_table(
    base: BaseTableStatus, definition: ViewDefinition, tried: Trial | None, obstacles: Obstacles
) -> BaseTableExplanation:
    """Return what is to be said of a base table. Without a trial nothing is known of changes."""
    uses = definition.uses_of_all(base.references)
    followed = [{*definition.tracks_of(use)} for use in uses]
    found = WhatIf(None, None) if tried is None else tried.of(base)
    return BaseTableExplanation(
        show(base.base.name),
        _partitioned_by(base.base),
        tuple(sorted(set.intersection(*followed))) if followed else (),
        _obstacles(base.base, obstacles) or _loss(definition, found.changed),
        _outcome(found.added),
        _outcome(found.changed),
    )


def _partitioned_by(base: BaseTable) -> tuple[str, ...]:
    """Return the partitioning as Spark has it; hidden keys of a materialized view are columns here."""
    source = base.source
    return () if source is None else tuple(f.ddl() for f in spec_fields(source.table.spec(), source.table.schema()))


def _obstacles(base: BaseTable, obstacles: Obstacles) -> tuple[str, ...]:
    """Return what is in the way of following a table, by its rows or in the SELECT."""
    said = [] if base.untrackable is None else [base.untrackable]
    return shortest_first({*said, *obstacles.of_table.get(base.name, ())})


def _loss(definition: ViewDefinition, changed: Forecast | None) -> tuple[str, ...]:
    """Return why no column follows a change although nothing in the SELECT is in the way: how the table is written."""
    is_whole = definition.always_full is not None or definition.full_when_changed is not None
    is_lost = changed is not None and isinstance(changed.plan, Full) and not is_whole
    return (changed.plan.reason,) if changed is not None and is_lost else ()


def _outcome(forecast: Forecast | None) -> Outcome | None:
    return None if forecast is None else Outcome(forecast.kinds, forecast.plan.reason, forecast.questions)
