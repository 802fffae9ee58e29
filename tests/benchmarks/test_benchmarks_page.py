"""docs/benchmarks.md shows benchmarks/results.json, and nothing of the machine that measured it but its size."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from benchmarks.bench.page import BEGIN, DOCS_IMAGES, END, PAGE, kept, page

EMPTY: dict[str, Any] = {"results": []}
VERSIONS = ("python", "java", "pyspark", "iceberg", "dbt-core", "dbt-spark", "pyiceberg", "dbt-icebergmv")
MACHINE = {"cores": 2, "memory_gib": 24, "spark_memory": "4g", "architecture": "x86_64", "system": "Linux"}


def one(contender: str, seconds: float, wrong: int, **more: Any) -> dict[str, Any]:
    times = {"seconds": seconds, "fastest": seconds, "slowest": seconds, "rounds": 3}
    sizes = {"files_written": 1, "bytes_written": 2**20}
    rows = {"missing_rows": wrong, "surplus_rows": 0}
    place = {"view": "by_day", "change": "append 0.1-scattered", "contender": contender}
    return {**place, **times, **sizes, **rows, **more}


MEASURED = {
    "command": "python -m benchmarks.bench",
    "rows": 1_000_000,
    "machine": {**MACHINE, **dict.fromkeys(VERSIONS, "1.0")},
    "load": [1.0, 2.5],
    "results": [
        one("auto", 2.0, 0, plans=["overwrite"], reason="because"),
        one("rebuild", 1.5, 0, files_read=400, bytes_read=3 * 2**19),
        one("lookback", 0.5, 1234),
    ],
}


def test_page_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == page(text, kept()), "write it anew: python -m benchmarks.bench.page"


def test_what_is_around_the_markers_stays() -> None:
    text = page(f"# A\n\n{BEGIN}\nold\n{END}\n\nB\n", MEASURED)
    assert text.startswith(f"# A\n\n{BEGIN}\n\n") and text.endswith(f"\n\n{END}\n\nB\n")
    assert "\nold\n" not in text
    assert page(text, MEASURED) == text


def test_times_losses_and_wrong_rows_are_shown() -> None:
    text = page(f"{BEGIN}\n{END}", MEASURED)
    assert "1,000,000 facts on 200 days, 20,000 customers, 100 products; 3 rounds." in text
    row = "| 0.1 % appended, scattered | 2.00 (2.00 to 2.00) overwrite | **1.50** (1.50 to 1.50) | 0.50 (0.50 to 0.50)"
    assert f"{row}, 1,234 wrong |" in text
    assert "| overwrite, 2.00 s | rebuild, 1.50 s | 1.33 |" in text
    assert "| ?; 1.00 in 1 | 1.50 in 400; 1.00 in 1 | ?; 1.00 in 1 | - | - |" in text


def test_a_page_without_a_measurement_says_so() -> None:
    assert "Nothing has been measured" in page(f"{BEGIN}\n{END}", EMPTY)


@pytest.mark.parametrize("text", ["", BEGIN, f"{END}\n{BEGIN}"])
def test_a_page_without_markers_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="has no lines"):
        page(text, EMPTY)


def test_no_path_and_no_name_of_a_machine() -> None:
    found = kept()
    assert not re.search(r"/(tmp|home|work|root|Users)\b", json.dumps(found))
    assert found.get("machine", {}).keys() <= {*MACHINE, *VERSIONS}


def test_every_plot_is_shown_and_exists() -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = set(re.findall(r"\(images/(benchmark-[a-z]+\.svg)\)", text))
    assert shown == {file.name for file in DOCS_IMAGES.glob("benchmark-*.svg")}


def test_no_view_has_a_wrong_row() -> None:
    views = [one for one in kept()["results"] if "plans" in one]
    assert all(one["missing_rows"] == one["surplus_rows"] == 0 for one in views)
