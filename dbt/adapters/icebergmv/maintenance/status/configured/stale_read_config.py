"""What a reader gets when base tables have moved on: `stale_read_behavior` and the settings that go with it."""

from __future__ import annotations

from typing import Literal

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.status.configured.config_words import one_of
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import time_span

StaleReadBehavior = Literal["use_data_table", "use_stitching", "use_view_query", "fail"]
_BEHAVIORS: tuple[StaleReadBehavior, ...] = ("use_data_table", "use_stitching", "use_view_query", "fail")
LIVE: frozenset[StaleReadBehavior] = frozenset({"use_stitching", "use_view_query"})
"""Behaviours under which a view always shows the current result, as a plain view does."""

DEFINITION_BELOW_ROWS = 3_000_000
"""Spark computes fewer rows than this of each table in less time than it takes to look for what changed in it.

`python -m benchmarks.stitching --only joins` measures where that is so.
"""


def stale_read_behavior(value: object) -> StaleReadBehavior:
    """Return a behaviour. Raises InvalidConfig for a word that is none."""
    return one_of(_BEHAVIORS, "stale_read_behavior", value)


def staleness_window(value: object) -> int | None:
    """Return the seconds of a window such as `15 minutes`; None for none. Raises InvalidConfig."""
    return time_span("staleness_window", value)


def definition_below_rows(value: object) -> int:
    """Return below how many rows of a base table, on average, readers get the definition; None: the default.

    Raises InvalidConfig for what is no such number.
    """
    if value is None:
        return DEFINITION_BELOW_ROWS
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidConfig(
            f"definition_below_rows is {value!r}. Give a number of rows; with 0 stored rows are always looked at first."
        )
    return value
