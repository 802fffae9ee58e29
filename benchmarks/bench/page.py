"""docs/benchmarks.md: what stands between two markers is written from the results.

python -m benchmarks.bench.page        # write the tables and the plots anew from benchmarks/results.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.bench.plots import draw
from benchmarks.bench.tables import generated

_ROOT = Path(__file__).parents[2]
PAGE = _ROOT / "docs" / "benchmarks.md"
DOCS_IMAGES = _ROOT / "docs" / "images"
RESULTS = _ROOT / "benchmarks" / "results.json"
BEGIN, END = "<!-- begin of what benchmarks/bench writes -->", "<!-- end of what benchmarks/bench writes -->"


def page(text: str, found: Mapping[str, Any]) -> str:
    """Return a page with the results between its markers. Raises ValueError if it has not both, in order."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"Cannot write the results: the page has no lines {BEGIN!r} and {END!r}. Add them.")
    return f"{before}{BEGIN}\n\n{generated(found)}\n\n{END}{after}"


def kept() -> dict[str, Any]:
    """Return the results that are kept for the page; without any before the first measurement."""
    return dict(json.loads(RESULTS.read_text(encoding="utf-8"))) if RESULTS.exists() else {"results": []}


def main() -> int:
    """Write the page and the plots from the results that are kept."""
    found = kept()
    draw(found, DOCS_IMAGES)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
