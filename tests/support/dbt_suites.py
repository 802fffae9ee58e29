"""The classes of dbt's suites for adapters that have tests, and those that integration/dbt runs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from integration.dbt.exclusions import EXCLUDED_SUITES

INTEGRATION = Path(__file__).parents[2] / "integration" / "dbt"


@dataclass(frozen=True)
class SuiteClass:
    """A class that others are to inherit from, and the folder of its suite."""

    folder: str
    node: ast.ClassDef


Suite = Mapping[str, SuiteClass]


@dataclass(frozen=True)
class Collected:
    """A class that pytest collects in integration/dbt, and the classes of dbt's suites that it runs."""

    node: ast.ClassDef
    runs: frozenset[str]


def classes(files: Iterable[Path]) -> list[ast.ClassDef]:
    return [node for file in files for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef)]


def base_names(node: ast.ClassDef) -> list[str]:
    return [base.attr if isinstance(base, ast.Attribute) else ast.unparse(base) for base in node.bases]


def own_tests(node: ast.ClassDef) -> set[str]:
    """Return the names of a class's own tests; a fixture may begin with the same word."""
    functions = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name.startswith("test")]
    return {part.name for part in functions if not any("fixture" in ast.unparse(d) for d in part.decorator_list)}


def inherited_tests(name: str, suite: Suite) -> dict[str, str]:
    """Return the tests of a class, its own too, each with the class that defines it."""
    if name not in suite:
        return {}
    node = suite[name].node
    inherited = {test: definer for base in base_names(node) for test, definer in inherited_tests(base, suite).items()}
    return inherited | dict.fromkeys(own_tests(node), name)


@cache
def folders() -> Mapping[str, Path]:
    """Return the folders of dbt's suites."""
    spec = find_spec("dbt.tests.adapter")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    root = Path(spec.submodule_search_locations[0])
    return {folder.name: folder for folder in root.iterdir() if folder.is_dir() and not folder.name.startswith("__")}


@cache
def suite() -> Suite:
    """Return the classes of the suites that are not excluded as a whole."""
    found: dict[str, SuiteClass] = {}
    for folder in sorted(folders().keys() - EXCLUDED_SUITES.keys()):
        for node in classes(sorted(folders()[folder].rglob("*.py"))):
            if node.name.startswith("Test"):
                continue
            # Two folders have a class of one name, of which one has no tests.
            same = found.get(node.name)
            assert same is None or not (own_tests(node) and own_tests(same.node)), node.name
            if same is None or own_tests(node):
                found[node.name] = SuiteClass(folder, node)
    return found


def offered() -> set[str]:
    """Return the names of those that have tests."""
    return {name for name in suite() if inherited_tests(name, suite())}


@cache
def collected() -> tuple[Collected, ...]:
    found = []
    for file in sorted(INTEGRATION.glob("test_*.py")):
        ours = {node.name: node for node in classes([file])}
        of_suite = {name: frozenset(_from_suite(name, ours)) for name in ours if name.startswith("Test")}
        found += [Collected(ours[name], runs) for name, runs in of_suite.items() if runs]
    return tuple(found)


def run() -> set[str]:
    """Return the names of the classes of dbt's suites that are run."""
    return {name for each in collected() for name in each.runs}


def _from_suite(name: str, ours: Mapping[str, ast.ClassDef]) -> set[str]:
    """Return the classes of dbt's suites that a class inherits from, itself or through classes of its own file."""
    bases = base_names(ours[name])
    through = (_from_suite(base, ours) for base in bases if base in ours)
    return {base for base in bases if base in suite()}.union(*through)
