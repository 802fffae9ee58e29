"""Tests use public names, and helpers in place of other tests: what is private may change without them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(file for folder in ("tests", "integration") for file in (ROOT / folder).rglob("*.py"))
PRODUCT = "dbt.adapters.icebergmv"


def is_private(name: object) -> bool:
    return isinstance(name, str) and name.startswith("_") and not name.startswith("__")


def imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield what is imported as (module, name); a module as a whole has no name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def private_names(tree: ast.Module) -> Iterator[str]:
    """Yield the private names of the product, or of other test files, that a file uses.

    They are imported, read as an attribute of a module, or named in a text: `setattr(module, "_name", ...)`.
    """
    modules = set()
    for module, name in imports(tree):
        if module.startswith((PRODUCT, "tests", "integration")):
            modules.add(name)
            yield from filter(is_private, (*module.split("."), name))
    modules |= {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield from filter(is_private, [node.attr])
        if isinstance(node, ast.Call):
            named = [a.id for a in node.args if isinstance(a, ast.Name)]
            texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
            if modules.intersection(named):
                yield from filter(is_private, texts)


def of_other_tests(tree: ast.Module) -> Iterator[str]:
    """Yield what a file imports from test modules."""
    for module, name in imports(tree):
        path = f"{module}.{name}"
        if module.startswith(("tests", "integration")) and any(part.startswith("test_") for part in path.split(".")):
            yield path


def test_no_private_name_and_no_other_test() -> None:
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in FILES}
    found = {str(file.relative_to(ROOT)): {*private_names(tree), *of_other_tests(tree)} for file, tree in trees.items()}
    assert {file: names for file, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "source",
    [
        "from dbt.adapters.icebergmv.maintenance.refresh.refresh import _moved",
        "from dbt.adapters.icebergmv.maintenance.stitching import grains\ngrains._unit",
        "from dbt.adapters.icebergmv.maintenance.stitching import grains as g\ng._unit",
        "from dbt.adapters.icebergmv.maintenance.stitching import grains\npatch.setattr(grains, '_unit', None)",
        "from tests.support.duck import _name",
    ],
)
def test_a_private_name_is_seen(source: str) -> None:
    assert list(private_names(ast.parse(source)))


def test_another_test_is_seen() -> None:
    tree = ast.parse("from tests.refresh.refreshes import Stage\nfrom tests.refresh.test_clock import Model")
    assert list(of_other_tests(tree)) == ["tests.refresh.test_clock.Model"]
