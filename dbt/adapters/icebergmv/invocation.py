"""What dbt was called with: flags that its Jinja context or the profile do not carry."""

from __future__ import annotations

import os
from pathlib import Path

COMPILING_COMMANDS = frozenset(["compile", "generate", "list", "show"])
"""Commands that compile nodes, and run none."""


def partial_inputs() -> str | None:
    """Return the flag under which dbt filters the rows that models read (`--empty`, `--sample`), None normally."""
    if _flag("EMPTY"):
        return "--empty"
    return "--sample" if _flag("SAMPLE") is not None else None


def command() -> str:
    """Return dbt's command (`run`, `build`, `docs generate`: `generate`), empty when dbt was not called."""
    return str(_flag("WHICH") or "")


def project_folder() -> Path:
    """Return the folder of the project (where dbt_project.yml is), the current one when dbt was not called."""
    return Path(str(_flag("PROJECT_DIR") or ".")).absolute()


def log_folder() -> Path:
    """Return the folder of dbt's own log file."""
    return Path(str(_flag("LOG_PATH") or os.environ.get("DBT_LOG_PATH") or "logs")).absolute()


def _flag(name: str) -> object:
    from dbt.flags import get_flags  # noqa: PLC0415 - set by dbt only after plugins are loaded

    return getattr(get_flags(), name, None)
