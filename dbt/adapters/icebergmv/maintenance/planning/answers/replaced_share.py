"""How many of the stored rows an overwrite replaces: asked of the storage table.

How many keys there are says little of that: each may have any number of rows, or none yet. An overwrite of many keys
reads the base tables whole, as their files hold keys in no order; so it saves only what is computed and written for the
other rows.
"""

from __future__ import annotations

from collections.abc import Iterable

from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.choice.reasons import changes
from dbt.adapters.icebergmv.maintenance.planning.cost.cost import NEARLY_EVERYWHERE
from dbt.adapters.icebergmv.maintenance.planning.cost.stored_share import most_within
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import (
    MOST_KEYS,
    TOO_LATE,
    Answer,
    NotListed,
    count_keys,
    rows_of,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import view_query
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.status import MaterializedViewStatus

MOST_REPLACED = 0.2
"""The share of stored rows from which a full refresh is taken to cost less than to replace them by many keys."""


def most_replaced(plan: Overwrite, answers: Iterable[Answer], nearly_all: float) -> float | None:
    """Return the share of stored rows from which a full refresh costs less; None where they need not be counted.

    `nearly_all` keys may be those of nearly all stored rows.
    """
    if are_of_many_keys(answers):
        return MOST_REPLACED
    return NEARLY_EVERYWHERE if count_keys(plan.region) >= nearly_all else None


def full_instead(
    plan: Overwrite, status: MaterializedViewStatus, stored: StoredRows, run: Spark, most: float
) -> Full | None:
    """Return the full refresh that costs less than an overwrite of more than a share of the stored rows, or None.

    Spark counts them only where the files that may hold some have more rows than that. It costs less, too, where the
    stored rows of many keys are not counted in time. Where counting fails otherwise, it is not known.
    """
    if not stored.row_count or most_within(plan.region, stored) <= most:
        return None
    columns = sorted({key.column for rows in plan.region for key, _ in rows.constraints})
    rows = view_query(stored.name, columns, stored.snapshot_id)
    found = rows_of(f"SELECT count(*) FROM ({rows}) WHERE {stored.where(plan.region)}", run)
    if found is TOO_LATE and most == MOST_REPLACED:
        return Full(f"the rows to replace could not be counted in time ({changes(status)})")
    if isinstance(found, NotListed):
        return None
    share = int(str(found[0][0])) / stored.row_count
    if share <= most:
        return None
    return Full(f"cheaper than an overwrite of {share:.0%} of the rows by their keys ({changes(status)})")


def are_of_many_keys(answers: Iterable[Answer]) -> bool:
    """Return whether some answer lists more keys than are literals."""
    rows = (one for answer in answers if isinstance(answer, tuple) for one in answer)
    return any(len(domain.ranges) > MOST_KEYS and domain.is_discrete for one in rows for _, domain in one.constraints)
