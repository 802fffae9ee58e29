"""Is a materialized view older than it may be? For the test `materialized_view_is_fresh`; only the catalog is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from datetime import datetime, timezone

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.errors import NotReadable, StateUnreadable
from dbt.adapters.icebergmv.maintenance.reports.view_status import ViewStatus, stored_status
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, string_literal
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import ago, span
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect_recorded
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import found_view


@dataclass(frozen=True)
class Overdue:
    """One reason why a view is not as fresh as it has to be.

    `base_table` is the table that changed, None where it is the view itself; `stale_since` (UTC) is None where the view
    has no rows that could be stale.
    """

    materialized_view: str
    base_table: str | None
    change: str
    stale_since: str | None
    allowed: str

    def __str__(self) -> str:
        """Return what people read."""
        what = self.change if self.base_table is None else f"{self.base_table}: {self.change}"
        since = "" if self.stale_since is None else f" is stale since {self.stale_since}, which may be {self.allowed}"
        return f"{self.materialized_view}{since}: {what}"


def overdue(catalog: CatalogReader, name: TableName, allowed: int, now: datetime) -> tuple[Overdue, ...]:
    """Return why a view is older at a time than it may be, in seconds; nothing where it is not.

    It is judged by the SELECT that its rows were built with. A view is never too old while its base tables are as its
    last refresh read them. Raises CatalogUnavailable.
    """
    if found_view(catalog, name) is None:
        return (_no_rows(name, "it was never built", allowed),)
    try:
        found = stored_status(inspect_recorded(catalog, name), now)
    except (NotReadable, StateUnreadable) as error:
        return (_no_rows(name, error.cause, allowed),)
    if found.state == "lost":
        return (_no_rows(name, "its stored rows are gone", allowed),)
    if found.lag_seconds is None:
        why = f"nobody knows since when it is stale, as by the clock its last refresh ({found.refreshed_at}) is to come"
        return (_no_rows(name, why, allowed),)
    if not found.lag_seconds or found.lag_seconds <= allowed:
        return ()
    return tuple(_reasons(found, span(allowed)))


def overdue_sql(found: Sequence[Overdue]) -> str:
    """Return a query that gives a row for each reason, and reads no table."""
    columns = [identifier(field.name) for field in fields(Overdue)]
    rows = [[_text(value) for value in astuple(one)] for one in found] or [["CAST(NULL AS STRING)"] * len(columns)]
    selects = [", ".join(f"{text} AS {name}" for text, name in zip(row, columns, strict=True)) for row in rows]
    return "\nUNION ALL\n".join(f"SELECT {items}{'' if found else ' WHERE false'}" for items in selects)


def _reasons(found: ViewStatus, allowed: str) -> list[Overdue]:
    since = datetime.fromisoformat(found.stale_since or "").astimezone(timezone.utc)
    at = f"{since:%Y-%m-%d %H:%M:%S} UTC ({ago(found.lag_seconds or 0)})"
    changes = [(base.name, base.change) for base in found.base_tables if base.change is not None]
    own = [said for said in (found.clock, found.limits) if said is not None]
    if not changes and not own:
        own = ["its SELECT gives other rows now"]
    said: list[tuple[str | None, str]] = [*changes, *((None, words) for words in own)]
    return [Overdue(found.name, table, change, at, allowed) for table, change in said]


def _no_rows(name: TableName, why: str, allowed: int) -> Overdue:
    return Overdue(show(name), None, why, None, span(allowed))


def _text(value: str | None) -> str:
    return "CAST(NULL AS STRING)" if value is None else string_literal(value)
