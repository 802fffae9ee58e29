"""What all operations of `dbt run-operation` share: the formats of what they print, and their errors as dbt's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError

Format = Literal["table", "json"]
FORMATS: tuple[Format, ...] = ("table", "json")


@contextmanager
def operation(what: str) -> Iterator[None]:
    """Raise what is wrong as an error of dbt: what cannot be done, and why."""
    try:
        yield
    except MaintenanceError as error:
        raise DbtRuntimeError(f"{error.subject or f'Cannot {what}'}: {error.cause}") from error
