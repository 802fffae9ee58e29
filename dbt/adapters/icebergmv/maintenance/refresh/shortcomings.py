"""What a view cannot have, in sentences for people: said when it is built, and again when it is something else.

What was said last is recorded with the view, so a run that finds the same says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import SAID
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, NewView
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import ReadPlan


def say(lake: Lake, view: Inspection, reads: ReadPlan) -> None:
    """Say what the view cannot have, but for what was said of it before. Raises what `lake.warn` raises."""
    before = None if isinstance(view, NewView) else view.state.config.get(SAID)
    known = before if isinstance(before, list) else []
    for sentence in shortcomings(view, reads):
        if sentence not in known:
            lake.warn(sentence)


def recorded_config(view: Inspection, reads: ReadPlan) -> dict[str, object]:
    """Return the configuration to be recorded with the view, and what was said of it."""
    said = shortcomings(view, reads)
    return {**view.request.config.recorded(), **({SAID: list(said)} if said else {})}


def shortcomings(view: Inspection, reads: ReadPlan) -> tuple[str, ...]:
    """Return what the view cannot have. Nothing for rows of `--empty` and `--sample`, whose SQL is not the user's."""
    if view.request.partial is not None:
        return ()
    return (*_full_refreshes(view), *_reads(view, reads))


def _full_refreshes(view: Inspection) -> Iterator[str]:
    definition, policy = view.definition, view.request.config.refresh_policy
    if policy == "full" or not view.request.config.incremental:
        return
    mend = "Change that part of the SELECT, or accept it with refresh_policy full."
    if definition.always_full is not None:
        when, reason = "at every run", definition.always_full
    elif definition.full_when_changed is not None:
        when, reason = "when a base table changed", definition.full_when_changed
    elif definition.full_when_clock_moves:
        shows_time = definition.clock is not None and definition.clock.values.keys() != {"date"}
        when = "at every run, as the clock moves" if shows_time else "when the clock moves"
        reason = "not only conditions on rows read it"
        mend = (
            "Compare it with a column, in a WHERE for example, name a column that only says when its row was written "
            "in written_at_columns, or leave it so: other changes are followed."
        )
    else:
        return
    yield f"{view.request.name} is refreshed in full {when}: {reason}. {mend}"


def _reads(view: Inspection, reads: ReadPlan) -> Iterator[str]:
    if reads.reason is None:
        return
    wanted = view.request.config.stale_read_behavior
    if reads.always_definition:
        mend = "Readers get the definition, always. With use_data_table they get the rows of the last refresh."
    elif reads.behavior == "use_data_table":
        mend = "Readers get use_data_table, which is what to set if you leave the SELECT as it is."
    else:
        mend = "Readers get use_view_query, which is what to set if you leave the SELECT as it is."
    yield f"{view.request.name} cannot have stale_read_behavior {wanted}: {reads.reason}. {mend}"
