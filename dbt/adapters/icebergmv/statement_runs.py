"""Runs the statements of one refresh on dbt's connection, some questions of it in other threads."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from multiprocessing.pool import ThreadPool
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.maintenance.errors import QueryStopped, SparkLost
from dbt.adapters.icebergmv.maintenance.lake import Limit

_LONGEST_LOGGED = 100_000
"""Of a longer statement dbt logs the beginning alone: mostly it lists keys."""

_MOST_BESIDE = 3
"""So many threads of the process ask questions beside those that refresh views."""


_warm = threading.Event()


def is_cold() -> bool:
    """Return whether no refresh of this process has ended yet."""
    return not _warm.is_set()


def begin_beside(work: Callable[[], object]) -> None:
    """Begin some work in one of the threads that ask questions for all views of this process."""
    _threads().apply_async(work)


@cache
def _threads() -> ThreadPool:
    """Return the threads, which do not keep the process from ending: as many as this machine has cores less one.

    Spark mostly plans and runs questions in this process; a server has more cores than this machine rather than fewer.
    """
    threads = ThreadPool(max(1, min(_MOST_BESIDE, (os.cpu_count() or 1) - 1)))
    atexit.register(threads.terminate)
    return threads


class StatementRuns:
    """The statements of one refresh, which is made in the thread that refreshes.

    `before` is called with each of them. `connections` are dbt's.
    """

    def __init__(self, connections: Any, before: Callable[[str], None]) -> None:
        self._connections = connections
        self._before = before
        self._connection = connections.get_thread_connection()
        header = connections.query_header
        self._comment = None if header is None else (header.comment.query_comment, header.comment.append)
        self.texts: list[str] = []

    def end(self) -> None:
        """Note that the refresh has ended, after statements or without."""
        if self.texts:
            _warm.set()

    def run(self, sql: str) -> Sequence[Sequence[object]]:
        """Run a statement and return its rows."""
        self._before(sql)
        self.texts.append(sql)
        text, abridged = self._connections._add_query_comment(sql), len(sql) > _LONGEST_LOGGED
        _, cursor = self._connections.add_query(text, auto_begin=False, abridge_sql_log=abridged)
        return [tuple(row) for row in cursor.fetchall()]

    def ask(self, sql: str, limit: Limit) -> Sequence[Sequence[object]]:
        """Run a query within a limit, in any thread. Raises QueryStopped at the limit."""
        if limit.is_reached:
            raise QueryStopped
        try:
            with self._in_this_thread(), self._connection.handle.stopped_at(limit):
                return self.run(sql)
        except DbtRuntimeError as error:
            if isinstance(error, SparkLost) or not limit.is_reached:
                raise
            raise QueryStopped from error

    @contextmanager
    def _in_this_thread(self) -> Iterator[None]:
        """Give this thread the connection and the comment of its statements, which dbt keeps for each thread."""
        if self._connections.get_if_exists() is not None:
            yield
            return
        if self._comment is not None:
            self._connections.query_header.comment.set(*self._comment)
        with self._connections.lock:
            self._connections.set_thread_connection(self._connection)
        try:
            yield
        finally:
            self._connections.clear_thread_connection()
