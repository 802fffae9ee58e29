"""Errors that a person can see form one tree, and no handler hides others without a reason."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import dbt.adapters.icebergmv
from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError

PACKAGE = "dbt.adapters.icebergmv"
FOLDER = Path(inspect.getfile(dbt.adapters.icebergmv)).parent
FILES = sorted(FOLDER.rglob("*.py"))
BUILTIN = {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)}
DEFECTS = {"AssertionError", "TypeError"}
"""Only a defect of our own code raises them, so they may have a stack trace."""
FOR_CALLERS = {"ValueError", "AttributeError", "KeyError"}
"""Allowed where the docstring of the function says so: its callers turn it into an error for people."""


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def raised(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of each error that is raised by its name."""
    for found in ast.walk(node):
        if isinstance(found, ast.Raise) and found.exc is not None:
            error = found.exc.func if isinstance(found.exc, ast.Call) else found.exc
            if isinstance(error, ast.Name):
                yield found.lineno, error.id


def misplaced(source: str) -> list[str]:
    """Return the builtin errors that are raised where a person may see them."""
    tree = ast.parse(source)
    allowed = {
        line
        for function in functions(tree)
        for line, name in raised(function)
        if name in DEFECTS or (name in FOR_CALLERS and f"Raises {name}" in (ast.get_docstring(function) or ""))
    }
    return [f"{line}: {name}" for line, name in raised(tree) if name in BUILTIN and line not in allowed]


def unexplained(source: str) -> list[int]:
    """Return the lines of handlers of every error that have no comment before their first statement."""
    lines = source.splitlines()
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler) and (
            node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "Exception")
        ):
            head = lines[node.lineno - 1 : node.body[0].lineno - 1]
            if not any("#" in line for line in head):
                found.append(node.lineno)
    return found


def test_people_see_errors_of_the_tree() -> None:
    assert [f"{file.relative_to(FOLDER)}:{at}" for file in FILES for at in misplaced(file.read_text())] == []


def test_who_catches_everything_says_why() -> None:
    assert [f"{file.relative_to(FOLDER)}:{at}" for file in FILES for at in unexplained(file.read_text())] == []


def test_the_tree_has_one_root() -> None:
    modules = [importlib.import_module(m.name) for m in pkgutil.walk_packages([str(FOLDER)], f"{PACKAGE}.")]
    ours = {
        error
        for module in modules
        for _, error in inspect.getmembers(module, inspect.isclass)
        if issubclass(error, BaseException) and error.__module__.startswith(PACKAGE)
    }
    assert len(ours) > 10
    # A private one does not leave its module.
    public = [error for error in ours if not error.__name__.startswith("_")]
    assert [error.__name__ for error in public if not issubclass(error, MaintenanceError)] == []


def test_the_checks_find_what_they_look_for() -> None:
    assert misplaced("def f():\n    raise ValueError('x')") == ["2: ValueError"]
    assert misplaced("raise RuntimeError") == ["1: RuntimeError"]
    assert misplaced("def f():\n    '''Raises ValueError.'''\n    raise ValueError('x')") == []
    assert misplaced("def f():\n    raise TypeError('x')") == []
    assert unexplained("try:\n    pass\nexcept Exception:\n    pass  # no reason") == [3]
    assert unexplained("try:\n    pass\nexcept:\n    pass") == [3]
    assert unexplained("try:\n    pass\nexcept Exception:\n    # A reason.\n    pass") == []
