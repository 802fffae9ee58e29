"""The materialized view beside what people write by hand: time, bytes, files, and rows that are wrong afterwards.

    python -m benchmarks.bench                                       # a share of the matrix, minutes
    python -m benchmarks.bench --full                                # all of it, hours
    python -m benchmarks.bench --views by_day star --kinds delete --changes 1-local 10-scattered --rows 5000000
    python -m benchmarks.bench --docs                                # the share, into docs/benchmarks.md

Facts by day, and a table each of customers and products. After every change each view is brought up to date by a
materialized view, by a rebuild (a `table` model) and by up to three incremental models (contenders.py). Writes a JSON
file and plots.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.bench.changes import KINDS, SIZES
from benchmarks.bench.contest import contest
from benchmarks.bench.machine import machine
from benchmarks.bench.matrix import all_cells, chosen_cells
from benchmarks.bench.page import DOCS_IMAGES, PAGE, RESULTS, page
from benchmarks.bench.plots import draw
from benchmarks.bench.stage import Stage
from benchmarks.bench.tables import summary
from benchmarks.bench.views import VIEWS

_TARGET = Path("target") / "bench"


def main(arguments: list[str]) -> int:
    """Measure, and write what was found; return 1 if a materialized view has a wrong row."""
    options = _options(arguments)
    cells = chosen_cells(options.full, options.views, options.kinds, options.changes)
    if not cells:
        print("Cannot measure: no cell of the matrix has these views, kinds and changes.", file=sys.stderr)
        return 2
    started = time.monotonic()

    def log(line: str) -> None:
        print(f"[{(time.monotonic() - started) / 60:5.1f} min] {line}", file=sys.stderr, flush=True)

    log(f"{len(cells)} of {len(all_cells())} cells, {options.rows:,} facts, {options.rounds} rounds")
    results = RESULTS if options.docs else options.out / "bench.json"
    results.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder), options.rows)
        found: dict[str, Any] = {
            "command": shlex.join(["python", "-m", "benchmarks.bench", *arguments]),
            "rows": options.rows,
            "machine": machine(),
            "results": [],
        }
        loads = []
        for measured in contest(stage, cells, options.rounds, log):
            loads.append(round(os.getloadavg()[0], 1))
            found |= {"load": [min(loads), max(loads)], "results": measured.results()}
            results.write_text(as_text(found))
    draw(found, DOCS_IMAGES if options.docs else options.out)
    if options.docs:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
    print("\n".join(summary(found)))
    return int(any(wrong_view(one) for one in found["results"]))


def as_text(found: dict[str, Any]) -> str:
    """Return results as the text of a JSON file, one measurement a line."""
    lines = ",\n".join(f"    {json.dumps(one)}" for one in found["results"])
    head = json.dumps({key: value for key, value in found.items() if key != "results"}, indent=2)
    return f'{head[:-2]},\n  "results": [\n{lines}\n  ]\n}}\n'


def wrong_view(one: dict[str, Any]) -> bool:
    """Return whether a result is of a materialized view with wrong rows."""
    return "plans" in one and one.get("missing_rows", 0) + one.get("surplus_rows", 0) > 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="the whole matrix")
    parser.add_argument("--views", nargs="+", choices=[*VIEWS], default=[])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[], help="kinds of change")
    parser.add_argument("--changes", nargs="+", choices=SIZES, default=[], help="percent of the facts, and where")
    parser.add_argument("--rows", type=int, default=1_000_000, help="facts (default: 1000000)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of every change (default: 3)")
    parser.add_argument("--out", type=Path, default=_TARGET, help="folder for JSON and plots (default: target/bench)")
    parser.add_argument("--docs", action="store_true", help="write into docs/ and benchmarks/results.json instead")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
