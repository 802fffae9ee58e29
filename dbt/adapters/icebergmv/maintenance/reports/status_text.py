"""The status of views as a table that a person reads at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from dbt.adapters.icebergmv.maintenance.reports.next_refresh import NextRefresh
from dbt.adapters.icebergmv.maintenance.reports.view_status import State, ViewStatus
from dbt.adapters.icebergmv.maintenance.reports.words import listed, size, table
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import ago, count, span

_HEAD = ("view", "state", "refreshed", "lag", "window", "readers get", "next run")


def status_text(statuses: Sequence[ViewStatus]) -> str:
    """Return a table with one line a view, and below it, for each that is not fresh, what changed."""
    if not statuses:
        return "No materialized view is in the project or in its schemas."
    rows = [_row(view) for view in statuses]
    details = [line for view in statuses for line in _details(view)]
    return "\n".join([_summary(statuses), "", *table(_HEAD, rows), *(["", *details] if details else [])])


def next_words(found: NextRefresh) -> str:
    """Return what the next run does in a few words."""
    kinds = listed(found.kinds, "or")
    if found.questions:
        return f"{kinds}: asked when it runs{_reads(found, 'at most ')}"
    return f"{kinds} ({found.held_by})" if found.held_by is not None else f"{kinds}{_reads(found)}"


def _reads(found: NextRefresh, most: str = "") -> str:
    return f", reads {most}{size(found.estimated_bytes)}" if found.estimated_bytes else ""


def _summary(statuses: Sequence[ViewStatus]) -> str:
    counts = Counter(view.state for view in statuses)
    parts = [f"{counts[state]} {state}" for state in get_args(State) if counts[state]]
    return f"{count(len(statuses), 'materialized view')}: {', '.join(parts)}"


def _row(view: ViewStatus) -> tuple[str, ...]:
    if view.error is not None:
        following = "fails (below)"
    elif view.next is None:
        following = "no run refreshes it"
    else:
        following = next_words(view.next)
    return (
        view.name.split(".", 1)[-1],
        view.state,
        "never" if view.age_seconds is None else ago(view.age_seconds),
        _lag(view),
        _window(view),
        view.stale_read_behavior or "-",
        following,
    )


def _lag(view: ViewStatus) -> str:
    """Return how far the rows are behind, and how far they may be; nothing of a view that is not and need not say."""
    if view.lag_seconds is None:
        return "?" if view.state == "stale" else "-"
    if view.target_lag is None:
        return ago(view.lag_seconds, "") if view.lag_seconds else "-"
    if not view.within_target_lag:
        return f"{ago(view.lag_seconds, '')}, over {span(view.target_lag)}"
    return f"{ago(view.lag_seconds, '') if view.lag_seconds else '0'} of {span(view.target_lag)}"


def _window(view: ViewStatus) -> str:
    if view.staleness_window is None:
        return "-"
    return f"{'within' if view.within_window else 'past'} {ago(view.staleness_window, '')}"


def _details(view: ViewStatus) -> list[str]:
    """Return the lines that say of a view what does not fit into the table."""
    lines = [f"{base.name}: {base.change}" for base in view.base_tables if base.change is not None]
    lines += [view.clock] if view.clock is not None else []
    if view.next is not None:
        lines += _reason(view, view.next)
    if view.state in ("fresh", "stale"):
        lines += [f"changed: {altered}" for altered in view.altered]
    if view.limits is not None:
        lines.append(view.limits)
    if view.reads_reason is not None:
        lines.append(f"readers do not get what is configured: {view.reads_reason}")
    lines += [said for said in (view.note, view.error) if said is not None]
    return [view.name.split(".", 1)[-1], *(f"  {line}" for line in dict.fromkeys(lines))] if lines else []


def _reason(view: ViewStatus, found: NextRefresh) -> list[str]:
    """Return why the next run does what it does, where the changes above do not say it, and what it asks."""
    questions = [f"asked when it runs: {question}" for question in found.questions]
    questions += [f"error: {found.refusal}"] if found.refusal is not None else []
    is_said = found.questions or found.kinds[0] in ("append", "overwrite", "merge") or view.state == "fresh"
    return questions if is_said else [f"{found.kinds[0]}: {found.reason}", *questions]
