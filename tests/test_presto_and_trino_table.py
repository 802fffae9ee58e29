"""The table of Presto's and Trino's cases is complete, and names tests that exist and bear the number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = re.findall(r"^\| ([PT]\d+) \| (.+) \| (.+) \|$", (ROOT / "docs" / "presto-and-trino-cases.md").read_text(), re.M)
EXPECTED = [f"P{n}" for n in (*range(1, 104), *range(108, 148))] + [f"T{n}" for n in range(1, 36)]


def test_every_number_once_and_in_order() -> None:
    assert [number for number, _, _ in ROWS] == EXPECTED


def test_no_case_is_without_an_answer() -> None:
    assert [n for n, _, here in ROWS if "::" not in here and "does not apply because" not in here] == []


@pytest.mark.parametrize(("number", "here"), [(n, here) for n, _, here in ROWS if "::" in here])
def test_tests_exist(number: str, here: str) -> None:
    file = ""
    for reference in re.findall(r"`([^`]*(?:::|\[)[^`]*)`", here):
        name, _, parameter = reference.partition("[")
        if name:
            file, _, test = name.partition("::")
            path = ROOT / file if file.startswith("tests/") else ROOT / "integration" / file
            assert re.search(rf"^(def|class) {test}\b", path.read_text(), re.M), reference
            own = file.startswith(("test_presto", "test_trino"))
            assert not own or "*Reads*" in here or re.search(rf"\b{number}\b|_{number}_", path.read_text(), re.I), (
                reference
            )
        for word in filter(None, parameter.rstrip("]").split("…")):
            assert f'"{word}"' in path.read_text(), reference
