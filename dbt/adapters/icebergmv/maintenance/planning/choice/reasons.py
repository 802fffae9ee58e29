"""The sentences that say what changed, and why a refresh is full."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import NotListed
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Computed, Step
from dbt.adapters.icebergmv.maintenance.predicates.local_time import LocalTime
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import count
from dbt.adapters.icebergmv.maintenance.status.session.clock import ClockChange
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus


def changes(
    status: MaterializedViewStatus, added: Collection[int] = (), reaching: Collection[int] | None = None
) -> str:
    """Return what changed since the last refresh: base tables, and the clock.

    Of tables that references in `added` read, only new rows are. `reaching` are the references whose step changes some
    row of the view, if that is known (`question_texts`). A table has no effect if its steps come after all of these:
    they end at the rows of now. One before may have brought what a later one lets through.
    """
    last = None if reaching is None else max(reaching, default=-1)
    said: list[str] = []
    for base in status.stale:
        what = appended(base.change) if base.is_among(added) else what_changed(base.change)
        is_idle = last is not None and (not base.may_reach or min(base.references, default=-1) > last)
        said.append(f"{base.base.name[2]}: {what}{', without effect' if is_idle else ''}")
    return "; ".join(said if status.clock is None else [*said, str(status.clock)])


def appended(change: TableChange) -> str:
    """Return how many rows were added to a base table."""
    return f"{count(change.appended_rows, 'row')} appended"


def what_changed(change: TableChange) -> str:
    """Return how much of a base table changed: partitions or, where they do not show it, rows or files."""
    if not counts_partitions(change) and change.appended_since is not None:
        return appended(change)
    if not counts_partitions(change) and change.is_whole:
        return "all rows written again"
    return "rows changed" if change.unit == "table" else f"{count(change.changed_partitions, change.unit)} changed"


def counts_partitions(change: TableChange) -> bool:
    """Return whether what changed of a table are some of its partitions."""
    return change.unit not in ("file", "table")


def clock_unanswered(clock: ClockChange, answer: NotListed | None) -> str:
    """Return why a clock that moved asks for a full refresh."""
    return str(clock) if answer is None else f"{clock}, and the rows that this moves {answer.reason}"


def unknown(base: BaseTableStatus) -> str:
    """Return why a table whose change cannot be followed asks for a full refresh."""
    reason = base.change.reason or "changed in a way that cannot be followed"
    return reason if base.base.source is None else f"{base.base.name[2]} {reason}"


def unanswered(base: BaseTableStatus, answer: NotListed) -> str:
    """Return why it is not known what the changed rows of a table reach."""
    return f"{base.base.name[2]} changed and its changed rows {answer.reason}"


def untracked(
    definition: ViewDefinition, base: BaseTableStatus, occurrence: Occurrence, answer: NotListed | None
) -> str:
    """Return why a change that reaches any row, as far as is known, asks for a full refresh."""
    if answer is not None:
        return unanswered(base, answer)
    name = base.base.name[2]
    computed = _computed(definition, occurrence)
    if computed is not None:
        return f"{name} changed and Spark cannot say what {computed} makes of the values that did"
    obstacle = definition.obstacles.get(occurrence)
    if obstacle is not None:
        return f"{name} changed and is not tracked through {obstacle}"
    source = base.base.source
    if source is not None and source.table.spec().is_unpartitioned():
        return f"{name} changed and is not partitioned"
    if source is None:
        return f"{name} is not partitioned by anything the view keeps"
    columns = dict.fromkeys(source.table_schema.find_column_name(f.source_id) for f in source.table.spec().fields)
    is_one_use = len(definition.uses_of_all(base.references)) == 1
    through = "" if is_one_use else " through all its uses"
    return f"{name} is partitioned by {', '.join(map(str, columns))}, which no output column follows{through}"


def _computed(definition: ViewDefinition, occurrence: Occurrence) -> str | None:
    """Return the expression that Spark is to evaluate."""
    return next(iter(asked_steps(definition, occurrence, (Computed,))), None)


def asked_steps(definition: ViewDefinition, occurrence: Occurrence, kinds: tuple[type[Step], ...]) -> Iterator[str]:
    """Yield the steps of some kinds by which an occurrence is tracked, as people write them.

    Spark alone knows what they make of values. What it said of a zone is in the step from then on.
    """
    for track in (t for found in definition.tracks_of(occurrence).values() for t in found):
        for place, step in enumerate(track.function):
            if isinstance(step, kinds) and not (isinstance(step, LocalTime) and step.offsets.are_known):
                yield step.written_of(track.column) if place == 0 and isinstance(step, Computed) else step.name
