"""dbt's connection to a Spark Thrift server: one session there for each connection, over the Hive protocol."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any, TypeVar

from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.icebergmv.maintenance.catalog.secrets import hide, shown_cause
from dbt.adapters.icebergmv.maintenance.lake import Limit
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier
from dbt.adapters.icebergmv.spark.cursor import INTERRUPTED, ColumnDescription
from dbt.adapters.icebergmv.spark.errors import ServerLost, SparkUnavailable, first_message, lost
from dbt.adapters.icebergmv.spark.seed_values import statement_of
from dbt.adapters.icebergmv.spark.server import (
    Namespaces,
    ServerAddress,
    ServerRequest,
    check_catalog,
    check_own_session,
    check_reachable,
    check_server,
)
from dbt.adapters.icebergmv.spark.settings import DEFAULT_CATALOG
from dbt.adapters.icebergmv.spark.shared import SharedSessions
from dbt.adapters.icebergmv.spark.stopping import stopped_at

_SESSION_CATALOG = "spark_catalog"
_CALL_IN_THE_WAY_SECONDS = 5.0
_FIRST_WAIT, _LONGEST_WAIT, _WAIT_GROWS = 0.01, 0.5, 1.5
Answer = TypeVar("Answer")


class ThriftHandle:
    """dbt's connection. Opening it does nothing; the first statement opens a session on the server.

    `namespaces` lists those of the catalog that this process reads, None where it reads none.
    """

    def __init__(self, request: ServerRequest, secrets: tuple[str, ...], namespaces: Namespaces) -> None:
        self._request = request
        self._secrets = secrets
        self._namespaces = namespaces
        self._opened: Any = None
        # The client of the Hive protocol serves one call at a time; Ctrl-C comes in another thread.
        self._lock = threading.Lock()
        self._cursors: dict[int, ThriftCursor] = {}
        self._cancelled = False

    def cursor(self) -> ThriftCursor:
        """Return a new cursor, which is the one of this thread."""
        cursor = ThriftCursor(self._connection, self._lock, self._request.address, self._secrets)
        self._cursors[threading.get_ident()] = cursor
        return cursor

    def stopped_at(self, limit: Limit) -> AbstractContextManager[None]:
        """Stop what this thread runs inside, from a limit on."""
        thread = threading.get_ident()

        def stop() -> None:
            if thread in self._cursors:
                self._cursors[thread].cancel()

        return stopped_at(limit, stop)

    def cancel(self) -> None:
        """Stop the statements that run and let no other begin, called from another thread on Ctrl-C."""
        if self._cancelled:
            return
        self._cancelled = True
        # A server that has gone runs nothing.
        _alone(self._lock, self._cancel_all)

    def _cancel_all(self) -> None:
        for cursor in [*self._cursors.values()]:
            cursor.cancel_alone()

    def close(self) -> None:
        """End the session on the server."""
        if self._opened is not None:
            # The session ends with the connection anyway.
            _alone(self._lock, self._opened.close)
            self._opened = None

    def rollback(self) -> None:
        """Nothing to roll back: every statement is its own Iceberg commit."""

    def _connection(self) -> Any:
        if self._opened is None and not self._cancelled:
            try:
                opened = _connected(self._request)
                # A session that is not ready for statements is not kept.
                with ExitStack() as unless_ready:
                    unless_ready.callback(opened.close)
                    self._make_ready(opened)
                    unless_ready.pop_all()
            except SparkUnavailable as error:
                raise DbtRuntimeError(hide(str(error), self._secrets)) from shown_cause(error, self._secrets)
            self._opened = opened
        if self._cancelled:
            # The order may have come while the session was opened, when there was no statement to stop.
            raise DbtRuntimeError(INTERRUPTED)
        return self._opened

    def _make_ready(self, opened: Any) -> None:
        def run(sql: str) -> Sequence[Sequence[object]]:
            cursor = ThriftCursor(lambda: opened, self._lock, self._request.address, self._secrets)
            cursor.execute(sql)
            return cursor.fetchall()

        def check() -> bool:
            check_server(self._request, run)
            check_own_session(self._request, run)
            check_catalog(self._request, run, self._namespaces)
            return True

        _servers_checked.get(self._request, check)
        # A session begins in the namespace `default`, of the server's default catalog; from another catalog, the way
        # into ours leads to its own default namespace.
        for catalog in (_SESSION_CATALOG, self._request.catalog):
            run(f"SET CATALOG {identifier(catalog)}")


class ThriftCursor:
    """One statement and its rows. What the server refuses, and a lost connection, leave it as DbtDatabaseError."""

    def __init__(
        self, connect: Callable[[], Any], lock: threading.Lock, address: ServerAddress, secrets: tuple[str, ...]
    ) -> None:
        self._connect = connect
        self._lock = lock
        self._address = address
        self._secrets = secrets
        self._cursor: Any = None
        self._description: list[ColumnDescription] | None = None

    def execute(self, sql: str, bindings: Sequence[object] | None = None) -> None:
        """Run one statement and wait for its end."""
        statement = statement_of(sql, bindings)
        connection = self._connect()
        self._cursor, self._description = connection.cursor(), None
        self._call(lambda: self._cursor.execute(statement, async_=True))
        try:
            self._wait()
        except ServerLost:
            raise
        except DbtDatabaseError:
            # Otherwise the server keeps what is left of the statement until the session ends.
            _alone(self._lock, self._cursor.close)
            raise

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return the rows not fetched yet, none of a command; the server keeps nothing of the statement then."""
        rows = self._rows(lambda cursor: cursor.fetchall())
        _alone(self._lock, self._cursor.close)
        return rows

    def fetchmany(self, size: int) -> list[tuple[Any, ...]]:
        """Return up to `size` rows."""
        return self._rows(lambda cursor: cursor.fetchmany(size))

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, None after the last."""
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def cancel(self) -> None:
        """Stop the statement on the server."""
        # A server that has gone runs nothing.
        _alone(self._lock, self.cancel_alone)

    def cancel_alone(self) -> None:
        """Stop the statement on the server, for who has the lock."""
        if self._cursor is not None:
            with suppress(Exception):
                _cancel(self._cursor)

    def close(self) -> None:
        """Let go of the rows."""
        if self._cursor is not None:
            # The server lets go of them with the session at the latest.
            _alone(self._lock, self._cursor.close)
            self._cursor = None

    @property
    def description(self) -> list[ColumnDescription]:
        """The columns of the result, as the Python database API wants them.

        The protocol knows no precision of a decimal, and arrays, maps and structs as text.
        """
        if self._description is None:
            found = None if self._cursor is None else self._call(lambda: self._cursor.description)
            self._description = [
                (name, kind.removesuffix("_TYPE").lower(), None, None, None, None, True)
                for name, kind, *_ in found or ()
            ]
        return self._description

    def _rows(self, fetch: Callable[[Any], list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
        return self._call(lambda: fetch(self._cursor)) if self.description else []

    def _wait(self) -> None:
        from TCLIService.ttypes import TOperationState  # noqa: PLC0415 - comes with the packages of `thrift`

        pause = _FIRST_WAIT
        while True:
            status = self._call(lambda: self._cursor.poll(get_progress_update=False))
            if status.operationState == TOperationState.FINISHED_STATE:
                return
            if status.operationState not in {
                TOperationState.INITIALIZED_STATE,
                TOperationState.PENDING_STATE,
                TOperationState.RUNNING_STATE,
            }:
                state = TOperationState._VALUES_TO_NAMES[status.operationState].removesuffix("_STATE").lower()
                raise DbtDatabaseError(
                    hide(first_message(status.errorMessage or f"The statement was {state}"), self._secrets)
                )
            time.sleep(pause)
            pause = min(pause * _WAIT_GROWS, _LONGEST_WAIT)

    def _call(self, action: Callable[[], Answer]) -> Answer:
        """Call the server; the statement is not sent again, because it may have done its work."""
        from pyhive.exc import Error  # noqa: PLC0415 - comes with the packages of `thrift`
        from thrift.Thrift import TException  # noqa: PLC0415

        try:
            with self._lock:
                return action()
        except Error as error:
            raise DbtDatabaseError(hide(_refusal(error), self._secrets)) from shown_cause(error, self._secrets)
        except (TException, OSError, EOFError) as error:
            raise ServerLost(lost(self._address, str(error) or type(error).__name__)) from error


def _cancel(cursor: Any) -> None:
    """Cancel the operation of a cursor, if it has one: to cancel none leaves the connection out of step."""
    if getattr(cursor, "_operationHandle", None) is not None:
        cursor.cancel()


def _alone(lock: threading.Lock, action: Callable[[], object]) -> None:
    """Do what the end of a session does as well, unless a call that gets no answer is in the way."""
    if lock.acquire(timeout=_CALL_IN_THE_WAY_SECONDS):
        try:
            with suppress(Exception):
                action()
        finally:
            lock.release()


_servers_reached: SharedSessions[bool] = SharedSessions(lambda _: True)
_servers_checked: SharedSessions[bool] = SharedSessions(lambda _: True)


def _connected(request: ServerRequest) -> Any:
    try:
        from pyhive import hive  # noqa: PLC0415 - comes with the packages of `thrift`

        from dbt.adapters.icebergmv.spark.thrift_transport import transport  # noqa: PLC0415
    except ImportError as error:
        raise SparkUnavailable(
            f"Cannot use `method: thrift`: {error}. Run `pip install 'dbt-icebergmv[thrift]'`."
        ) from error
    address = request.address

    def reached() -> bool:
        check_reachable(address)
        return True

    _servers_reached.get(address, reached)
    # The server takes plain keys for Hive's; with this prefix they are Spark's, for this session alone.
    settings = {f"set:hiveconf:{key}": value for key, value in request.settings if key != DEFAULT_CATALOG}
    try:
        return hive.connect(thrift_transport=transport(address), username=address.user, configuration=settings)
    except Exception as error:
        # PyHive, Thrift, SASL and Kerberos raise kinds of their own.
        raise SparkUnavailable(
            f"Cannot open a session on the {address}: {_refusal(error)}. "
            "Check `user`, `auth`, `password` and `use_ssl` in the profile, and the log of the server."
        ) from error


def _refusal(error: Exception) -> str:
    """Return what the server says; PyHive's errors hold its whole answer."""
    status = getattr(error.args[0], "status", None) if error.args else None
    return first_message(getattr(status, "errorMessage", None) or str(error) or type(error).__name__)
