"""Questions of other threads run on the connection of the model, and leave nothing behind in their threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.contracts.connection import Connection
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager
from dbt.adapters.icebergmv.maintenance.errors import QueryStopped
from dbt.adapters.icebergmv.maintenance.lake import Limit
from dbt.adapters.icebergmv.spark.errors import ServerLost
from dbt.adapters.icebergmv.statement_runs import StatementRuns, begin_beside, is_cold


class Comment(threading.local):
    """What dbt keeps of the comment of statements, for each thread."""

    query_comment, append = "", False

    def set(self, text: str, append: bool) -> None:
        self.query_comment, self.append = text, append


class Connections(IcebergMVConnectionManager):
    """dbt's connections, of which one statement fails; notes what is run, and where."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__(SimpleNamespace(credentials=None), get_context("spawn"))
        self.query_header = SimpleNamespace(comment=Comment(), add=self._commented)  # type: ignore[assignment]
        self.error, self.said, self.limits = error, list[tuple[int, str, str]](), list[Limit]()
        self.cancelled = 0
        connection = Connection.__new__(Connection)
        connection.__dict__.update(name="model.p.x", state="open", transaction_open=False, _handle=self)
        self.connection = connection
        self.set_thread_connection(connection)

    def _commented(self, sql: str) -> str:
        comment: Any = self.query_header
        return f"/* {comment.comment.query_comment} */ {sql}"

    def add_query(self, sql: str, *_: object, **__: object) -> tuple[Any, Any]:
        connection = self.get_thread_connection()
        self.said.append((threading.get_ident(), str(connection.name), sql))
        if self.error is not None:
            raise self.error
        return connection, SimpleNamespace(fetchall=lambda: [(1,)])

    def cancel(self, connection: Any = None) -> None:
        self.cancelled += 1

    @contextmanager
    def stopped_at(self, limit: Limit) -> Iterator[None]:
        self.limits.append(limit)
        yield


def of_model(connections: Connections, text: str = "of the model") -> StatementRuns:
    header: Any = connections.query_header
    header.comment.set(text, False)
    return StatementRuns(connections, lambda _: None)


def reached() -> Limit:
    over = threading.Event()
    over.set()
    return Limit().or_until(over)


def test_a_question_of_another_thread() -> None:
    connections = Connections()
    with ThreadPoolExecutor(1) as beside:
        for text in ("of the model", "of the next model"):
            runs, limit = of_model(connections, text), Limit(1e12)
            assert beside.submit(runs.ask, "SELECT 1", limit).result() == [(1,)]
            (thread, name, sql) = connections.said[-1]
            assert thread != threading.get_ident() and name == "model.p.x" and sql == f"/* {text} */ SELECT 1"
            assert connections.limits[-1] is limit and runs.texts == ["SELECT 1"]
            assert [*connections.thread_connections.values()] == [connections.connection]
    assert runs.ask("SELECT 2", Limit()) == [(1,)] and connections.said[-1][0] == threading.get_ident()
    assert [*connections.thread_connections.values()] == [connections.connection]


def test_what_fails_leaves_no_connection_behind() -> None:
    connections = Connections(DbtDatabaseError("no"))
    runs = of_model(connections)
    with ThreadPoolExecutor(1) as beside, pytest.raises(DbtDatabaseError, match="no"):
        beside.submit(runs.ask, "SELECT 1", Limit()).result()
    assert [*connections.thread_connections.values()] == [connections.connection]


def test_what_is_not_wanted_any_more() -> None:
    """It is not begun; if it fails meanwhile it was stopped, unless Spark was lost."""
    for error, expected in (
        (DbtDatabaseError("stopped"), QueryStopped),
        (ServerLost("lost"), ServerLost),
        (ZeroDivisionError(), ZeroDivisionError),
    ):
        over, connections = threading.Event(), Connections(error)
        runs = of_model(connections)
        with pytest.raises(QueryStopped):
            runs.ask("SELECT 1", reached())
        assert not connections.said
        runs = StatementRuns(connections, lambda _, over=over: over.set())  # type: ignore[misc]
        with pytest.raises(expected):
            runs.ask("SELECT 1", Limit().or_until(over))


def test_a_connection_that_several_threads_have_is_named_once() -> None:
    connections = Connections()
    runs, both, over = of_model(connections), threading.Barrier(3), threading.Event()
    runs.run = lambda sql: (both.wait(5), over.wait(5), [])[2]  # type: ignore[method-assign]
    with ThreadPoolExecutor(2) as beside:
        for _ in range(2):
            beside.submit(runs.ask, "SELECT 1", Limit())
        both.wait(5)
        connections.clear_thread_connection()
        assert connections.cancel_open() == ["model.p.x"] and connections.cancelled
        over.set()


def test_spark_is_cold_until_a_refresh_has_run_statements() -> None:
    runs = of_model(Connections())
    before = is_cold()
    runs.end()
    assert is_cold() == before
    runs.run("SELECT 1")
    assert is_cold() == before
    runs.end()
    assert not is_cold()


def test_other_threads_do_not_keep_the_process() -> None:
    daemons: list[bool] = []
    done = threading.Event()

    def work() -> None:
        daemons.append(threading.current_thread().daemon)
        done.set()

    begin_beside(work)
    assert done.wait(5) and daemons == [True]
