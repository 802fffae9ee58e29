"""A session on a Spark Connect server. No JVM starts in this process, and no Java is needed."""

from __future__ import annotations

import atexit
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.icebergmv.spark.errors import SPARK_ERRORS, SparkUnavailable, is_lost, spark_message
from dbt.adapters.icebergmv.spark.server import (
    ServerAddress,
    ServerRequest,
    check_catalog,
    check_reachable,
    check_server,
)
from dbt.adapters.icebergmv.spark.shared import SharedSessions

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

_RETRIES = 5
"""How often a request is sent again to a server that does not answer; waits grow fourfold, to twenty seconds in all."""


def connect_session(request: ServerRequest) -> SparkSession:
    """Return this process's session on the server, opening it at the first call. Raises SparkUnavailable."""
    return _sessions.get(request, lambda: _opened(request))


def connect_url(address: ServerAddress) -> str:
    """Return the address as Spark Connect's clients take it."""
    options = {"use_ssl": "true" if address.use_ssl else None, "token": address.token, "user_id": address.user}
    given = "".join(f";{key}={quote(value, safe='')}" for key, value in options.items() if value)
    return f"sc://{address.host}:{address.port}/{given}"


def leave_if_lost(session: SparkSession, error: Exception) -> None:
    """Close a session whose server does not answer, so that nothing else waits for it; the next call opens another."""
    if is_lost(error):
        _abandon(session)


def _abandon(session: SparkSession) -> None:
    session.release_session_on_close = False
    session.stop()


def _release(session: SparkSession) -> None:
    session.client.set_retry_policies([])
    session.stop()


def _opened(request: ServerRequest) -> SparkSession:
    try:
        from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415 - needs the packages of `connect`
        from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise SparkUnavailable(
            f"Cannot use `method: connect`: {error}. Run `pip install 'dbt-icebergmv[connect]'`."
        ) from error

    def run(sql: str) -> Sequence[Sequence[object]]:
        try:
            return session.sql(sql).collect()
        except SPARK_ERRORS as error:
            raise DbtDatabaseError(spark_message(error)) from error

    check_reachable(request.address)
    # Made so, it is the default session, which functions of columns in Python models look for.
    session = SparkSession.builder.remote(connect_url(request.address)).create()
    # Nothing is sent twice before the server has answered: what is wrong with the address does not mend itself.
    session.client.set_retry_policies([])
    try:
        check_server(request, run)
        for key, value in request.settings:
            session.conf.set(key, value)
        check_catalog(request, run)
    except (*SPARK_ERRORS, DbtDatabaseError) as error:
        _abandon(session)
        raise SparkUnavailable(
            f"Cannot use the {request.address}: {spark_message(error)}. "
            "Check `token` and `use_ssl` in the profile, and the log of the server."
        ) from error
    session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    atexit.register(_release, session)
    # PySpark writes one long JSON record to the console for every failed query; dbt reports the error itself.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    return session


def _is_alive(session: SparkSession) -> bool:
    return not session.is_stopped


_sessions = SharedSessions(_is_alive)
