"""Every module of the engine is run by a fast test.

A test imports from it, a fixture file has pairs about it, a refresh of the golden files runs it, or it is a catalog
reader, which the contract of all readers runs. What is only loaded because something else imports it does not count.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from dbt.adapters.icebergmv import maintenance
from tests.refresh.refreshes import SCENARIOS, Stage
from tests.support.rule_pairs import all_pairs

TESTS = Path(__file__).parents[1]
ENGINE = Path(maintenance.__path__[0])


def imported() -> Iterator[str]:
    """Yield the modules of the engine that tests import something from, by their path below it."""
    for file in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{maintenance.__name__}."):
                module = str(node.module).removeprefix(f"{maintenance.__name__}.").replace(".", "/")
                yield from (f"{module}.py", *(f"{module}/{alias.name}.py" for alias in node.names))


READERS = {
    "catalog/metadata_files.py",
    "catalog/pyiceberg_reader.py",
    "catalog/readers/",
    "catalog/view_metadata.py",
}
"""Run by tests/catalog/test_reader_contract.py, which opens each reader as the product does."""
OVER_SPARK = {"catalog/over_spark/files.py", "catalog/over_spark/reader.py"}
"""They do nothing but ask Spark: integration/catalogs/test_spark_reader.py holds them to the same contract."""


def run_by_refreshes(folder: Path) -> set[str]:
    """Return the files of the engine whose functions the refreshes of the golden files call."""
    called: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            called.add(frame.f_code.co_filename)

    for name, scenario in SCENARIOS.items():
        (folder / name).mkdir()
        stage = Stage(folder / name)
        sys.setprofile(note)
        try:
            stage.play(scenario)
        finally:
            sys.setprofile(None)
            stage.close()
    return {Path(file).relative_to(ENGINE).as_posix() for file in called if Path(file).is_relative_to(ENGINE)}


@pytest.mark.slow
@pytest.mark.long
def test_every_module_is_run(tmp_path: Path) -> None:
    modules = {file.relative_to(ENGINE).as_posix() for file in ENGINE.rglob("*.py") if file.name != "__init__.py"}
    about = {f"definition/{pair.module}.py" for pair in all_pairs()}
    readers = {module for module in modules if module.startswith(tuple(READERS))}
    assert sorted(modules - set(imported()) - about - readers - OVER_SPARK - run_by_refreshes(tmp_path)) == []
