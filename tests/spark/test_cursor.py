"""Which statements have rows to fetch."""

from __future__ import annotations

from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql.types import LongType, StructField, StructType

from dbt.adapters.icebergmv.spark.connect import JOB_TAGS
from dbt.adapters.icebergmv.spark.cursor import SessionHandle
from dbt.adapters.icebergmv.spark.errors import SparkUnavailable


class Session:
    """A session in which every statement has the columns and rows given; `fetched` counts how often they are taken."""

    def __init__(self, columns: list[str], rows: list[Any]) -> None:
        self.columns = columns
        self.rows = rows
        self.fetched = 0
        self.schema = StructType([StructField(name, LongType()) for name in columns])

    def addTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
        """Take a tag."""

    def removeTag(self, tag: str) -> None:  # noqa: N802 - Spark's name
        """Take a tag away."""

    def sql(self, statement: str) -> Session:
        return self

    def collect(self) -> list[Any]:
        self.fetched += 1
        return self.rows

    def take(self, size: int) -> list[Any]:
        self.fetched += 1
        return self.rows[:size]


def cursor_on(session: Any) -> Any:
    cursor = SessionHandle(lambda: session, (), JOB_TAGS).cursor()
    cursor.execute("a statement")
    return cursor


@pytest.mark.parametrize("fetch", ["fetchall", "fetchone"])
def test_a_command_has_no_rows_to_fetch(fetch: str) -> None:
    session = Session([], [])
    assert not getattr(cursor_on(session), fetch)()
    assert session.fetched == 0


def test_a_query_is_fetched_once() -> None:
    session = Session(["a"], [1, 2, 3])
    cursor = cursor_on(session)
    assert (cursor.fetchone(), cursor.fetchmany(1), cursor.fetchall(), cursor.fetchall()) == (1, [2], [3], [])
    assert session.fetched == 1
    assert cursor_on(session).fetchmany(2) == [1, 2]


def test_what_a_start_failed_of_shows_no_secret() -> None:
    def opened() -> Any:
        raise SparkUnavailable("Cannot open https://bot:hunter22@nexus/x with t0ken!")

    with pytest.raises(DbtRuntimeError, match=r"https://bot:\*{5}@nexus/x with \*{5}"):
        SessionHandle(opened, ("t0ken!",), JOB_TAGS).cursor().execute("SELECT 1")
