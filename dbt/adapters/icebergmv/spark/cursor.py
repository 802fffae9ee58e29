"""dbt's connection to a Spark session, in this process or behind Spark Connect.

A handle costs nothing until its first statement.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.maintenance.catalog.secrets import hide, shown_cause
from dbt.adapters.icebergmv.maintenance.lake import Limit
from dbt.adapters.icebergmv.spark.errors import SparkUnavailable, database_error, spark_errors
from dbt.adapters.icebergmv.spark.instants import in_zone_of_session
from dbt.adapters.icebergmv.spark.seed_values import statement_of
from dbt.adapters.icebergmv.spark.stopping import stopped_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    Session: TypeAlias = SparkSession | ConnectSession
    Frame: TypeAlias = DataFrame | ConnectDataFrame

Answer = TypeVar("Answer")
ColumnDescription = tuple[str, str, None, None, None, None, bool]
INTERRUPTED = "Cannot run the statement: dbt was interrupted. Run again."
_CANCEL_AGAIN_SECONDS = 0.5


@dataclass(frozen=True)
class JobTags:
    """How the jobs of a connection are marked in its thread, and stopped from another one."""

    add: Callable[[Any, str], object]
    remove: Callable[[Any, str], object]
    cancel: Callable[[Any, str], object]


# A session in this process finds only the tags of the thread that asks; its context finds all.
TAGS_IN_THIS_PROCESS = JobTags(
    add=lambda session, tag: session.sparkContext.addJobTag(tag),
    remove=lambda session, tag: session.sparkContext.removeJobTag(tag),
    cancel=lambda session, tag: session.sparkContext.cancelJobsWithTag(tag),
)


class SessionHandle:
    """dbt's connection. Opening it starts nothing; the first statement does.

    `opened` gives the session, `tags` mark its jobs; `failed` is told of what a statement raised.
    """

    def __init__(
        self,
        opened: Callable[[], Session],
        secrets: tuple[str, ...],
        tags: JobTags,
        failed: Callable[[Any, Exception], None] = lambda *_: None,
    ) -> None:
        self._opened = opened
        self._tags = tags
        self._failed = failed
        self._secrets = secrets
        self._tag = f"dbt-{uuid.uuid4().hex}"
        self._session: Session | None = None
        self._cancelled = False
        self._closed = threading.Event()
        self._limits = threading.local()

    @contextmanager
    def stopped_at(self, limit: Limit) -> Iterator[None]:
        """Stop the jobs of what this thread runs inside, from a limit on."""
        self._limits.of_thread = limit
        try:
            yield
        finally:
            del self._limits.of_thread

    def cursor(self) -> SessionCursor:
        """Return a new cursor."""
        return SessionCursor(self.run)

    def run(self, action: Callable[[Session], Answer]) -> Answer:
        """Do something with the session; its jobs end when the connection is cancelled.

        Raises DbtRuntimeError when there is no Spark, DbtDatabaseError for what Spark raises.
        """
        session = self._connect()
        try:
            with self._tagged(session, self._tag), self._ending(session):
                return action(session)
        except spark_errors() as error:
            self._failed(session, error)
            raise database_error(error, self._secrets) from shown_cause(error, self._secrets)

    @contextmanager
    def _tagged(self, session: Session, tag: str) -> Iterator[None]:
        self._tags.add(session, tag)
        try:
            yield
        except BaseException:
            # A Java process that has ended takes no tag away, and what ended it is the error that counts.
            with suppress(Exception):
                self._tags.remove(session, tag)
            raise
        self._tags.remove(session, tag)

    @contextmanager
    def _ending(self, session: Session) -> Iterator[None]:
        """Stop the jobs that are begun inside, if they go on too long."""
        limit = getattr(self._limits, "of_thread", None)
        if limit is None:
            yield
            return
        tag = f"{self._tag}-{uuid.uuid4().hex}"

        def stop() -> None:
            # Whatever keeps it from being stopped, the question ends by itself.
            with suppress(Exception):
                self._tags.cancel(session, tag)

        with self._tagged(session, tag), stopped_at(limit, stop):
            yield

    def cancel(self) -> None:
        """Stop the Spark jobs of this connection, called from another thread on Ctrl-C."""
        if self._cancelled:
            return
        self._cancelled = True
        threading.Thread(target=self._cancel_jobs, daemon=True).start()

    def close(self) -> None:
        """Other connections share the session, which goes on; only an order to stop ends here."""
        self._closed.set()

    def rollback(self) -> None:
        """Nothing to roll back: every statement is its own Iceberg commit."""

    def _connect(self) -> Session:
        try:
            self._session = self._opened()
        except SparkUnavailable as error:
            raise DbtRuntimeError(hide(str(error), self._secrets)) from shown_cause(error, self._secrets)
        except spark_errors() as error:
            raise database_error(error, self._secrets) from shown_cause(error, self._secrets)
        if self._cancelled:
            # The order came while Spark was starting, when there was no job to stop.
            raise DbtRuntimeError(INTERRUPTED)
        return self._session

    def _cancel_jobs(self) -> None:
        """Cancel until the connection is closed: a statement that is still being planned has no job to cancel yet."""
        while not self._closed.is_set():
            if self._session is not None:
                try:
                    self._tags.cancel(self._session, self._tag)
                except spark_errors():
                    # Spark is gone, and its jobs with it.
                    return
            self._closed.wait(_CANCEL_AGAIN_SECONDS)


class SessionCursor:
    """One statement and its rows. Spark's exceptions leave it as DbtDatabaseError."""

    def __init__(self, run: Callable[[Callable[[Session], Any]], Any]) -> None:
        self._run = run
        self._frame: Frame | None = None
        self._rows: list[Row] | None = None

    def execute(self, sql: str, bindings: Sequence[object] | None = None) -> None:
        """Run one statement. Commands run at once; a query runs when its rows are fetched."""
        statement = statement_of(sql, bindings)
        self._rows = None
        self._frame = self._run(lambda session: session.sql(statement))

    def fetchall(self) -> list[Row]:
        """Return the rows not fetched yet."""
        rows, self._rows = self._loaded(None), []
        return rows

    def fetchmany(self, size: int) -> list[Row]:
        """Return up to `size` rows; the query itself is limited when nothing was fetched before."""
        rows = self._loaded(size)
        self._rows = rows[size:]
        return rows[:size]

    def fetchone(self) -> Row | None:
        """Return the next row, None after the last."""
        rows = self._loaded(None)
        self._rows = rows[1:]
        return rows[0] if rows else None

    def close(self) -> None:
        """Let go of the rows."""
        self._frame = None
        self._rows = None

    @property
    def description(self) -> list[ColumnDescription]:
        """The columns of the result, as the Python database API wants them."""
        if self._frame is None:
            return []
        fields = self._frame.schema.fields
        return [(f.name, f.dataType.simpleString(), None, None, None, None, f.nullable) for f in fields]

    def _loaded(self, limit: int | None) -> list[Row]:
        if self._rows is None and self._frame is not None:
            frame = self._frame
            self._rows = self._run(lambda _: _rows_of(frame, limit))
        return self._rows or []


def _rows_of(frame: Frame, limit: int | None) -> list[Row]:
    """Return the rows; fetching none of a command (no columns), which has run already, takes as long as a small job."""
    if not frame.columns:
        return []
    shown = in_zone_of_session(frame)
    return shown.collect() if limit is None else shown.take(limit)
