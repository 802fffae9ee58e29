"""Warnings for people: on the console, in the log, and under `--warn-error` an error that says so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from dbt.adapters.events.types import AdapterEventWarning
from dbt_common.events.functions import warn_or_error
from dbt_common.exceptions import DbtRuntimeError
from dbt_common.exceptions.events import EventCompilationError

NAMES_SHOWN = 3


def warn(message: str) -> None:
    """Warn as dbt's own adapters do, so that `--warn-error` and `warn_error_options` decide what comes of it.

    Raises DbtRuntimeError where they ask for an error; dbt's own would call it a compilation error, which it is not.
    """
    try:
        warn_or_error(AdapterEventWarning(name="IcebergMV", base_msg=message))
    except EventCompilationError as error:
        raise DbtRuntimeError(f"{message}\nThis is a warning, which --warn-error makes an error.") from error


class Once:
    """Says each sentence once, however often a refresh starts again, and whichever thread comes to it."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, message: str) -> None:
        """Say a sentence that was not said yet."""
        with self._lock:
            if message in self._said:
                return
            self._said.add(message)
        self._say(message)


def several(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"{', '.join(names[:NAMES_SHOWN])}{more}"


def several_have(names: Sequence[str]) -> str:
    """Return the same with the verb that follows."""
    return f"{several(names)} {'has' if len(names) == 1 else 'have'}"
