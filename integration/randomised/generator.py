"""From a seed to a history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from integration.randomised import shapes
from integration.randomised.changes import Known, make_change, one_of_makers
from integration.randomised.history import (
    LITERAL,
    Alter,
    Crash,
    History,
    Interleave,
    Look,
    Maintain,
    Read,
    Refresh,
    Rollback,
    Step,
    Sweep,
    View,
)
from integration.randomised.procedures import PROCEDURES
from integration.randomised.tables import KEYS, TABLES, KeyColumn, make_table, partition_field


@dataclass(frozen=True)
class Focus:
    """What the histories are limited to; None means everything. `storm`: how many steps are not plain refreshes.

    `looks`: how many views are read between refreshes after each change, and `behaviors` how often by which behaviour.
    `procedures`: the share of changes that are of `procedures.PROCEDURES`.
    """

    shapes: frozenset[str] | None = None
    kinds: frozenset[str] | None = None
    keys: frozenset[str] | None = None
    views: int = 6
    rounds: int = 4
    storm: bool = True
    dbt: float = 0.04
    looks: int = 2
    behaviors: Mapping[str, int] = field(default_factory=lambda: _LOOKS)
    procedures: float = 0.0


_LOOKS: dict[str, int] = {"use_stitching": 7, "use_view_query": 2, LITERAL: 3, "fail": 2, "use_data_table": 1}
_PUBLISHED = {"use_data_table": 4, "use_stitching": 4, "use_view_query": 1, "fail": 1}
EVERYTHING = Focus()


def generate(seed: str, focus: Focus = EVERYTHING) -> History:
    """Return the history of a seed; the same seed always gives the same one."""
    random = Random(f"icebergmv {seed}")
    key = random.choice([k for k in KEYS if focus.keys is None or k.name in focus.keys])
    views = _views(random, key, focus)
    used = sorted({t for v in views for t in shapes.BY_NAME[v.shape].reads} - {"mv"})
    tables = tuple(make_table(random, name, key, random.randint(3, 12)) for name in TABLES if name in used)
    known = {t.name: Known.of(t, key) for t in tables}
    steps: list[Step] = [Refresh()]
    ways = _ways(random, focus)
    for _ in range(focus.rounds):
        for _ in range(random.choice([1, 1, 2, 3])):
            steps += [_change(random, known, focus), *_looks(random, views, ways, focus.looks)]
        steps += _storm(random, known, focus, len(views)) if focus.storm else []
        steps.append(Refresh(dbt=random.random() < focus.dbt))
        steps += _alteration(random, views) if focus.storm else []
    return History(seed, key.name, tables, tuple(views), tuple(steps))


def _change(random: Random, known: dict[str, Known], focus: Focus) -> Step:
    name = random.choices(list(known), [{"a": 6, "b": 4, "c": 1}[n] for n in known])[0]
    if focus.procedures and random.random() < focus.procedures:
        return one_of_makers(random, known[name], PROCEDURES)
    return make_change(random, known[name], focus.kinds)


def _storm(random: Random, known: dict[str, Known], focus: Focus, views: int) -> list[Step]:
    dice, view, statement = random.random(), random.randrange(views), random.randint(1, 8)
    if dice < 0.2:
        return [Read()]
    if dice < 0.4:
        return [Crash(view, statement, random.random() < 0.5)]
    if dice < 0.5:
        change = _change(random, known, focus) if random.random() < 0.7 else None
        rival = change is None or random.random() < 0.5
        return [Interleave(view, statement, change, rival)]  # type: ignore[arg-type]
    if dice < 0.6:
        return [Maintain()]
    if dice < 0.7:
        return [Rollback(view, statement)]
    if dice < 0.75:
        return [Sweep()]
    return []


def _ways(random: Random, focus: Focus) -> Iterator[str]:
    """Yield behaviours for ever: each of them once, then as often as the focus says."""
    while True:
        for ways in (list(focus.behaviors), [w for w, n in focus.behaviors.items() for _ in range(n - 1)]):
            yield from random.sample(ways, len(ways))


def _looks(random: Random, views: list[View], ways: Iterator[str], looks: int) -> list[Step]:
    chosen = random.sample(views, min(looks, len(views)))
    return [Look(view.shape, next(ways), random.random() < 0.5) for view in chosen]


def _alteration(random: Random, views: list[View]) -> list[Step]:
    """Give some view another behaviour, and read it while it is fresh."""
    shape, behavior = random.choice(views).shape, random.choice(list(_PUBLISHED))
    return [Alter(shape, behavior), Look(shape, behavior, random.random() < 0.5)]


def _views(random: Random, key: KeyColumn, focus: Focus) -> list[View]:
    names = [s.name for s in shapes.SHAPES if focus.shapes is None or s.name in focus.shapes]
    chosen = random.sample(names, min(focus.views, len(names)))
    if any("mv" in shapes.BY_NAME[name].reads for name in chosen):
        below = shapes.OF_THE_VIEW_BELOW
        chosen = [below, *(name for name in chosen if name != below)]
    return [_view(random, key, name) for name in chosen]


def _view(random: Random, key: KeyColumn, name: str) -> View:
    shape = shapes.BY_NAME[name]
    flavour = "{}" if shape.bare or random.random() < 0.5 else random.choice(key.flavours)
    partition_by: tuple[str, ...] | None = None
    has_key = "AS key" in shape.sql and not shape.reads & {"mv"}
    if has_key and random.random() < 0.25:
        own = partition_field(key, random.choice(key.transforms), "key")
        partition_by = random.choice([(), ("key",), (own if flavour == "{}" else "key",)])
    behavior = random.choices(list(_PUBLISHED), list(_PUBLISHED.values()))[0]
    return View(name, flavour, partition_by, behavior)
