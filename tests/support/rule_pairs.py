"""The pairs of tests/definition: a SELECT, and what the analysis has to say of it.

A fixture file has the path below tests/definition that its module has below the definition room. Its sections say how
the pairs are read: `tracks`, `other time zone` (a session that is not in UTC), `refusals` (nothing is tracked, or the
view is refreshed in full), and `invalid` (the definition is refused, with these words).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from dbt.adapters.icebergmv.maintenance import definition
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence

Section = Literal["tracks", "other time zone", "refusals", "invalid"]
FIXTURES = Path(__file__).parents[1] / "definition"
MODULES = Path(definition.__path__[0])


@dataclass(frozen=True)
class Pair:
    """A SELECT over the tables of rule_tables, and the words that are expected; `module` is the rule it is about."""

    module: str
    section: Section
    sql: str
    expected: str


def all_pairs() -> list[Pair]:
    """Return the pairs of every fixture file."""
    return [pair for path in sorted(FIXTURES.rglob("*.txt")) for pair in pairs_of(path)]


def pairs_of(path: Path) -> Iterator[Pair]:
    """Yield the pairs of one file. An indented line is the answer to the SELECT above it; `\\n` is a line break."""
    module = path.relative_to(FIXTURES).with_suffix("").as_posix()
    section, sql = "", None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = line[2:]
            assert section in get_args(Section), f"{path}: {line}"
        elif line.startswith("    "):
            assert sql is not None, f"{path}: an answer without a SELECT: {line}"
            yield Pair(module, cast(Section, section), sql, line.strip())
            sql = None
        elif line and not line.startswith("--"):
            assert sql is None, f"{path}: a SELECT without an answer: {sql}"
            sql = line.replace("\\n", "\n")
    assert sql is None, f"{path}: a SELECT without an answer: {sql}"


def shown(found: ViewDefinition) -> str:
    """Return the tracks, the obstacles and the reasons as the fixture files write them."""
    tracks = [
        f"{name} <- {t.column}#{place(t.occurrence)}" + "".join(f" > {step.name}" for step in t.function)
        for occurrence in sorted(found.occurrences)
        for name, tracked in sorted(found.tracks_of(occurrence).items())
        for t in sorted(tracked, key=lambda t: (t.column, len(t.function)))
    ]
    obstacles = [f"#{place(o)}: {words}" for o, words in sorted(found.obstacles.items())]
    always, changed = found.always_full, found.full_when_changed
    reasons = [f"full: {always}"] if always else [f"when changed: {changed}"] if changed else []
    return "; ".join([*tracks, *obstacles, *reasons]) or "nothing"


def place(occurrence: Occurrence) -> str:
    """Return the number of the reference, with a stroke for every repeated use of a CTE around it."""
    return f"{occurrence.index}" + "'" * len(occurrence.uses)
