"""SELECTs analysed with nothing known besides but a namespace, a time zone and the columns of tables."""

from __future__ import annotations

from collections.abc import Callable

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Known
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, analyse
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference


def analysed_in(
    sql: str,
    namespace: str,
    columns_of: Callable[[TableReference], tuple[ColumnInfo, ...] | None],
    session_is_utc: bool,
    keys: tuple[str, ...] = (),
) -> ViewDefinition:
    """Analyse a SELECT whose tables are in a namespace; the last items of its list are these hidden keys."""
    return analyse(Known(namespace, session_is_utc=session_is_utc), sql, columns_of, keys)
