"""Sessions shared by all threads of a process: one for each request."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from dbt.adapters.icebergmv.spark.errors import SparkUnavailable

Session = TypeVar("Session")
FAILURE_SECONDS = 60.0


class SharedSessions(Generic[Session]):
    """Opens a session at the first call for a key, and anew when `is_alive` says that it has ended.

    A failure to open is raised again for a minute, so that a hundred models do not wait for it each.
    """

    def __init__(self, is_alive: Callable[[Session], bool]) -> None:
        self._is_alive = is_alive
        self._lock = threading.Lock()
        self._sessions: dict[Hashable, Session] = {}
        self._failures: dict[Hashable, tuple[float, SparkUnavailable]] = {}

    def get(self, key: Hashable, opened: Callable[[], Session]) -> Session:
        """Return the session of this key, made by `opened` where there is none. Raises SparkUnavailable."""
        with self._lock:
            session = self._sessions.get(key)
            if session is None or not self._is_alive(session):
                session = self._sessions[key] = self._opened(key, opened)
            return session

    def _opened(self, key: Hashable, opened: Callable[[], Session]) -> Session:
        when, failure = self._failures.get(key, (0.0, None))
        if failure is not None and time.monotonic() - when < FAILURE_SECONDS:
            raise failure
        try:
            return opened()
        except SparkUnavailable as error:
            self._failures[key] = (time.monotonic(), error)
            raise
