"""Many histories with the real planner: what CI runs for seconds, and a person for minutes.

    python -m tests.randomised.soak --histories 10000 --seed 1
    python -m tests.randomised.soak --case 4711
    python -m tests.randomised.soak --case 4711 --keep null-side --because "a NULL of the right side was lost"

A case is made from one number, which every failure names.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.randomised import corpus_files
from tests.randomised.choices import Choices, shrink
from tests.randomised.database import Database
from tests.randomised.grammar import CLOCK
from tests.randomised.histories import Case, Refreshed, make_case, run
from tests.randomised.planners import RIGHT, Planner, Unanswerable
from tests.randomised.shapes import MUST_BE_INCREMENTAL
from tests.randomised.tables import COLUMNS
from tests.randomised.tally import Tally
from tests.randomised.views import View, make_view


@dataclass(frozen=True)
class Failure:
    """A case that went wrong, and what was wrong."""

    case: Case
    message: str
    sql: str = ""

    @property
    def kind(self) -> str:
        """Return what sort of failure it is, so that shrinking does not slip from one to another."""
        return self.message.split(":")[0]


def fresh_seed() -> int:
    """Return a seed that nobody chose."""
    return random.SystemRandom().randrange(10**9)


def play(database: Database, case: Case, planner: Planner = RIGHT, tally: Tally | None = None) -> Failure | None:
    """Run a case; return its failure, if any. Errors of the engine and of the definition are failures too."""
    refreshes: list[Refreshed] = []
    try:
        for refreshed in run(database, case, planner):
            refreshes.append(refreshed)
            if refreshed.wrong is not None:
                return Failure(case, refreshed.wrong, f"{refreshed.plan}\n{refreshed.sql}")
    except (Exception, Unanswerable) as error:
        return Failure(case, f"{type(error).__name__}: {error}")
    if tally is not None:
        tally.add(case.view, refreshes)
    return None


def refreshes_of(view: View, database: Database, count: int, *, breaks_ties: bool = True) -> Counter[str]:
    """Run histories of a view, none of which may fail; return how often it was refreshed in which way."""
    tally = Tally()
    for seed in range(count):
        case = replace(make_case(Choices(seed), view), breaks_ties=breaks_ties)
        failure = play(database, case, tally=tally)
        assert failure is None, f"seed {seed}: {describe(failure)}"
    return tally.refreshes


_BETWEEN_LINES = 500
"""Histories after which a long soak says how far it is."""


def soak(database: Database, seed: int, histories: int, seconds: float, tally: Tally, failures: int = 1) -> str | None:
    """Run histories from `seed` on until some fail or a limit is reached; return reports of the failures."""
    deadline, began = time.process_time() + seconds, time.monotonic()
    reports: list[str] = []
    for number in range(seed, seed + histories):
        if time.process_time() > deadline or len(reports) == failures:
            break
        failure = attempt(database, Choices(number), tally)
        if failure is not None:
            reports.append(report(database, number))
            # Said at once, so that a soak that is interrupted has said what it found.
            print(reports[-1], flush=True)
        done = number + 1 - seed
        if done % _BETWEEN_LINES == 0:
            print(f"{done} histories, {len(reports)} failed, {time.monotonic() - began:.0f} s", flush=True)
    return "\n\n".join(reports) or None


_SEEDS = 20_000
"""The rarest shape comes up in one view of some hundreds."""


def hunt(database: Database, seed: int, shapes: Iterable[str], tally: Tally, histories: int = 600) -> str | None:
    """Run histories until each shape was refreshed incrementally; return a report of a failure, if any.

    Only those are run in which something happens to a shape that is still missing.
    """
    missing = {shape for shape in shapes if not tally.incremental(shape)}
    last = tally.histories + histories
    for number in range(seed, seed + _SEEDS):
        if not missing or tally.histories == last:
            return None
        if missing.isdisjoint(shape for shape, _ in make_view(Choices(number)).shapes):
            continue
        if missing.isdisjoint(touched(make_case(Choices(number)))):
            continue
        if attempt(database, Choices(number), tally) is not None:
            return report(database, number)
        missing = {shape for shape in missing if not tally.incremental(shape)}
    return f"no view of {_SEEDS} has the shape {' or '.join(sorted(missing))}; does views.py make it?"


def touched(case: Case) -> set[str]:
    """Return the shapes that a refresh of the case can be counted for: nothing changes before it but their tables."""
    return {
        shape
        for shape, tables in case.view.shapes
        if any(step.keys() <= tables and (step or CLOCK in tables) for step in case.steps)
    }


def attempt(database: Database, choices: Choices, tally: Tally | None = None) -> Failure | None:
    """Make and run a case; a view that the engine cannot analyse is a failure of a case without tables."""
    try:
        case = make_case(choices)
    except Exception as error:
        view = make_view(Choices(recorded=choices.made))
        return Failure(Case(view, {}, {}, ()), f"{type(error).__name__}: {error}")
    return play(database, case, RIGHT, tally)


def report(database: Database, number: int, seconds: float = 20) -> str:
    """Return the failure of a case in its smallest form, with all that is needed to see it by hand."""
    failure = smallest(database, number, seconds)
    if failure is None:
        return f"case {number} is right"
    return f"python -m tests.randomised.soak --case {number}\n{describe(failure)}"


def smallest(database: Database, number: int, seconds: float = 20) -> Failure | None:
    """Return the failure of a case in the smallest form that is found in the time given."""
    choices = Choices(number)
    first = attempt(database, choices)
    if first is None:
        return None

    def fails_alike(recorded: Sequence[int]) -> bool:
        found = attempt(database, Choices(recorded=recorded))
        return found is not None and found.kind == first.kind

    recorded = shrink(choices.made, fails_alike, seconds)
    return attempt(database, Choices(recorded=recorded)) or first


def keep(database: Database, number: int, name: str, because: str) -> Path:
    """Write a case to the corpus, in its smallest form while it fails, with the kinds that the planner chooses now."""
    failure = smallest(database, number)
    case = failure.case if failure is not None else make_case(Choices(number))
    kinds = [refreshed.plan.kind for refreshed in run(database, case, RIGHT)]
    kinds += ["overwrite"] * (len(case.steps) - len(kinds))
    return corpus_files.write(name, corpus_files.Kept(because, case, tuple(kinds)))


def describe(failure: Failure) -> str:
    """Return a failure as text: the view, the tables, the changes, what was wrong."""
    case = failure.case
    lines = [f"view: {case.view.sql}", f"shapes: {', '.join(name for name, _ in case.view.shapes)}"]
    lines.append(f"columns: {', '.join(COLUMNS)}; session in {case.zone}")
    for table, rows in case.start.items():
        lines.append(f"{table} {case.specs[table]}: {list(rows)}")
    if case.clock:
        lines.append(f"clock: {', '.join(case.clock)}")
    for number, step in enumerate(case.steps, start=1):
        for table, change in step.items():
            lines.append(f"before refresh {number}, {table}: removed {list(change.removed)} added {list(change.added)}")
    return "\n".join([*lines, failure.message, failure.sql])


def main() -> int:
    """Run from the command line; 1 when a case failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--failures", type=int, default=1, help="stop after so many")
    parser.add_argument("--case", type=int, default=None)
    parser.add_argument("--keep", default=None, help="write the case to the corpus under this name")
    parser.add_argument("--because", default="", help="why it is kept")
    arguments = parser.parse_args()
    database = Database()
    if arguments.case is not None and arguments.keep is not None:
        print(keep(database, arguments.case, arguments.keep, arguments.because))
        return 0
    if arguments.case is not None:
        print(report(database, arguments.case))
        return 0
    seed = fresh_seed() if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    tally = Tally()
    began = time.monotonic()
    failure = soak(database, seed, arguments.histories, arguments.seconds, tally, arguments.failures)
    if failure is None:
        failure = hunt(database, seed + tally.histories, MUST_BE_INCREMENTAL, tally)
        print(failure or "")
    print(tally.table())
    print(f"{time.monotonic() - began:.0f} seconds")
    never = sorted(shape for shape in MUST_BE_INCREMENTAL if not tally.incremental(shape))
    if never:
        print(f"never refreshed incrementally: {', '.join(never)}")
    return 0 if failure is None and not never else 1


if __name__ == "__main__":
    sys.exit(main())
