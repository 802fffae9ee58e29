"""dbt's connection manager: which way to Spark the profile asks for."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.catalog_readers import reader_for
from dbt.adapters.icebergmv.credentials import IcebergMVCredentials
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.catalog.secrets import hide, shown_cause
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable
from dbt.adapters.icebergmv.spark import connect
from dbt.adapters.icebergmv.spark.cursor import TAGS_IN_THIS_PROCESS, SessionHandle
from dbt.adapters.icebergmv.spark.errors import database_error, spark_errors
from dbt.adapters.icebergmv.spark.settings import SparkRequest
from dbt.adapters.icebergmv.spark.thrift import ThriftHandle

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class IcebergMVConnectionManager(SparkConnectionManager):
    """Opens handles that start Spark only when a statement comes."""

    TYPE = "icebergmv"

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Give the connection a handle; Spark is not started here."""
        if connection.state != ConnectionState.OPEN:
            credentials = cast(IcebergMVCredentials, connection.credentials)
            connection.handle = new_handle(credentials)
            connection.state = ConnectionState.OPEN
        return connection

    def cancel_open(self) -> list[str]:
        """Cancel the connections of all other threads; one that several threads have is named once."""
        return list(dict.fromkeys(super().cancel_open()))

    @contextmanager
    def exception_handler(self, sql: str) -> Generator[None, None, None]:  # noqa: ARG002 - dbt's signature
        """Turn whatever a statement raises into a dbt error with a readable message."""
        try:
            yield
        except DbtRuntimeError:
            raise
        except Exception as error:
            # dbt reports its own errors in one line, and any other with a stack trace as a defect of dbt.
            secrets = cast(IcebergMVCredentials, self.profile.credentials).secrets()
            cause = shown_cause(error, secrets)
            if isinstance(error, spark_errors()):
                raise database_error(error, secrets) from cause
            raise DbtRuntimeError(hide(str(error) or type(error).__name__, secrets)) from cause


def direct_reader(credentials: IcebergMVCredentials, catalog: str) -> CatalogReader:
    """Return the reader of a catalog that PyIceberg opens in this process. Raises CatalogUnavailable."""
    return reader_for(credentials.described_catalog(catalog))


def new_handle(credentials: IcebergMVCredentials) -> SessionHandle | ThriftHandle:
    """Return a handle on Spark as the profile describes it; nothing is started or opened."""
    secrets = credentials.secrets()

    def namespaces() -> list[str] | None:
        try:
            is_read_here = credentials.catalog_reader != "spark"
            return direct_reader(credentials, credentials.database).namespaces() if is_read_here else None
        except CatalogUnavailable:
            # Nothing is read here, or whoever reads it says why it cannot be.
            return None

    match credentials.method:
        case "connect":
            server = credentials.server_request()
            return SessionHandle(
                lambda: connect.connect_session(server, namespaces), secrets, connect.JOB_TAGS, connect.leave_if_lost
            )
        case "thrift":
            return ThriftHandle(credentials.server_request(), secrets, namespaces)
        case _:
            request = credentials.spark_request()
            return SessionHandle(lambda: _session(request), secrets, TAGS_IN_THIS_PROCESS)


def _session(request: SparkRequest) -> SparkSession:
    """Return the session of this process. PySpark is imported here: a run with nothing to do goes without it."""
    from dbt.adapters.icebergmv.spark.session import spark_session  # noqa: PLC0415

    return spark_session(request)
