"""dbt's connection manager for Spark inside the dbt process."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import cast

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.spark.connections import SparkConnectionManager
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.credentials import IcebergMVCredentials
from dbt.adapters.icebergmv.invocation import log_folder
from dbt.adapters.icebergmv.spark.cursor import SessionHandle
from dbt.adapters.icebergmv.spark.errors import SPARK_ERRORS, database_error
from dbt.adapters.icebergmv.spark.session import SparkRequest


class IcebergMVConnectionManager(SparkConnectionManager):
    """Opens handles that start Spark only when a statement comes."""

    TYPE = "icebergmv"

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Give the connection a handle; Spark is not started here."""
        if connection.state != ConnectionState.OPEN:
            credentials = cast(IcebergMVCredentials, connection.credentials)
            connection.handle = SessionHandle(spark_request(credentials), credentials.secrets())
            connection.state = ConnectionState.OPEN
        return connection

    @contextmanager
    def exception_handler(self, sql: str) -> Generator[None, None, None]:  # noqa: ARG002 - dbt's signature
        """Turn whatever a statement raises into a dbt error with a readable message."""
        try:
            yield
        except DbtRuntimeError:
            raise
        except SPARK_ERRORS as error:
            raise database_error(error, cast(IcebergMVCredentials, self.profile.credentials).secrets()) from error
        except Exception as error:
            # dbt reports its own errors in one line, and any other with a stack trace as a defect of dbt.
            raise DbtRuntimeError(str(error) or type(error).__name__) from error


def spark_request(credentials: IcebergMVCredentials) -> SparkRequest:
    """Return what the profile asks of Spark."""
    return SparkRequest(
        catalog=credentials.catalog_settings(credentials.database),
        schema=credentials.schema,
        parameters=tuple(credentials.server_side_parameters.items()),
        jars=tuple(credentials.jars),
        log_folder=str(log_folder()),
    )
