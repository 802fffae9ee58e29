"""How far a long refresh is: a line in the log after 10 seconds, and then ever more rarely. Of a short one, nothing."""

from __future__ import annotations

import contextvars
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType

_STAGES = {
    "SET": "it waits for Spark",
    "DESCRIBE": "Spark looks at its columns",
    "SELECT": "Spark is asked what the changes reach",
    "WITH": "Spark is asked what the changes reach",
    "CREATE OR REPLACE TABLE": "its storage table is made",
    "CREATE OR REPLACE VIEW": "it is published",
    "ALTER VIEW": "it is published",
    "INSERT": "its rows are computed and written",
    "MERGE": "its rows are computed and written",
    "DELETE": "rows that are no longer right are removed",
    "CALL": "its rows are committed",
}
_OTHERWISE = "its storage table is prepared"
_LONGEST_PAUSE = 600


def stage_of(sql: str) -> str:
    """Return what a statement of a refresh is for, in words about the view."""
    return next((words for head, words in _STAGES.items() if sql.startswith(head)), _OTHERWISE)


def moments() -> Iterator[float]:
    """Yield after how many seconds to say something: 10, 30, 60, 120 and so on, at least every 10 minutes."""
    yield from (10, 30)
    last = 30
    for _ in itertools.count():
        last += min(last, _LONGEST_PAUSE)
        yield last


class Progress:
    """Says the stage of one refresh, from a thread of its own that ends with the refresh."""

    def __init__(self, name: str, say: Callable[[str], object], at: Callable[[], Iterable[float]] = moments) -> None:
        self._name, self._say, self._at = name, say, at
        self._stage = ""
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Progress:
        return self

    def reach(self, stage: str) -> None:
        """Note that a stage begins; with the first one the time begins."""
        self._stage = stage
        if self._thread is None:
            # dbt knows by context variables which model a line of the log is about.
            context = contextvars.copy_context()
            self._thread = threading.Thread(target=context.run, args=(self._watch, time.monotonic()), daemon=True)
            self._thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self, started: float) -> None:
        for moment in self._at():
            if self._done.wait(started + moment - time.monotonic()):
                return
            self._say(f"{self._name}, after {round(time.monotonic() - started)} seconds: {self._stage}")
