"""Makes a failing history smaller: drops views, steps and rows for as long as the same invariant breaks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from integration.randomised import shapes
from integration.randomised.history import Change, History, Refresh
from integration.randomised.machine import run_history
from integration.randomised.subject import WrongResult
from integration.support.lake import LakeProject


def shrink(lake: LakeProject, history: History, error: WrongResult, seconds: float) -> tuple[History, str]:
    """Return the smallest history found within the time that fails as `error` does, and how the search ended."""
    deadline, runs, shrinking = time.monotonic() + seconds, 0, True
    while shrinking:
        shrinking = False
        for candidate in _smaller(history, error.shape):
            if time.monotonic() > deadline:
                return history, f"out of time after {runs} runs"
            runs += 1
            if _fails_alike(lake, candidate, error):
                history, shrinking = candidate, True
                break
    return history, f"{runs} runs"


def _fails_alike(lake: LakeProject, history: History, error: WrongResult) -> bool:
    try:
        run_history(lake, history)
    except WrongResult as found:
        return (found.what, found.shape) == (error.what, error.shape)
    except Exception:
        return False
    return False


def _smaller(history: History, shape: str) -> Iterator[History]:
    """Yield smaller histories, the boldest cuts first. What went wrong may be of no shape in particular."""
    reads = shapes.BY_NAME[shape].reads if shape in shapes.BY_NAME else ()
    wanted = {shape} | ({shapes.OF_THE_VIEW_BELOW} if "mv" in reads else set())
    views = tuple(v for v in history.views if v.shape in wanted)
    if 0 < len(views) < len(history.views):
        yield replace(history, views=views)
    used = {t for v in history.views for t in shapes.BY_NAME[v.shape].reads}
    tables = tuple(t for t in history.tables if t.name in used)
    if len(tables) < len(history.tables):
        steps = tuple(s for s in history.steps if not isinstance(s, Change) or s.table in used)
        yield replace(history, tables=tables, steps=steps)
    steps, size = history.steps, max(1, len(history.steps) // 2)
    while size:
        for start in reversed(range(0, len(steps), size)):
            yield replace(history, steps=steps[:start] + steps[start + size :])
        size //= 2
    for i, table in enumerate(history.tables):
        half = len(table.rows) // 2
        cuts = [replace(table, rows=table.rows[:half]), replace(table, rows=table.rows[half:])] if half else []
        cuts += [table.without_row(r) for r in range(len(table.rows))]
        if table.dropped_field is not None:
            cuts.append(replace(table, dropped_field=None))
        for cut in cuts:
            yield replace(history, tables=(*history.tables[:i], cut, *history.tables[i + 1 :]))
    for i, step in enumerate(history.steps):
        if isinstance(step, Refresh) and step.dbt:
            yield history.with_steps((*steps[:i], Refresh(), *steps[i + 1 :]))
        if isinstance(step, Change) and len(step.rows) > 1:
            for r in range(len(step.rows)):
                fewer = replace(step, rows=step.rows[:r] + step.rows[r + 1 :])
                yield history.with_steps((*steps[:i], fewer, *steps[i + 1 :]))
