"""The run: several rounds, every change, every view, every contender in rotating order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.bench.changes import Change
from benchmarks.bench.contenders import Contender
from benchmarks.bench.matrix import Cell, by_change, rotated
from benchmarks.bench.measured import Measured, result
from benchmarks.bench.stage import Stage

WARM_UP = Change("update-cow", 1, "scattered")
"""Made once before all that counts: what Spark runs for the first time takes several times as long."""

Log = Callable[[str], None]


@dataclass
class Found:
    """What was measured so far, in every round, of every cell and contender."""

    cells: Sequence[Cell]
    rounds: dict[tuple[Cell, Contender], list[Measured]] = field(default_factory=dict)

    def results(self) -> list[dict[str, Any]]:
        """Return the results as JSON has them, in the order of the cells."""
        return [
            {"view": cell.view.name, "change": cell.change.name, "contender": contender, **result(measured)}
            for cell in self.cells
            for contender in cell.contenders
            if (measured := self.rounds.get((cell, contender)))
        ]


def contest(stage: Stage, cells: Sequence[Cell], rounds: int, log: Log) -> Iterator[Found]:
    """Build all models, then yield what was found after every change of every round."""
    models = list(dict.fromkeys((cell.view, contender) for cell in cells for contender in cell.contenders))
    log(f"building {len(models)} models")
    stage.build(models)
    log("warming up")
    stage.make(WARM_UP)
    for model in models:
        stage.run(model, WARM_UP)
    changes, found = by_change(cells), Found(cells)
    steps, done, began = len(changes) * rounds, 0, time.monotonic()
    for number in range(rounds):
        for change, of_change in changes.items():
            at = time.monotonic()
            stage.reset([(cell.view, contender) for cell in of_change for contender in cell.contenders])
            stage.make(change)
            for place, cell in enumerate(of_change):
                for contender, measured in _measured(stage, cell, number, place).items():
                    found.rounds.setdefault((cell, contender), []).append(measured)
            done, now = done + 1, time.monotonic()
            left = (now - began) / done * (steps - done) / 60
            log(f"round {number + 1} of {rounds}, {change.title}: {now - at:.0f} s; about {left:.0f} min left")
            yield found


def _measured(stage: Stage, cell: Cell, number: int, place: int) -> dict[Contender, Measured]:
    """Run all contenders of a cell. The first round compares rows: later ones make the same change of the same rows."""
    order = rotated(cell.contenders, number + place)
    runs = {contender: stage.run((cell.view, contender), cell.change) for contender in order}
    if number == 0:
        for contender, different in stage.compare(cell.view, order):
            runs[contender] = replace(runs[contender], missing=different.missing, surplus=different.surplus)
    return runs
