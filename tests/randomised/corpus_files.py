"""Histories that once failed, and those on which a wrong planner is wrong, as files; every test run replays them.

A file holds the view, the base tables and each change in full, so that it stays the same when the generator changes.
`python -m tests.randomised.soak --case N --keep NAME --because "..."` adds one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.randomised.histories import Case
from tests.randomised.tables import Change, Row, Spec
from tests.randomised.views import View

_INNERMOST_LIST = re.compile(r"\[\n[^\[\]]*?\n *\]")
FOLDER = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Kept:
    """A history, why it is kept, and how each of its refreshes has to be done."""

    because: str
    case: Case
    kinds: tuple[str, ...]


def read(file: Path) -> Kept:
    """Return the history in a file."""
    found = json.loads(file.read_text(encoding="utf-8"))
    tables = frozenset(found["tables"])
    now = {name: _rows(table["rows"]) for name, table in found["tables"].items()}
    case = Case(
        view=View(found["view"], tables, ((file.stem, tables),), ""),
        specs={n: Spec(_pairs(t["partitioned by"]), t["column bounds"]) for n, t in found["tables"].items()},
        start=dict(now),
        steps=tuple(_step(now, refresh["changes"]) for refresh in found["refreshes"]),
        zone=found["time zone"],
        appends=found["appends are seen"],
        partitioning=_pairs(found["storage partitioned by"]),
        merges=found.get("groups are merged", False),
        own_keys_first=found.get("own keys come first", False),
        clock=tuple(found.get("clock", ())),
        keys=tuple(found.get("hidden keys", ())),
        lists=found.get("values are listed", False),
        asks_little=found.get("little is asked", False),
        filters=found.get("joins filter", False),
    )
    return Kept(found["because"], case, tuple(refresh["kind"] for refresh in found["refreshes"]))


def write(name: str, kept: Kept) -> Path:
    """Write a history to a file of its own; returns the file."""
    case = kept.case
    text = {
        "because": kept.because,
        "view": case.view.sql,
        "time zone": case.zone,
        "appends are seen": case.appends,
        "groups are merged": case.merges,
        "own keys come first": case.own_keys_first,
        "storage partitioned by": case.partitioning,
        **({"clock": case.clock} if case.clock else {}),
        **({"hidden keys": case.keys} if case.keys else {}),
        **({"values are listed": True} if case.lists else {}),
        **({"little is asked": True} if case.asks_little else {}),
        **({"joins filter": True} if case.filters else {}),
        "tables": {
            name: {"partitioned by": spec.fields, "column bounds": spec.bounds, "rows": case.start[name]}
            for name, spec in case.specs.items()
        },
        "refreshes": [
            {"kind": kind, "changes": {n: {"removed": c.removed, "added": c.added} for n, c in step.items()}}
            for kind, step in zip(kept.kinds, case.steps, strict=True)
        ],
    }
    file = FOLDER / f"{name}.json"
    indented = json.dumps(text, indent=1, ensure_ascii=False)
    file.write_text(_INNERMOST_LIST.sub(_on_one_line, indented) + "\n", encoding="utf-8")
    return file


def _on_one_line(found: re.Match[str]) -> str:
    return json.dumps(json.loads(found[0]), ensure_ascii=False)


def _step(now: dict[str, tuple[Row, ...]], changes: Mapping[str, Any]) -> dict[str, Change]:
    step = {}
    for name, change in changes.items():
        removed, added = _rows(change["removed"]), _rows(change["added"])
        left = [*now[name], *added]
        for row in removed:
            # By its text: NaN differs from itself.
            del left[[repr(r) for r in left].index(repr(row))]
        now[name] = tuple(left)
        step[name] = Change(removed, added, now[name])
    return step


def _rows(values: Sequence[Sequence[Any]]) -> tuple[Row, ...]:
    return tuple(tuple(row) for row in values)


def _pairs(values: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((first, second) for first, second in values)
