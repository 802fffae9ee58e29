"""docs/troubleshooting.md has every message of the product: a new error or warning is not forgotten there."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

import dbt.adapters.icebergmv
from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError

PACKAGE = "dbt.adapters.icebergmv"
FOLDER = Path(inspect.getfile(dbt.adapters.icebergmv)).parent
FILES = sorted(FOLDER.rglob("*.py"))
MACROS = sorted((Path(__file__).parents[2] / "dbt" / "include").rglob("*.sql"))
PAGE = Path(__file__).parents[2] / "docs" / "troubleshooting.md"
OF_DBT = {"DbtRuntimeError", "DbtDatabaseError"}
WARNINGS = {
    "grants.py",
    "materialized_views.py",
    "maintenance/refresh/shortcomings.py",
    "view_settings.py",
    "without_effect.py",
}
"""Files whose functions give or return sentences that `warn` says."""
SAYS = {
    "_full_refreshes",
    "_reads",
    "leave_materialized_view",
    "misspelt",
    "refused_change",
    "warn",
    "warn_of_grants",
    "without_effect",
}
CAUSES = {"maintenance/catalog/failures.py", "spark/errors.py"}
"""Files whose functions return the words of an error."""
SHORTEST = 12
"""Characters of a message that tell it from others."""


@cache
def errors() -> set[str]:
    """Return the names of all errors that a person can see."""
    modules = [importlib.import_module(m.name) for m in pkgutil.walk_packages([str(FOLDER)], f"{PACKAGE}.")]
    return OF_DBT | {
        name
        for module in modules
        for name, found in inspect.getmembers(module, inspect.isclass)
        if found.__module__.startswith(PACKAGE) and issubclass(found, (MaintenanceError, DbtRuntimeError))
    }


def pieces(node: ast.AST) -> Iterator[str]:
    """Yield the parts of a text that are the same whatever its values are."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            for value in values:
                yield from pieces(value)
        case ast.BinOp(left=left, right=right):
            yield from (*pieces(left), *pieces(right))


def told(node: ast.AST) -> str | None:
    """Return the longest part of a message, None of one that is put together elsewhere."""
    longest = max(pieces(node), key=len, default="").strip(" .\n")
    return longest if len(longest) >= SHORTEST else None


def messages(tree: ast.AST, names: set[str]) -> Iterator[str]:
    """Yield what tells each error that is made by one of these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args:
            found = told(node.args[0])
            if found is not None:
                yield found


def sentences(tree: ast.AST) -> Iterator[str]:
    """Yield what tells each warning: the texts with values in the functions that make them."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name in SAYS:
            found = (told(node) for node in ast.walk(function) if isinstance(node, ast.JoinedStr))
            yield from (text for text in found if text is not None)


def causes(tree: ast.AST) -> Iterator[str]:
    """Yield what tells each text that a function returns."""
    for node in ast.walk(tree):
        found = told(node.value) if isinstance(node, ast.Return) and node.value is not None else None
        if found is not None:
            yield found


def raised(macro: str) -> Iterator[str]:
    """Yield what tells each error that a macro raises: the text that its call begins with."""
    for _, text in re.findall(r"exceptions\.raise_\w+\(\s*(['\"])(.*?)\1", macro, re.DOTALL):
        yield max(re.split(r"\{}|'\{}'", text), key=len).strip()


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\\|", "|"))


@pytest.fixture(scope="module")
def page() -> str:
    return plain(PAGE.read_text(encoding="utf-8"))


def said_in(file: Path) -> Iterator[str]:
    """Yield what tells each error and warning of a file of the product."""
    name, tree = str(file.relative_to(FOLDER)), ast.parse(file.read_text(encoding="utf-8"))
    yield from messages(tree, errors())
    if name in WARNINGS:
        yield from sentences(tree)
    if name in CAUSES:
        yield from causes(tree)


def test_every_message_is_on_the_page(page: str) -> None:
    said = [(file, text) for file in FILES for text in said_in(file)]
    assert len(said) > 100
    assert [f"{file.relative_to(FOLDER)}: {text}" for file, text in said if plain(text) not in page] == []


def test_every_error_of_a_macro_is_on_the_page(page: str) -> None:
    said = [(file, text) for file in MACROS for text in raised(file.read_text(encoding="utf-8"))]
    assert said
    assert [f"{file.name}: {text}" for file, text in said if plain(text) not in page] == []


def test_the_check_finds_what_it_looks_for() -> None:
    tree = ast.parse("def f():\n    raise InvalidConfig(f'{x} is wrong here: {y}. ' 'Mend it.')")
    assert list(messages(tree, {"InvalidConfig"})) == ["is wrong here:"]
    assert list(messages(tree, {"Other"})) == []
    tree = ast.parse("def misspelt():\n    return [f'There is no setting {x}']")
    assert list(sentences(tree)) == ["There is no setting"]
    assert list(raised("do exceptions.raise_compiler_error(\n \"Cannot seed to '{}', it\".format(x))")) == [
        "Cannot seed to"
    ]
    assert {"InvalidConfig", "SparkUnavailable", "ServerLost", "DbtRuntimeError"} <= errors()
