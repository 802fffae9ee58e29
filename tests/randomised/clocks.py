"""Clocks: views that read one, the moments at which they are refreshed, and what they mean at a moment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock
from dbt.adapters.icebergmv.maintenance.status.session.clock import clock_of
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import TIME_ZONE

MOMENTS = [
    "2024-01-01T12:00:00+00:00",
    "2024-01-02T00:00:00+00:00",
    "2024-01-01T02:00:00+00:00",
    "2023-12-31T23:59:59.999999+00:00",
    "2024-01-01T19:00:00+00:00",
    "2024-01-01T12:00:00.000001+00:00",
    "2024-02-29T12:00:00+00:00",
    "2024-03-01T04:30:00+00:00",
    "1970-01-01T00:00:00+00:00",
]
"""Around the values that tables hold, and around midnight in every zone; the clock may go back."""

OF_TYPE = {
    "date": (
        "{key} >= current_date",
        "{key} < current_date() - 1 OR {measure} > 3",
        "{key} BETWEEN date_add(curdate(), -2) AND current_date",
        "NOT ({key} > Current_Date)",
        "nullif({key} <= current_date, false)",
        "{key} = current_date OR {key} IS NULL",
        "{key} >= current_date - INTERVAL 1 day AND {measure} > 0 AND {key} < current_date + INTERVAL 1 day",
        "date_trunc('month', current_date) <= {key}",
    ),
    "timestamp": (
        "CAST({key} AS date) = current_date",
        "{key} < now()",
        "{key} >= current_timestamp() - INTERVAL 1 day",
        "nullif({key} <= current_timestamp, false) AND CAST({key} AS date) >= current_date - 1",
        "NOT ({key} > current_timestamp OR {measure} > 3)",
        "CAST({key} AS timestamp_ntz) < localtimestamp()",
    ),
}
OF_ANY = ("{measure} % 3 = day(current_date) % 3", "coalesce({measure}, 1) > day(current_date) - 3")
"""Predicates over the key and the measure of a relation."""

_CALLS = re.compile(r"\b(?:(current_date|curdate)|(now|current_timestamp)|(localtimestamp))\b(?:\(\))?", re.IGNORECASE)


def reads_clock(sql: str) -> bool:
    """Return whether a definition reads the clock."""
    return _CALLS.search(sql) is not None


def clock_at(moment: str, zone: str) -> Clock:
    """Return what clock functions give at a moment in a session."""
    found = clock_of({TIME_ZONE: zone}, datetime.fromisoformat(moment))
    assert found is not None
    return found


def at(sql: str, clock: Clock) -> str:
    """Return what a definition means at a moment, in the words of Spark."""
    types: Mapping[int, str] = {1: "date", 2: "timestamp", 3: "timestamp_ntz"}
    return _CALLS.sub(lambda m: f"{types[m.lastindex or 0].upper()} '{clock[types[m.lastindex or 0]]}'", sql)
