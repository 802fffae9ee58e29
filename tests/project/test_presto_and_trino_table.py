"""The table of Presto's and Trino's cases is complete, and names tests that exist and bear the number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs" / "presto-and-trino-cases.md").read_text()
ROWS = re.findall(r"^\| ([PT]\d+) \| .+ \| (.+) \|$", TABLE, re.M)
TESTED = [(number, here) for number, here in ROWS if "::" in here]
EXPECTED = [f"P{n}" for n in (*range(1, 104), *range(108, 148))] + [f"T{n}" for n in range(1, 36)]


def references(here: str) -> list[tuple[Path, str, str]]:
    """Return file, test and parameter of each reference; one that is a parameter alone belongs to the test before."""
    found: list[tuple[Path, str, str]] = []
    for text in re.findall(r"`([^`]*(?:::|\[)[^`]*)`", here):
        name, _, parameter = text.rstrip("]").partition("[")
        file, _, test = name.partition("::")
        path = (ROOT / file if file.startswith("tests/") else ROOT / "integration" / file) if name else found[-1][0]
        found.append((path, test or found[-1][1], parameter.replace("…", "")))
    return found


def test_every_number_once_and_in_order() -> None:
    assert [number for number, _ in ROWS] == EXPECTED


def test_no_case_is_without_an_answer() -> None:
    assert [n for n, here in ROWS if "::" not in here and "does not apply because" not in here] == []


@pytest.mark.parametrize("here", [here for _, here in TESTED], ids=[number for number, _ in TESTED])
def test_tests_exist(here: str) -> None:
    for path, test, parameter in references(here):
        source = path.read_text()
        assert re.search(rf"^(def|class) {test}\b", source, re.M), test
        assert f'"{parameter}"' in source or not parameter, parameter


@pytest.mark.parametrize(("number", "here"), TESTED, ids=[number for number, _ in TESTED])
def test_tests_bear_the_number(number: str, here: str) -> None:
    files = {path for path, _, _ in references(here)}
    explained = any(words in here for words in ("*Reads*", "does not apply because"))
    if not explained and all(path.name.startswith(("test_presto_", "test_trino_")) for path in files):
        assert any(re.search(rf"(\b|_){number}(\b|_)", path.read_text(), re.I) for path in files)
