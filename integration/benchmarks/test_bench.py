"""One tiny run of `make bench`, from the command line to the files, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.bench.measured import NUMBERS, wrong_rows
from benchmarks.bench.results import cells

KNOWN = {name for name in NUMBERS if name.endswith("_written")}
pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
COMMAND = "--rows 4000 --rounds 1 --views by_day by_customer --kinds append delete --changes 1-local 0.1-scattered"


def test_a_tiny_run(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench", *COMMAND.split(), "--out", str(tmp_path)],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads((tmp_path / "bench.json").read_text())
    of_cells = cells(found)
    assert len(of_cells) == 8
    for (view, change), cell in of_cells.items():
        assert cell.keys() >= {"auto", "rebuild", "merge"}
        assert cell.keys() >= {"lookback", "informed"} or view == "by_customer"
        assert all(one.keys() >= KNOWN for one in cell.values())
        assert wrong_rows(cell["auto"]) == wrong_rows(cell["rebuild"]) == 0, (view, change)
    late = of_cells["by_day", "append 0.1-scattered"]
    assert (late["auto"]["plans"], wrong_rows(late["informed"])) == (["overwrite"], 0)
    assert wrong_rows(late["lookback"]) == wrong_rows(late["merge"]) == 8
    emptied = of_cells["by_day", "delete 1-local"]
    assert wrong_rows(emptied["informed"]) == 2, "an overwrite of partitions cannot empty one"
    assert (tmp_path / "benchmark-seconds.svg").stat().st_size > 10_000
    assert "faster than the rebuild in" in ran.stdout
