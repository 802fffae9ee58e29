"""Every error the engine raises, as one tree.

Each message says what cannot be done, why, and how to mend it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class MaintenanceError(Exception):
    """Root of the tree: catch this to catch everything the engine reports to a person.

    `cause` is a clause and, after a full stop, the mend. `subject` is what cannot be done ("Cannot refresh lake.a.v");
    whoever raises the error often does not know it, so `naming` adds it further out.
    """

    def __init__(self, cause: str, subject: str | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.subject = subject

    def __str__(self) -> str:
        return self.cause if self.subject is None else f"{self.subject}: {self.cause}"


@contextmanager
def naming(verb: str, name: str) -> Iterator[None]:
    """Give every error raised inside the subject "Cannot <verb> <name>", unless it has one."""
    try:
        yield
    except MaintenanceError as error:
        if error.subject is None:
            error.subject = f"Cannot {verb} {name}"
        raise


class SparkLost(MaintenanceError):
    """Spark went away: no answer to a question, and no reason to do anything else instead."""


class QueryStopped(MaintenanceError):
    """A query is not wanted any more. Nobody sees it: what the query is for is done without its answer."""

    def __init__(self) -> None:
        super().__init__("a query is not wanted any more")


class CatalogUnavailable(MaintenanceError):
    """The catalog, or a file it points to, cannot be read."""


class InvalidCatalog(CatalogUnavailable):
    """The settings do not describe a catalog that can be opened and read."""


class InvalidDefinition(MaintenanceError):
    """The SELECT of a materialized view cannot be materialized as written."""


class InvalidConfig(MaintenanceError):
    """A configuration value is not one the product knows."""


class TableNotUnderstood(CatalogUnavailable):
    """The metadata of a table or view hold something that PyIceberg does not know, such as a type."""


class StateUnreadable(MaintenanceError):
    """What is recorded with a materialized view cannot be used."""


class RefreshRefused(MaintenanceError):
    """The refresh policy forbids the only refresh that would be right."""


class RefreshConflict(MaintenanceError):
    """Another writer moved the storage table or the view during a refresh; nothing was published."""


class NotReadable(MaintenanceError):
    """The current rows of a materialized view cannot be known here."""


def first_line(error: Exception) -> str:
    """Return the first line of what an error says, short enough for a message.

    dbt's errors put what kind they are before their message.
    """
    lines = str(getattr(error, "msg", error)).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:300].rstrip(".")
