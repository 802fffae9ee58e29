"""Statements of the catalog reader over Spark: through dbt's connection of the thread, or one of their own."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dbt.adapters.contracts.connection import ConnectionState
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable

if TYPE_CHECKING:
    from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager
    from dbt.adapters.icebergmv.spark.cursor import SessionHandle
    from dbt.adapters.icebergmv.spark.thrift import ThriftHandle


class SparkStatements:
    """Runs statements for any thread, those of one thread in one session.

    What Spark refuses is CatalogUnavailable, with all that it says. Views of a schema are read by threads that dbt
    knows nothing of; `opened` gives a handle for such a thread, which another may have when the thread has ended.
    """

    def __init__(
        self, connections: IcebergMVConnectionManager, opened: Callable[[], SessionHandle | ThriftHandle]
    ) -> None:
        self._connections = connections
        self._opened = opened
        self._idle: deque[SessionHandle | ThriftHandle] = deque()
        self._of_thread = threading.local()

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        """Run one statement and return its rows."""
        connection = self._connections.get_if_exists()
        try:
            if connection is None or connection.state not in {ConnectionState.INIT, ConnectionState.OPEN}:
                return self._run(sql)
            _, cursor = self._connections.add_query(sql, auto_begin=False, abridge_sql_log=True)
            return [tuple(row) for row in cursor.fetchall()]
        except DbtRuntimeError as error:
            raise CatalogUnavailable(str(error.msg)) from error

    def _run(self, sql: str) -> Sequence[Sequence[object]]:
        loan: _Loan | None = getattr(self._of_thread, "loan", None)
        if loan is None:
            loan = self._of_thread.loan = _Loan(self._idle, self._opened)
        try:
            cursor = loan.handle.cursor()
            cursor.execute(sql)
            return [tuple(row) for row in cursor.fetchall()]
        except DbtRuntimeError:
            # The connection may be lost; the next statement opens another.
            loan.handle.close()
            raise


class _Loan:
    """A handle of a thread. Python forgets the loan when the thread ends, and the handle is idle again."""

    def __init__(
        self, idle: deque[SessionHandle | ThriftHandle], opened: Callable[[], SessionHandle | ThriftHandle]
    ) -> None:
        try:
            self.handle = idle.pop()
        except IndexError:
            self.handle = opened()
        weakref.finalize(self, idle.append, self.handle)
