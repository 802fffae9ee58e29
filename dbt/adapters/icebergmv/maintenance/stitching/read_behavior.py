"""What readers of a materialized view get: the SQL of the view for its `stale_read_behavior`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import StaleReadBehavior
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import is_ansi, is_utc
from dbt.adapters.icebergmv.maintenance.stitching.key_groups import KeyGroup, NotStitched, key_groups
from dbt.adapters.icebergmv.maintenance.stitching.reader_sql import (
    Reader,
    definition_text,
    fail_text,
    stitched_text,
    view_query_text,
    watched,
    within_window,
)
from dbt.adapters.icebergmv.maintenance.stitching.session_guard import session_guard
from dbt.adapters.icebergmv.maintenance.stitching.small_tables import are_small

_OURS = re.compile("icebergmv_(whole|checked|(gate|base|changed|log|last|files|specs|refs|found|keys)_[0-9]+)")
_FILE_FORMATS = frozenset(("avro", "binaryfile", "csv", "json", "orc", "parquet", "text", "xml"))
_MOST_TABLES = 30
"""A bound that nothing was measured for: plans grow with the square of the tables that give keys."""


@dataclass(frozen=True)
class ReadPlan:
    """Which behaviour a view can have. `reason` says why it is not the one that was asked for.

    `always_definition`: no reader can know whether the stored rows are right. `is_small`: readers get the definition,
    as it takes longer to find out whether they are. `groups` are the keys by which the view stitches by itself; none
    where runs do it.
    """

    behavior: StaleReadBehavior
    reason: str | None = None
    always_definition: bool = False
    is_small: bool = False
    groups: tuple[KeyGroup, ...] = ()

    @property
    def watches_bases(self) -> bool:
        """Return whether readers look at the base tables, which a refresh has recorded; where runs stitch none do."""
        shows_definition = self.always_definition or self.is_small
        return self.behavior == "fail" or (self.behavior == "use_view_query" and not shows_definition)


def read_plan(inspection: Inspection) -> ReadPlan:
    """Return the behaviour that the definition allows. Raises InvalidConfig where none like the wanted one is right."""
    config, bases = inspection.request.config, inspection.bases
    definition = inspection.definition.as_written
    wanted = config.stale_read_behavior
    if wanted == "use_data_table" or inspection.request.partial is not None:
        return ReadPlan("use_data_table")
    _check_text(definition, wanted)
    if wanted == "use_stitching" and not config.refresh_on_run:
        return ReadPlan(wanted)
    unknown = definition.always_full or next(
        (b.untrackable for r in definition.live if (b := bases.of(r)).source is None), None
    )
    if wanted == "fail":
        if unknown is not None:
            raise InvalidConfig(f"stale_read_behavior fail cannot be kept: {unknown}. Choose another one.")
        return ReadPlan(wanted)
    if unknown is not None:
        return _unwatched(inspection, unknown)
    looked_at = {bases.of(r).name for r in inspection.definition.live}
    reason = definition.full_when_changed or definition.depends_on_order
    if reason is None and are_small(
        [bases.of(r) for r in definition.references], len(looked_at), config.definition_below_rows
    ):
        return ReadPlan("use_view_query", is_small=True)
    if wanted == "use_view_query":
        return ReadPlan(wanted)
    if reason is None and not definition.rewritable:
        reason = "its SELECT names columns with a schema"
    if reason is None and definition.calls_user_functions:
        reason = "its SELECT calls user-defined functions"
    if reason is None and definition.selects_subquery:
        reason = "Spark fails to plan a subquery in a SELECT list where its table is read in parts"
    if reason is None and len({bases.of(r).name for r in definition.references}) > _MOST_TABLES:
        reason = f"it reads more than {_MOST_TABLES} tables"
    groups = _groups(inspection) if reason is None else NotStitched(reason)
    if isinstance(groups, NotStitched):
        return ReadPlan("use_view_query", groups.reason)
    return ReadPlan("use_stitching", groups=groups)


def _unwatched(inspection: Inspection, unknown: str) -> ReadPlan:
    path = _path(inspection)
    if path is not None:
        return ReadPlan("use_data_table", f"{path} is a path, which in a view is taken for the name of a table")
    return ReadPlan("use_view_query", unknown, always_definition=True)


def _path(inspection: Inspection) -> str | None:
    """Return a path that the SELECT reads files by (parquet.`/rates`), as text; None where it reads none.

    Iceberg puts its catalog in front of it in a view, which no reader can open then.
    """
    for reference in inspection.definition.live:
        is_format = reference.catalog is None and reference.namespace.lower() in _FILE_FORMATS
        if is_format and ("/" in reference.name or "." in reference.name):
            base = inspection.bases.of(reference)
            if base.source is None and base.view is None:
                return f"{reference.namespace}.`{reference.name}`"
    return None


def _check_text(definition: ViewDefinition, wanted: StaleReadBehavior) -> None:
    """Raise InvalidConfig for a text that would mean something else inside the view."""
    if "${" in definition.sql:
        raise InvalidConfig(
            f"its SELECT holds ${{...}}, which Spark would substitute in the session of every reader. "
            f"Write it in another way, or leave out stale_read_behavior {wanted}."
        )
    taken = next((word for word in sorted(definition.mentions) if _OURS.fullmatch(word)), None)
    if taken is not None:
        raise InvalidConfig(
            f"its SELECT names {taken}, as the view names a relation of its own. "
            f"Rename it, or leave out stale_read_behavior {wanted}."
        )


def over_columns(plan: ReadPlan, definition: ViewDefinition, stored: Iterable[str]) -> ReadPlan:
    """Return the plan as far as the stored columns, hidden keys included, allow it.

    Spark has the last word on columns; if the analysis found others, its keys are not to be trusted.
    """
    analysed = [c.name.lower() for c in definition.columns or ()]
    if plan.groups and analysed != [name.lower() for name in stored]:
        return ReadPlan("use_view_query", "its columns cannot be followed through the SELECT")
    return plan


def read_text(inspection: Inspection, plan: ReadPlan, state: ViewState, stored: StoredRows) -> str:
    """Return the SQL that the view is to hold, for the rows and base snapshots of a state.

    A view that runs alone stitch (refresh/static_stitching.py) holds the rows of the refresh until then.
    """
    config = inspection.request.config
    is_static = plan.behavior == "use_stitching" and not config.refresh_on_run
    # Without a table that is known to be live, a SELECT may read one that the analysis does not see.
    is_known_live = plan.always_definition or bool(inspection.definition.live)
    if plan.behavior == "use_data_table" or is_static or not is_known_live:
        return stored.query
    reader = Reader(
        view=inspection.request.view,
        storage=stored.name,
        snapshot_id=stored.snapshot_id,
        columns=tuple((f.name, f.field_type) for f in stored.schema.fields),
        refreshed_at=state.refreshed_for_people,
        guard=reader_guard(inspection, plan.groups),
        never_null=stored.never_null,
        types=stored.types,
    )
    text = _behaving_text(plan, reader, inspection, state)
    if config.staleness_window is None:
        return text
    until = datetime.fromisoformat(state.started_at) + timedelta(seconds=config.staleness_window)
    return within_window(reader, text, f"{until.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S.%f}Z")


def reader_guard(inspection: Inspection, groups: Sequence[KeyGroup] = ()) -> str | None:
    """Return a condition on the reader's session under which stored rows may be read beside computed ones, if any.

    `groups` are those that the view stitches by itself.
    """
    definition, bases = inspection.definition, inspection.bases
    sources = [bases.of(r).source for r in definition.references]
    fails = any(group.fails_in_ansi_mode for group in groups)
    return session_guard(definition, sources, inspection.request.config.settings, fails)


def _behaving_text(plan: ReadPlan, reader: Reader, inspection: Inspection, state: ViewState) -> str:
    definition, bases = inspection.definition, inspection.bases
    if plan.always_definition or plan.is_small:
        return definition_text(reader, definition.as_written, bases)
    if plan.behavior == "use_stitching":
        return stitched_text(reader, watched(definition, bases, state.base_tables, plan.groups), plan.groups)
    if plan.behavior == "fail":
        return fail_text(reader, watched(definition, bases, state.base_tables, apart=False))
    return view_query_text(reader, watched(definition, bases, state.base_tables))


def _groups(inspection: Inspection) -> tuple[KeyGroup, ...] | NotStitched:
    settings = inspection.request.config.settings
    groups = key_groups(inspection.definition, inspection.bases, is_utc(settings))
    if isinstance(groups, tuple) and is_ansi(settings) and any(group.fails_in_ansi_mode for group in groups):
        return NotStitched("in ANSI mode an expression in its key may fail on rows that the SELECT never sees")
    return groups
