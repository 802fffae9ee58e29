"""The cells of the matrix, the share of it that `make bench` runs, and the choice of some."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.bench.changes import Change, all_changes
from benchmarks.bench.contenders import Contender, contenders_of
from benchmarks.bench.views import VIEWS, View

_OF_ALL_VIEWS = (Change("append", 0.1, "scattered"),)
_SOME_VIEWS = ("by_day", "by_customer", "inner_join")
_OF_SOME_VIEWS = (
    Change("none"),
    Change("append", 1, "local"),
    Change("delete", 1, "local"),
    Change("update-mor", 1, "local"),
    Change("update-cow", 10, "scattered"),
    Change("seed"),
)

_PLANS_COMPARED = (Change("update-cow", 1, "scattered"), Change("update-cow", 10, "scattered"))
"""The changes after which every plan is measured beside the one that auto takes: there the choice is least clear."""


@dataclass(frozen=True)
class Cell:
    """One view after one change."""

    view: View
    change: Change

    @property
    def contenders(self) -> tuple[Contender, ...]:
        """Who competes in this cell."""
        return contenders_of(self.view, with_plans=self.change in _PLANS_COMPARED)


def all_cells() -> tuple[Cell, ...]:
    """Return the whole matrix. A view that does not read the customers has no cell for loading them again."""
    return tuple(_cells(all_changes(), VIEWS.values()))


def default_cells() -> tuple[Cell, ...]:
    """Return the share of the matrix that ends in minutes."""
    some = _cells(_OF_SOME_VIEWS, [VIEWS[name] for name in _SOME_VIEWS])
    return (*_cells(_OF_ALL_VIEWS, VIEWS.values()), *some)


def chosen_cells(
    full: bool,
    views: Collection[str] = (),
    kinds: Collection[str] = (),
    sizes: Collection[str] = (),
) -> tuple[Cell, ...]:
    """Return the cells of these views, kinds and sizes of change; of the whole matrix if a change is named or `full`.

    Changes without a size (nothing, customers loaded again) are chosen by their kind alone.
    """
    cells = all_cells() if full or kinds or sizes else default_cells()
    return tuple(
        cell
        for cell in cells
        if (not views or cell.view.name in views)
        and (not kinds or cell.change.kind in kinds)
        and (not sizes or cell.change.size in sizes or (cell.change.kind in kinds and not cell.change.size))
    )


def by_change(cells: Sequence[Cell]) -> dict[Change, list[Cell]]:
    """Return the cells of every change: it is made once a round, for all views."""
    found: dict[Change, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.change, []).append(cell)
    return found


def rotated(contenders: Sequence[Contender], number: int) -> tuple[Contender, ...]:
    """Return the contenders in the order of a round: in every one another begins."""
    start = number % len(contenders)
    return (*contenders[start:], *contenders[:start])


def _cells(changes: Sequence[Change], views: Collection[View]) -> Iterator[Cell]:
    for change in changes:
        yield from (Cell(view, change) for view in views if change.kind != "seed" or view.reads_customers)
