"""The adapter's side of `table`, `view` and `incremental` models: what their macros ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta, timezone
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import BaseRelation, available
from dbt.adapters.base.meta import AdapterMeta
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.listing import view_properties
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified, string_literal
from dbt.adapters.icebergmv.spark.seed_values import statement_of
from dbt.adapters.icebergmv.view_columns import takes_columns_of_tables

if TYPE_CHECKING:
    from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader


def batch_condition(event_time: str, type_: str, start: datetime, end: datetime) -> str:
    """Return the condition that a row of a table is of one batch, of microbatch models.

    `event_time` is a column of that type in the table. Iceberg can tell by it which files are of the batch, so the
    column stays bare. A time without zone is one in UTC, as for dbt. Raises ValueError for dates in batches of hours.
    """
    column = qualified(event_time)
    start, end = start.astimezone(timezone.utc), end.astimezone(timezone.utc)
    if type_ == "date":
        if end - start < timedelta(days=1):
            raise ValueError("a batch is shorter than a day, and `event_time` is a date. Use a timestamp.")
        days = [moment.date() + timedelta(days=moment.time() != time()) for moment in (start, end)]
        first, last = (f"date{string_literal(day.isoformat())}" for day in days)
    elif type_ == "timestamp_ntz":
        moments = (moment.replace(tzinfo=None) for moment in (start, end))
        first, last = (f"timestamp_ntz{string_literal(moment.isoformat(sep=' '))}" for moment in moments)
    else:
        texts = [string_literal(moment.isoformat(sep=" ")) for moment in (start, end)]
        first, last = (f"timestamp{text}" if type_ == "timestamp" else text for text in texts)
    return f"{column} >= {first} and {column} < {last}"


def time_in_batch(model: str, event_time: str, condition: str) -> str:
    """Return the value of a row's `event_time`, which raises where the condition is not true of the row."""
    message = (
        f"Cannot replace a batch of {model}: the SELECT gives rows whose `{event_time}` is outside of it, or NULL. "
        "Give the models that it reads an `event_time`, or leave these rows out."
    )
    return f"case when {condition} then {qualified(event_time)} else raise_error({string_literal(message)}) end"


def _moment(value: datetime | str) -> datetime:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


class BuiltModelsMixin(metaclass=AdapterMeta):
    """Methods that the materializations of dbt's own kinds call."""

    if TYPE_CHECKING:

        def catalog_reader_of(self, database: str | None) -> CatalogReader:
            """Return the reader of a catalog."""

    @available
    def takes_columns_of_tables(self, sql: str) -> bool:
        """Return whether a SELECT has some columns by `*` over a table."""
        return takes_columns_of_tables(sql)

    @available
    def without_semicolon(self, sql: str) -> str:
        """Return a statement as it can be put into another one."""
        return statement_of(sql, None)

    @available.parse(lambda *_, **__: [])
    def view_properties_of(self, relation: BaseRelation) -> list[str]:
        """Return the properties that make a table a materialized view of its own name, none for any other table."""
        reader = self.catalog_reader_of(relation.database)
        return view_properties(reader, str(relation.schema), str(relation.identifier))

    @available.parse(lambda *_, **__: "")
    def batch_condition(
        self, relation: BaseRelation, columns: Sequence[Any], event_time: str, batch: Mapping[str, Any]
    ) -> str:
        """Return the condition that a row of the relation is of a batch, as dbt describes it to the model.

        Raises DbtRuntimeError if the relation has no such column.
        """
        found = next((column for column in columns if column.name.lower() == event_time.lower()), None)
        if found is None:
            raise DbtRuntimeError(
                f"Cannot replace a batch of {relation.render()}: it has no column {event_time}. "
                "Let the model show the column that is its `event_time`."
            )
        try:
            start, end = (_moment(batch[key]) for key in ("event_time_start", "event_time_end"))
            return batch_condition(found.name, found.dtype.lower(), start, end)
        except ValueError as error:
            raise DbtRuntimeError(f"Cannot replace a batch of {relation.render()}: {error}") from error

    @available.parse(lambda *_, **__: "")
    def time_in_batch(self, relation: BaseRelation, event_time: str, condition: str) -> str:
        """Return the value that a batch writes as `event_time`: it raises for a row that is not of the batch."""
        return time_in_batch(relation.render(), event_time, condition)
