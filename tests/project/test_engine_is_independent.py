"""The engine imports neither dbt nor Spark, itself or through what it imports.

A test, because dbt is spread over several distributions and import-linter cannot take one apart.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ENGINE = "dbt.adapters.icebergmv.maintenance"
FOLDER = Path(__file__).parents[2] / Path(*ENGINE.split("."))
FORBIDDEN = {"dbt", "dbt_common", "pyspark", "py4j", "agate"}


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            yield node.module or ""


def is_forbidden(name: str) -> bool:
    return name.split(".", maxsplit=1)[0] in FORBIDDEN and name != ENGINE and not name.startswith(f"{ENGINE}.")


def test_no_forbidden_import() -> None:
    files = sorted(FOLDER.rglob("*.py"))
    assert [f"{file}: {name}" for file in files for name in imported(file) if is_forbidden(name)] == []


def test_a_forbidden_import_is_seen() -> None:
    assert all(map(is_forbidden, ["dbt.adapters.base", "pyspark", f"{ENGINE}x", "dbt.adapters.icebergmv"]))
    assert not any(map(is_forbidden, [ENGINE, f"{ENGINE}.sql", "sqlglot", "dbtx"]))


def test_importing_the_engine_loads_neither() -> None:
    modules = [".".join((ENGINE, *file.relative_to(FOLDER).with_suffix("").parts)) for file in FOLDER.rglob("*.py")]
    names = ", ".join(module.removesuffix(".__init__") for module in modules)
    check = f"import sys, {names}; print([m for m in ('pyspark', 'dbt.adapters.base', 'dbt.cli') if m in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert answer.stdout.strip() == "[]", answer.stderr


def test_the_adapter_loads_no_pyspark_before_the_first_statement() -> None:
    """Loading it takes half a second, which a run with nothing to do need not pay."""
    check = f"import sys; from {ENGINE.rpartition('.')[0]} import Plugin; print('pyspark' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert answer.stdout.strip() == "False", answer.stderr
