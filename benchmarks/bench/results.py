"""Questions to the results of a measurement: who was fastest and right, where the product loses, what auto took."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.bench.contenders import MAIN, PLANS, TITLES
from benchmarks.bench.measured import wrong_rows

CellResults = Mapping[str, dict[str, Any]]
"""The results of one view after one change, by contender."""

BOUND = 1.5
"""How many times slower than the best plan auto may be."""


def cells(found: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
    """Return the results by (view, change), in the order in which they were measured."""
    answer: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for one in found["results"]:
        answer.setdefault((one["view"], one["change"]), {})[one["contender"]] = one
    return answer


def sweeps(found: Mapping[str, Any]) -> dict[tuple[str, str, str], list[tuple[float, CellResults]]]:
    """Return (share, cell) by (view, kind, place), for those measured with at least three shares, smallest first."""
    answer: dict[tuple[str, str, str], list[tuple[float, CellResults]]] = {}
    for (view, change), cell in cells(found).items():
        kind, _, size = change.partition(" ")
        share, _, place = size.partition("-")
        if place:
            answer.setdefault((view, kind, place), []).append((float(share), cell))
    return {key: sorted(of, key=lambda pair: pair[0]) for key, of in answer.items() if len(of) >= 3}


def is_right(one: Mapping[str, Any]) -> bool:
    """Return whether a result was compared and has no wrong row."""
    return wrong_rows(dict(one)) == 0


def fastest_right(cell: CellResults) -> str:
    """Return the fastest of the main contenders with the right rows; a rebuild always has them."""
    return min((c for c in MAIN if c in cell and is_right(cell[c])), key=lambda c: cell[c]["seconds"])


def times_faster(cell: CellResults) -> float:
    """Return how many refreshes fit in a rebuild."""
    return float(cell["rebuild"]["seconds"] / cell["auto"]["seconds"])


@dataclass(frozen=True)
class Choice:
    """What auto took in a cell where every plan was measured, the best plan, and how many times auto took its time."""

    view: str
    change: str
    taken: str
    best: str
    times: float

    @property
    def is_best(self) -> bool:
        """Whether auto took the plan that was the fastest."""
        return self.taken == self.best


def choices(found: Mapping[str, Any]) -> list[Choice]:
    """Return what auto took in each cell in which every policy was measured.

    Policies that took the same plan are one plan, whose time is that of the faster one: no noise decides between them.
    """
    answer = []
    for (view, change), cell in cells(found).items():
        if not cell.keys() >= set(PLANS):
            continue
        seconds: dict[str, float] = {}
        for one in (cell[policy] for policy in PLANS):
            plan = "/".join(one["plans"])
            seconds[plan] = min(one["seconds"], seconds.get(plan, one["seconds"]))
        taken, best = "/".join(cell["auto"]["plans"]), min(seconds, key=lambda p: seconds[p])
        answer.append(Choice(view, change, taken, best, seconds[taken] / seconds[best]))
    return answer


def verdict(found: Mapping[str, Any]) -> list[str]:
    """Return the sentences that sum up a measurement."""
    of_cells = cells(found)
    faster = [times_faster(cell) for cell in of_cells.values()]
    slower = sum(f < 1 for f in faster)
    lines = [
        f"A refresh was faster than the rebuild in {len(faster) - slower} of {len(faster)} cells: "
        f"{statistics.median(faster):.1f} times in the median, {min(faster):.2f} to {max(faster):.1f} times."
    ]
    for contender in (one for one in MAIN if one != "rebuild"):
        has = [cell for cell in of_cells.values() if contender in cell]
        wrong = sum(not is_right(cell[contender]) for cell in has)
        beaten = sum(fastest_right(cell) == contender for cell in has)
        if has:
            lines.append(
                f"{TITLES[contender]}: wrong rows in {wrong} of {len(has)} cells; "
                f"the fastest with the right rows in {beaten}."
            )
    taken = choices(found)
    if taken:
        slowest = max(choice.times for choice in taken)
        over = sum(choice.times > BOUND for choice in taken)
        lines.append(
            f"auto took the best plan in {sum(c.is_best for c in taken)} of {len(taken)} cells; at worst its plan took "
            f"{slowest:.2f} times the time of the best; more than {BOUND:g} times in {over}."
        )
    return lines
