"""The status of views in one run: what it does with a view follows from what it does first with those below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from dbt.adapters.icebergmv.maintenance.catalog.one_look import OneLook
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.reports.next_refresh import MAY_BE_REFUSED, NextRefresh, RefreshKind
from dbt.adapters.icebergmv.maintenance.reports.view_status import (
    Configured,
    Recorded,
    Subject,
    ViewStatus,
    status_of,
)
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import RefreshPolicy
from dbt.adapters.icebergmv.maintenance.status.session.clock import utc_now

_WITH_OTHER_COLUMNS: tuple[RefreshKind, ...] = ("append", "merge", "overwrite")


@dataclass(frozen=True)
class _BuiltFirst:
    """What the same run builds before a view that reads it, by the names, as far as the view may feel it.

    `keeps_columns`: all have the columns then that they have now, so the SELECT means what it means now. `redefines`:
    one is read otherwise then. `fails` are those whose run fails; `may_fail`: that of one may.
    """

    names: tuple[str, ...] = ()
    keeps_columns: bool = False
    redefines: bool = False
    fails: tuple[str, ...] = ()
    may_fail: bool = False


def status(catalog: CatalogReader, subjects: Iterable[Subject], now: datetime | None = None) -> tuple[ViewStatus, ...]:
    """Return the status of each view, in the order given. All are judged by one look at each table.

    What is wrong with one view is in its status. Raises nothing but defects.
    """
    look, moment = OneLook(catalog), utc_now() if now is None else now
    return tuple(_in_one_run([(subject, status_of(look, subject, moment)) for subject in subjects]))


def _in_one_run(found: Sequence[tuple[Subject, ViewStatus]]) -> Iterator[ViewStatus]:
    """Yield each status as it is where the run builds first what the view reads, unless that stays as it is."""
    by_name = {subject.name: (subject, status) for subject, status in found}

    @cache
    def of(name: TableName) -> NextRefresh | None:
        return in_turn(*by_name[name])

    def in_turn(subject: Subject, status: ViewStatus) -> NextRefresh | None:
        if status.next is None or status.state == "error" or isinstance(subject, Recorded):
            return status.next
        names = subject.built_first if isinstance(subject, Configured) else ()
        policy = subject.request.config.refresh_policy if isinstance(subject, Configured) else "auto"
        below = {n: (by_name[n][1], of(n)) for n in sorted({*names, *subject.needs}) if n in by_name}
        return _after(status.next, _built(names, below), policy)

    for subject, status in found:
        yield replace(status, next=in_turn(subject, status))


def _built(names: Sequence[TableName], below: Mapping[TableName, tuple[ViewStatus, NextRefresh | None]]) -> _BuiltFirst:
    """Return what the run builds first of these names. What it does with all materialized views `below` is known."""
    ahead = {name: following for name, (_, following) in below.items() if following is not None}
    felt = [name for name in names if name not in below or (name in ahead and ahead[name].is_felt_above)]
    return _BuiltFirst(
        names=tuple(map(show, felt)),
        keeps_columns=all(name in ahead and ahead[name].keeps_columns for name in felt),
        redefines=any(ahead[name].is_read_otherwise for name in names if name in ahead),
        fails=tuple(show(name) for name, (found, _) in below.items() if found.state == "error"),
        may_fail=any("error" in following.kinds for following in ahead.values()),
    )


def _after(found: NextRefresh, built: _BuiltFirst, policy: RefreshPolicy) -> NextRefresh:
    """Return what a run does with a view if it builds tables first that the view reads."""
    if built.fails:
        reason = f"{' and '.join(built.fails)}, which the same run builds first, fails: dbt skips what reads it"
        return NextRefresh(("none",), reason, estimated_bytes=0, held_by="upstream_error")
    full: RefreshKind = "error" if policy == "incremental_strict" else "full"
    if built.redefines and found.held_by == "target_lag":
        # A view of another SELECT does not wait; it does if it never looked below the one that is read otherwise.
        found = replace(found, held_by=None, if_more_changes=(full, "none"))
    may_be_skipped = built.may_fail and found.kinds != ("none",)
    if not (built.names and found.if_more_changes) and not may_be_skipped:
        return found
    question = f"what comes of {' and '.join(built.names) or 'the views below'}, which the same run builds first"
    likely, more = found.kinds, found.if_more_changes if built.names else ()
    if more:
        likely = tuple(kind for kind in likely if kind != "none")
        more += () if built.keeps_columns else _WITH_OTHER_COLUMNS
        more += (full,) if built.redefines else ()
    more += ("none",) if may_be_skipped else ()
    return replace(
        found,
        kinds=tuple(dict.fromkeys((*likely, *more))),
        questions=(*found.questions, question),
        estimated_bytes=None,
        refusal=found.refusal or (MAY_BE_REFUSED if "error" in more else None),
        keeps_columns=found.keeps_columns and built.keeps_columns,
    )
