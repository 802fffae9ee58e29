"""Lists the changed rows of small tables before anything is planned.

Beside tables so large that to read them is dear, the changed rows of a small one are read first. The values that they
hold describe the change from then on, instead of its files: output columns follow them, and from an equality of a join
Spark infers them for the other side, so that large tables are not read beyond them either. Questions have the rows as
literals.

What two snapshots hold does not change, so the rows of a table are found out once for all views of a process, in all
columns; each view looks at those that it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import StaleDataConstraints
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import SIGN
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import (
    are_few,
    columns_used,
    counted_rows,
    primitive_columns,
)
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import Asker
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import (
    MOST_KEYS,
    NotListed,
    are_texts_known,
    most_keys,
    rows_of,
    value_of,
)
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, identifier
from dbt.adapters.icebergmv.maintenance.sql.spark_types import is_primitive
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import IcebergSource
from dbt.adapters.icebergmv.maintenance.status.tables.listed_rows import ListedRows

Known: TypeAlias = Remembered[ListedRows | None]
"""The changed rows of tables between two snapshots; None where they are too many, or hold what is not UTF-8."""

_CHARACTERS = 10_000_000
_OF_THIS_PROCESS: Known = Remembered(_CHARACTERS, lambda found: 100 if found is None else 100 + found.characters)
_AS_TEXT = {"binary": "hex({})"}


@dataclass(frozen=True)
class Listing:
    """What lists changed rows: Spark, the catalog whose functions it knows, and what this process knows already."""

    catalog_name: str
    run: Asker
    known: Known = _OF_THIS_PROCESS

    def status(
        self, definition: ViewDefinition, status: MaterializedViewStatus, references: Collection[int]
    ) -> MaterializedViewStatus:
        """Return the status in which the tables of these references list their changed rows, where these are few.

        Without a changed row they say that no row can be affected.
        """
        one = _OfOne(self, definition)
        wanted = [base for base in status.stale if base.is_among(references)]
        listed = iter(self.run.each(one.of, wanted))
        bases = tuple(next(listed) if base in wanted else base for base in status.base_tables)
        return replace(status, base_tables=bases)


@dataclass(frozen=True)
class _OfOne:
    """Lists the changed rows of tables that one definition reads."""

    listing: Listing
    definition: ViewDefinition

    def of(self, base: BaseTableStatus, run: Spark) -> BaseTableStatus:
        """Return the status of a stale table with its changed rows; as it is where they cannot be listed."""
        source = base.base.source
        read = {} if source is None else columns_used(self.definition, source, base.references)
        if source is None or not read or not _have_values(read):
            return base
        every, asked = primitive_columns(source), partial(self._asked, run, base, source)
        rows = None
        if are_few(base):
            # What several views want at the same time is found out once.
            before = None if base.recorded is None else base.recorded.version
            part = base.change.constraints if base.change.constraints.is_part else None
            key = (source.storage, before, source.version, part, *every.items())
            rows = _unless_unknown(lambda: self.listing.known.get(key, partial(asked, every)))
        if rows is None and not (are_few(base) and every == read):
            rows = _unless_unknown(partial(asked, read))
        rows = None if rows is None else rows.of_columns(read)
        if rows is None or len(rows.rows) > most_keys(rows.domain_columns):
            return base
        constraints = StaleDataConstraints((rows.values,) if rows.rows else (), base.change.constraints.is_part)
        return replace(base, change=replace(base.change, constraints=constraints), listed=rows)

    def _asked(
        self, run: Spark, base: BaseTableStatus, source: IcebergSource, columns: Mapping[str, str]
    ) -> ListedRows | None:
        """Return the changed rows in some columns; None if they are too many. Raises _Unknown if nobody can say it."""
        reference = self.definition.references[base.references[0]]
        dialect = Dialect(self.listing.catalog_name, pushable=False)
        counted = counted_rows(columns, reference, base, source, dialect)
        if counted is None:
            raise _Unknown
        forms = ", ".join(_form(identifier(name), of) for name, of in columns.items())
        found = rows_of(f"SELECT {forms}, {SIGN} FROM {counted} LIMIT {MOST_KEYS + 1}", run)
        if isinstance(found, NotListed):
            raise _Unknown
        if len(found) > MOST_KEYS or not are_texts_known(found):
            return None
        rows = tuple(tuple(map(value_of, row[:-1])) for row in found)
        return ListedRows(columns, rows, tuple(int(str(row[-1])) for row in found))


class _Unknown(Exception):
    """Rows cannot be listed now, perhaps another time."""


def _unless_unknown(find_out: Callable[[], ListedRows | None]) -> ListedRows | None:
    try:
        return find_out()
    except _Unknown:
        return None


def _have_values(columns: Mapping[str, str]) -> bool:
    """Return whether all of the columns hold single values, and a Domain those of some."""
    return all(map(is_primitive, columns.values())) and any(
        internal_form(of, "") is not None for of in columns.values()
    )


def _form(column: str, spark_type: str) -> str:
    """Return what a listed row holds of a column."""
    form = internal_form(spark_type, column)
    return _AS_TEXT.get(spark_type, "CAST({} AS string)").format(column) if form is None else form
