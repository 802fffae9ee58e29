"""Why Spark cannot be used, and what PySpark and py4j raise as one short, readable dbt error."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from dbt_common.exceptions import DbtDatabaseError
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

from dbt.adapters.icebergmv.maintenance.catalog.secrets import hide
from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError, SparkLost
from dbt.adapters.icebergmv.spark.drivers import lack_of_driver

_STACK_OR_PLAN = re.compile(r"\n\s*(?:at [\w.$/]+\(|JVM stacktrace|'?\w[\w ]*\[?.*\n\+- |Driver stacktrace)", re.DOTALL)
_RPC_DETAILS = re.compile(r'^\s*details = "(.*)"$', re.MULTILINE)
# A server that was started again knows no session of before; its client says so, or that it has closed itself.
_LOST = ("StatusCode.UNAVAILABLE", "INVALID_HANDLE.SESSION_", "[NO_ACTIVE_SESSION]", "Channel closed")
_CONTEXT_LIMIT = 4000
_NO_STORAGE = re.compile(r"\[TABLE_OR_VIEW_NOT_FOUND\][^\n]*`__mv_storage__([^`]+)`")
_UP_CAST = "[CANNOT_UP_CAST_DATATYPE]"
_OLD_VIEW = "A view that it reads was made when a column had another type. Run the model of that view again."


class SparkUnavailable(MaintenanceError):
    """Spark did not start, or the Spark that runs in this process cannot be used."""


class JarsUnavailable(SparkUnavailable):
    """A jar that Spark needs is neither given nor cached, and cannot be fetched."""


class JavaUnusable(SparkUnavailable):
    """There is no Java, or it is too old for Spark and Iceberg."""


class StatementInvalid(MaintenanceError):
    """A statement cannot be sent to Spark as it is."""


class ServerLost(SparkLost, DbtDatabaseError):
    """A server went away while a statement ran, or before."""

    # As dbt shows the errors of a database.
    __str__ = DbtDatabaseError.__str__


@cache
def spark_errors() -> tuple[type[Exception], type[Exception]]:
    """Return what PySpark and py4j raise. PySpark is imported here: a run with nothing to do goes without it."""
    from pyspark.errors import PySparkException  # noqa: PLC0415

    return PySparkException, Py4JError


def database_error(error: Exception, secrets: Iterable[str] = ()) -> DbtDatabaseError:
    """Return the dbt error for something that Spark raised; secrets in its text are masked."""
    message = hide(spark_message(error), secrets)
    return ServerLost(lost("Spark Connect server", message)) if is_lost(error) else DbtDatabaseError(message)


def is_lost(error: Exception) -> bool:
    """Return whether a Spark Connect server does not answer any more, or has forgotten the session."""
    return any(mark in str(error) for mark in _LOST)


def lost(server: object, cause: str) -> str:
    """Return what to say when a server went away while a statement ran."""
    return (
        f"The connection to the {server} was lost ({cause}). "
        "Check the server, then run again; a view shows its last refresh until a new one is finished."
    )


def spark_message(error: Exception) -> str:
    """Return what Spark has to say, without Java stack and query plan."""
    if isinstance(error, Py4JJavaError):
        text = _deepest_cause(error)
    elif isinstance(error, Py4JNetworkError):
        text = "Cannot reach Spark: its Java process has ended. See spark.log beside dbt's log, then run again."
    elif isinstance(error, DbtDatabaseError):
        text = str(error.msg)
    else:
        text = _rpc_details(str(error))
    return first_message(text) or type(error).__name__


def _rpc_details(text: str) -> str:
    """Return what a failed call to a Spark Connect server was told, of all that its client prints."""
    found = _RPC_DETAILS.search(text)
    return text if found is None else found.group(1)


def first_message(text: str) -> str:
    """Return what a text of Spark says before its Java stack and query plan."""
    message = lack_of_driver(text) or _STACK_OR_PLAN.split(text, maxsplit=1)[0].strip()[:_CONTEXT_LIMIT]
    lost = _NO_STORAGE.search(message)
    if lost is not None:
        return f"{message}\n{_dropped_storage(lost[1])}"
    return f"{message}\n{_OLD_VIEW}" if _UP_CAST in message else message


def _dropped_storage(view: str) -> str:
    """Return what to say of a table that a reader never asked for, by the name that storage tables have by default."""
    return (
        f"A table of this name holds the rows of the materialized view {view}. If it was dropped, run that model again."
    )


def _deepest_cause(error: Py4JJavaError) -> str:
    """Return the message of the innermost Java exception: the outer ones only say that a job was aborted."""
    cause = error.java_exception
    try:
        while cause.getCause() is not None:
            cause = cause.getCause()
        return f"{cause.getClass().getSimpleName()}: {cause.getMessage()}"
    except Py4JError:
        return str(error).split("\n", 1)[0]
