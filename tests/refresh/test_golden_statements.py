"""The SQL of every kind of refresh, as files that double as documentation (golden/README.md)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.refresh.refreshes import SCENARIOS, Stage, stable

GOLDEN = Path(__file__).parent / "golden"
UPDATE = "UPDATE_GOLDEN"


@pytest.mark.parametrize("name", SCENARIOS)
def test_statements(name: str, tmp_path: Path) -> None:
    scenario, stage = SCENARIOS[name], Stage(tmp_path)
    result, statements = stage.play(scenario)
    assert result.kind == scenario.kind
    head = f"-- {scenario.about}\n-- refresh_kind: {result.kind}\n-- refresh_reason: {result.reason}\n"
    text = stable("\n".join([head, *(f"{statement};\n" for statement in statements)]), stage)
    stage.close()
    file = GOLDEN / f"{name}.sql"
    if os.environ.get(UPDATE):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), f"judge the difference, then set {UPDATE}=1 and run the test again"


def test_every_file_is_of_a_scenario() -> None:
    assert {file.stem for file in GOLDEN.glob("*.sql")} == set(SCENARIOS)
