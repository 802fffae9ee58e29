"""A dbt project in a folder of its own, and dbt commands on it within this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner

_PROFILE = """
{name}:
  target: dev
  outputs:
    dev: {{type: icebergmv, method: session, catalog: lake, schema: s, warehouse: ./warehouse, threads: 1,
      server_side_parameters: {spark}}}
"""


def write_project(folder: Path, name: str, files: Mapping[str, str], variables: str = "{}", spark: str = "{}") -> None:
    """Write the project file, a profile with a SQLite catalog, and more files by their paths.

    `variables`, and the settings of `spark`, are YAML.
    """
    of_dbt = {
        "dbt_project.yml": f"name: {name}\nversion: '1.0'\nprofile: {name}\nvars: {variables}\n",
        "profiles.yml": _PROFILE.format(name=name, spark=spark),
    }
    for path, text in {**of_dbt, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def dbt(folder: Path, *arguments: str) -> Any:
    """Run a dbt command, which must succeed, and return its result."""
    result, problem = attempt(folder, *arguments)
    assert problem is None, problem
    return result


def attempt(folder: Path, *arguments: str) -> tuple[Any, Any]:
    """Run a dbt command, and return its result and what was wrong (None: nothing)."""
    options = ["--project-dir", str(folder), "--profiles-dir", str(folder), "--log-path", f"{folder}/logs", "--quiet"]
    answer = dbtRunner().invoke([*arguments, *options, "--no-send-anonymous-usage-stats", "--no-version-check"])
    messages = [r.message for r in getattr(answer.result, "results", None) or ()]
    return answer.result, None if answer.success else answer.exception or messages
