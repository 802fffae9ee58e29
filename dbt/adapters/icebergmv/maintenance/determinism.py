"""Is the SELECT a function of its tables? What is not is refreshed in full."""

from __future__ import annotations

from collections.abc import Iterable

import sqlglot
from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.icebergmv.maintenance.catalog import ColumnInfo
from dbt.adapters.icebergmv.maintenance.spark_functions import BUILTIN, ORDER_DEPENDENT, VOLATILE

_WITHOUT_PARENTHESES = frozenset(
    ["current_date", "current_timestamp", "current_time", "current_user", "session_user", "user", "localtimestamp"]
)
_ICEBERG_FUNCTIONS = frozenset(["bucket", "truncate", "years", "months", "days", "hours", "iceberg_version"])
_CLOCK_WITHOUT_ARGUMENTS = frozenset(["unix_timestamp", "to_unix_timestamp"])
_METADATA_COLUMNS = frozenset(
    ["_file", "_pos", "_partition", "_spec_id", "_deleted", "_row_id", "_last_updated_sequence_number", "_metadata"]
)


def volatility(query: exp.Query, tables: Iterable[tuple[ColumnInfo, ...] | None]) -> str | None:
    """Return why a new evaluation may differ although no table changed, or None when it cannot."""
    columns = {c.name.lower() for table in tables for c in table or ()}
    for name, called_empty in _names(query, columns):
        if name in VOLATILE or (called_empty and name in _CLOCK_WITHOUT_ARGUMENTS):
            return f"{name}() gives a new value at every run"
    for column in query.find_all(exp.Column):
        if column.name.lower() in _METADATA_COLUMNS - columns:
            return f"the metadata column {column.name} changes when files are rewritten"
    if query.find(exp.TableSample):
        return "TABLESAMPLE picks other rows at every run"
    return _unknown_function(query)


def order_dependence(query: exp.Query) -> str | None:
    """Return which aggregate depends on the order of its input, or None."""
    for name, _ in _names(query, set()):
        if name in ORDER_DEPENDENT:
            return f"{name}() depends on the order in which rows are read"
    return None


def _names(query: exp.Query, columns: set[str]) -> Iterable[tuple[str, bool]]:
    """Yield the lower-case names of functions that the text calls, and whether each is called without arguments.

    The tokens are read, not the tree: sqlglot maps several functions to one node.
    """
    tokens = sqlglot.tokenize(str(query.meta["sql"]), dialect="spark")
    for token, following, after in zip(tokens, [*tokens[1:], None], [*tokens[2:], None, None], strict=True):
        name = token.text.lower()
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            continue
        if following is not None and following.token_type == TokenType.L_PAREN:
            yield name, after is not None and after.token_type == TokenType.R_PAREN
        elif name in _WITHOUT_PARENTHESES - columns:
            yield name, True


def _unknown_function(query: exp.Query) -> str | None:
    for call in query.find_all(exp.Anonymous, exp.AnonymousAggFunc):
        name = str(call.this).lower()
        if isinstance(call.parent, exp.Dot) and call.parent.expression is call:
            if name in _ICEBERG_FUNCTIONS and call.parent.this.sql().lower().split(".")[-1].strip('`"') == "system":
                continue
        elif name in BUILTIN:
            continue
        return f"{call.this}() is a user-defined function, which may give a new value at every run"
    return None
