"""The write order of a storage table (`cluster_by`): parsed from Spark's words, and compared with a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyiceberg.table import Table
from pyiceberg.table.sorting import NullOrder, SortDirection

from dbt.adapters.icebergmv.maintenance.definition.partitioning import split_list
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.sql.names import column_named, unquoted
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier

_ITEM = re.compile(
    r"\s*(?P<column>`(?:[^`]|``)+`|\w+)(?:\s+(?P<direction>ASC|DESC))?(?:\s+NULLS\s+(?P<nulls>FIRST|LAST))?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SortColumn:
    """One column of a write order. `transform` is Iceberg's; we set the column itself alone."""

    column: str
    is_descending: bool = False
    nulls_last: bool = False
    transform: str = "identity"

    def ddl(self) -> str:
        """Return the column as Spark's WRITE ORDERED BY takes it."""
        direction, nulls = "DESC" if self.is_descending else "ASC", "LAST" if self.nulls_last else "FIRST"
        return f"{identifier(self.column)} {direction} NULLS {nulls}"


def cluster_by_texts(value: object) -> tuple[str, ...]:
    """Return the single columns of a `cluster_by` setting: one text, several in one text, or a list; none for None.

    Raises InvalidConfig for what is no column, whatever columns there are.
    """
    texts = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(t, str) for t in texts):
        raise InvalidConfig(f"cluster_by is {value!r}. Give a column of the view, or a list of them.")
    parts = tuple(part.strip() for t in texts for part in split_list(t))
    for part in parts:
        _matched(part)
    return parts


def parse_cluster_by(texts: Iterable[str], columns: Sequence[str]) -> tuple[SortColumn, ...]:
    """Return the write order that texts mean, such as `region` or `amount DESC NULLS LAST`.

    Columns are matched without case and returned as the view outputs them. NULLs are first unless said, with DESC last,
    as in Spark. Raises InvalidConfig for what is no column of the view, or is one twice.
    """
    found = tuple(_parse(text, columns) for text in texts)
    names = [sort.column for sort in found]
    twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if twice is not None:
        raise InvalidConfig(f"cluster_by has the column {twice} twice. Name it once.")
    return found


def stored_order(table: Table) -> tuple[SortColumn, ...]:
    """Return the write order that a table has."""
    schema = table.schema()
    return tuple(
        SortColumn(
            schema.find_column_name(field.source_id) or "",
            field.direction == SortDirection.DESC,
            field.null_order == NullOrder.NULLS_LAST,
            str(field.transform),
        )
        for field in table.sort_order().fields
    )


def _matched(text: str) -> re.Match[str]:
    matched = _ITEM.fullmatch(text)
    if matched is None:
        raise InvalidConfig(
            f"cluster_by {text!r} is not a column. Name a column of the view, and DESC or NULLS LAST behind it."
        )
    return matched


def _parse(text: str, columns: Sequence[str]) -> SortColumn:
    matched = _matched(text)
    wanted = unquoted(matched["column"])
    column = column_named(wanted, columns)
    if column is None:
        raise InvalidConfig(f"cluster_by is {text!r} and the view has no column {wanted}. It has {', '.join(columns)}.")
    is_descending = (matched["direction"] or "").upper() == "DESC"
    nulls = (matched["nulls"] or ("LAST" if is_descending else "FIRST")).upper()
    return SortColumn(column, is_descending, nulls == "LAST")
