"""Small queries around a query."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier

SHOW_SETTINGS = "SET"


def describe_query(query: str) -> str:
    """Return the statement that shows the columns of a query."""
    return f"DESCRIBE QUERY {select_from(query, '*')}"


def select_from(query: str, columns: str) -> str:
    """Select from the query; the line breaks keep a comment at its end from swallowing the parenthesis."""
    return f"SELECT {columns} FROM (\n{query}\n)"


def column_list(columns: Sequence[str]) -> str:
    """Return the quoted names of columns, as a select list."""
    return ", ".join(identifier(c) for c in columns)


def in_one_task(query: str) -> str:
    """Return a query whose rows Spark reads in one task: to group few of them takes less time than a shuffle."""
    return f"SELECT /*+ COALESCE(1) */ * FROM ({query})"
