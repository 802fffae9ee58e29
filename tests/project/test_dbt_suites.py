"""Every class of dbt's suites that has tests is run in integration/dbt, or is excluded there with a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from integration.dbt.exclusions import EXCLUDED

RUN_SUITES = (
    "aliases",
    "constraints",
    "dbt_clone",
    "dbt_show",
    "empty",
    "hooks",
    "incremental",
    "persist_docs",
    "python_model",
    "sample_mode",
    "unit_testing",
    "utils",
)
INTEGRATION = Path(__file__).parents[2] / "integration" / "dbt"

Classes = Mapping[str, ast.ClassDef]


def classes(files: Iterable[Path]) -> list[ast.ClassDef]:
    return [node for file in files for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef)]


def base_names(node: ast.ClassDef) -> list[str]:
    return [base.attr if isinstance(base, ast.Attribute) else ast.unparse(base) for base in node.bases]


def own_tests(node: ast.ClassDef) -> set[str]:
    return {part.name for part in node.body if isinstance(part, ast.FunctionDef) and part.name.startswith("test")}


def inherited_tests(name: str, suite: Classes) -> dict[str, str]:
    """Return the tests of a class, its own too, each with the class that defines it."""
    if name not in suite:
        return {}
    inherited = {
        test: definer for base in base_names(suite[name]) for test, definer in inherited_tests(base, suite).items()
    }
    return inherited | dict.fromkeys(own_tests(suite[name]), name)


@pytest.fixture(scope="module")
def suite() -> Classes:
    """The classes of dbt's suites that others are to inherit from."""
    spec = find_spec("dbt.tests.adapter")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    root = Path(spec.submodule_search_locations[0])
    found: dict[str, ast.ClassDef] = {}
    for folder in RUN_SUITES:
        nodes = [node for node in classes((root / folder).rglob("*.py")) if not node.name.startswith("Test")]
        assert nodes, folder
        assert found.keys() & {node.name for node in nodes} == set(), folder
        found |= {node.name: node for node in nodes}
    return found


@pytest.fixture(scope="module")
def offered(suite: Classes) -> set[str]:
    """Those of them that have tests."""
    return {name for name in suite if inherited_tests(name, suite)}


@dataclass(frozen=True)
class Collected:
    """A class that pytest collects in integration/dbt, and the classes of dbt's suites that it runs."""

    node: ast.ClassDef
    runs: frozenset[str]


@pytest.fixture(scope="module")
def collected(suite: Classes) -> list[Collected]:
    found = []
    for file in INTEGRATION.glob("test_*.py"):
        ours = {node.name: node for node in classes([file])}
        of_suite = {name: frozenset(from_suite(name, ours, suite)) for name in ours if name.startswith("Test")}
        found += [Collected(ours[name], runs) for name, runs in of_suite.items() if runs]
    return found


def from_suite(name: str, ours: Classes, suite: Classes) -> set[str]:
    """Return the classes of dbt's suites that a class inherits from, itself or through classes of its own file."""
    bases = base_names(ours[name])
    through = (from_suite(base, ours, suite) for base in bases if base in ours)
    return {base for base in bases if base in suite}.union(*through)


@pytest.fixture(scope="module")
def run(collected: list[Collected]) -> set[str]:
    return {name for each in collected for name in each.runs}


def test_no_class_is_missing(offered: set[str], run: set[str]) -> None:
    assert offered - run - EXCLUDED.keys() == set()


def test_no_class_is_both_run_and_excluded(run: set[str]) -> None:
    assert run & EXCLUDED.keys() == set()


def test_every_excluded_class_exists(offered: set[str]) -> None:
    assert EXCLUDED.keys() - offered == set()


def test_every_exclusion_has_a_reason() -> None:
    assert all(reason.endswith(".") and len(reason) > 20 for reason in EXCLUDED.values())


def test_no_test_of_a_class_is_replaced_or_skipped(collected: list[Collected]) -> None:
    for each in collected:
        assert own_tests(each.node) == set(), each.node.name
        assert each.node.decorator_list == [], each.node.name


def test_classes_that_run_as_one_have_the_same_tests(suite: Classes, collected: list[Collected]) -> None:
    for each in collected:
        assert len({tuple(sorted(inherited_tests(name, suite).items())) for name in each.runs}) < 2, each.node.name
