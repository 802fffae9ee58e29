"""A session on a Spark Connect server. No JVM starts in this process, and no Java is needed."""

from __future__ import annotations

import atexit
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import uuid4

from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.icebergmv.spark.cursor import JobTags
from dbt.adapters.icebergmv.spark.errors import SparkUnavailable, is_lost, spark_errors, spark_message
from dbt.adapters.icebergmv.spark.server import (
    Namespaces,
    ServerAddress,
    ServerRequest,
    check_catalog,
    check_reachable,
    check_server,
)
from dbt.adapters.icebergmv.spark.shared import SharedSessions

if TYPE_CHECKING:
    from pyspark.sql.connect.client import ChannelBuilder
    from pyspark.sql.connect.session import SparkSession

_RETRIES = 5
"""How often a request is sent again to a server that does not answer; waits grow fourfold, to twenty seconds in all."""

FIRST_ANSWER_SECONDS = 30
"""How long a server may take for the first request, which needs no Spark."""

_ASKED_EVERY_MS = 310_000
"""How often a silent server is asked for a sign of life; by gRPC's defaults it takes offence at less than 5 minutes."""

JOB_TAGS = JobTags(
    add=lambda session, tag: session.addTag(tag),
    remove=lambda session, tag: session.removeTag(tag),
    cancel=lambda session, tag: session.interruptTag(tag),
)


def connect_session(request: ServerRequest, namespaces: Namespaces) -> SparkSession:
    """Return this process's session on the server, opening it at the first call.

    `namespaces` lists those of the catalog that this process reads, None where it reads none. Raises SparkUnavailable.
    """
    return _sessions.get(request, lambda: _opened(request, namespaces))


def connect_url(address: ServerAddress) -> str:
    """Return the address as Spark Connect's clients take it."""
    options = {"use_ssl": "true" if address.use_ssl else None, "token": address.token, "user_id": address.user}
    given = "".join(f";{key}={quote(value, safe='')}" for key, value in options.items() if value)
    return f"sc://{address.place}/{given}"


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


def _opened(request: ServerRequest, namespaces: Namespaces) -> SparkSession:
    try:
        from pyspark.sql.connect.client import DefaultChannelBuilder  # noqa: PLC0415 - need the packages of `connect`
        from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415
        from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise SparkUnavailable(
            f"Cannot use `method: connect`: {error}. Run `pip install 'dbt-icebergmv[connect]'`."
        ) from error

    def run(sql: str) -> Sequence[Sequence[object]]:
        try:
            return session.sql(sql).collect()
        except spark_errors() as error:
            raise DbtDatabaseError(spark_message(error)) from error

    check_reachable(request.address)
    channel = DefaultChannelBuilder(connect_url(request.address), [("grpc.keepalive_time_ms", _ASKED_EVERY_MS)])
    _check_answers(request.address, channel)
    # Made so, it is the default session, which functions of columns in Python models look for.
    session = SparkSession.builder.channelBuilder(channel).create()
    # Nothing is sent twice before the server has answered: what is wrong with the address does not mend itself.
    session.client.set_retry_policies([])
    try:
        check_server(request, run)
        _set(session, request)
        check_catalog(request, run, namespaces)
    except SparkUnavailable:
        _release(session)
        raise
    except (*spark_errors(), DbtDatabaseError) as error:
        _abandon(session)
        raise _unusable(request.address, spark_message(error)) from error
    session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    atexit.register(_release, session)
    # PySpark writes one long JSON record to the console for every failed query; dbt reports the error itself.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    return session


def _check_answers(address: ServerAddress, channel: ChannelBuilder) -> None:
    """Send one request that needs no Spark, with an end to waiting: PySpark's own requests have none.

    Raises SparkUnavailable.
    """
    import grpc  # type: ignore[import-untyped]  # noqa: PLC0415 - need the packages of `connect`
    from pyspark.sql.connect import proto  # noqa: PLC0415

    # The end of a session that never was.
    request = proto.ReleaseSessionRequest(session_id=str(uuid4()), client_type=channel.userAgent)
    if channel.userId:
        request.user_context.user_id = channel.userId
    opened = channel.toChannel()
    try:
        call = proto.SparkConnectServiceStub(opened).ReleaseSession
        call(request, timeout=FIRST_ANSWER_SECONDS, metadata=channel.metadata())
    except grpc.RpcError as error:
        if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            raise SparkUnavailable(
                f"Cannot use the {address}: it takes connections and has not answered a request for "
                f"{FIRST_ANSWER_SECONDS} seconds. See the log of the server, start it again if it hangs, and check "
                "that a Spark Connect server is what listens there."
            ) from error
        if error.code() is grpc.StatusCode.UNAVAILABLE:
            raise _unusable(address, error.details()) from error
        # Any other answer is one; what the server has against us, it says again of the first real request.
    finally:
        opened.close()


def _unusable(address: ServerAddress, cause: str) -> SparkUnavailable:
    return SparkUnavailable(
        f"Cannot use the {address}: {cause}. "
        "Check `port`, `token` and `use_ssl` in the profile, and the log of the server."
    )


def _set(session: SparkSession, request: ServerRequest) -> None:
    for key, value in request.settings:
        try:
            session.conf.set(key, value)
        except spark_errors() as error:
            if is_lost(error):
                raise
            raise SparkUnavailable(
                f"Cannot use the {request.address}: it does not take the setting `{key}` "
                f"({spark_message(error).rstrip('.')}). Correct it in `server_side_parameters`."
            ) from error


def _is_alive(session: SparkSession) -> bool:
    return not session.is_stopped


_sessions = SharedSessions(_is_alive)
