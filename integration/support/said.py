"""What dbt says to Spark, and in which thread."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import pytest

from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager


class Said(NamedTuple):
    """A statement with its comment, the thread that ran it, and the name of the connection."""

    thread: int
    connection: str
    sql: str


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[Said]:
    """Return the list that gets each statement from now on, until the test ends."""
    said: list[Said] = []
    add_query = IcebergMVConnectionManager.add_query

    def record(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        said.append(Said(threading.get_ident(), str(self.get_thread_connection().name), sql))
        return add_query(self, sql, *arguments, **named)

    monkeypatch.setattr(IcebergMVConnectionManager, "add_query", record)
    return said
