"""Is the SELECT a function of its tables? What is not is refreshed in full."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.determinism.clock_texts import clock_text
from dbt.adapters.icebergmv.maintenance.definition.determinism.text_columns import given_names, is_generated
from dbt.adapters.icebergmv.maintenance.definition.determinism.times_of_day import time_of_today
from dbt.adapters.icebergmv.maintenance.definition.determinism.user_functions import unknown_function
from dbt.adapters.icebergmv.maintenance.definition.references.name_scopes import NameScopes
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import METADATA_COLUMNS, REFERENCE_INDEX
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import DIALECT
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import FUNCTIONS, known_of

NO_COLUMN = "is no column of a table that it reads"
"""Is in the reason of a SELECT that Spark refuses, but for one that reads a variable of the session."""

_NEAR = 0.75

# Calls that are grammar in Spark, hints of joins among them, or are listed under another name.
_GRAMMAR_WORDS = """
    cast try_cast extract timestampadd timestampdiff dateadd datediff date_diff overlay position trim values struct
    filter exists in percentile_cont percentile_disc decimal char varchar array map interval unpivot pivot columns
    rollup cube set all any some if case row using
    broadcast broadcastjoin mapjoin merge mergejoin shufflemerge shuffle_hash shuffle_replicate_nl
"""
_GRAMMAR = frozenset(_GRAMMAR_WORDS.split())
_PARSED = frozenset(
    name.lower()
    for names in (
        *(exp.FUNCTION_BY_NAME, Spark.Parser.FUNCTIONS, Spark.Parser.FUNCTION_PARSERS),
        Spark.Parser.NO_PAREN_FUNCTION_PARSERS,
    )
    for name in names
)
"""The functions, of whatever database, that have a node of their own in the tree."""


def volatility(
    nodes: Nodes,
    tokens: Sequence[Token],
    tables: Mapping[int, tuple[ColumnInfo, ...] | None],
    deterministic: Collection[str] = (),
) -> str | None:
    """Return why a new evaluation may differ although no table changed, or None when it cannot.

    `tables` are the columns of each reference, `deterministic` user-defined functions as in asking.Known.
    """
    scopes = NameScopes(tables)
    for name, called_empty in chain(_names(tokens), _functions_named_as_columns(nodes, scopes)):
        function = known_of(name)
        if function.volatile or (called_empty and function.volatile_without_arguments):
            return f"{name}() gives a new value at every run"
    for token in tokens:
        if "${" in token.text:
            return "it uses a ${...} variable, whose value may change"
    clock = clock_text(nodes, tokens, tables.values())
    if clock is not None:
        return f"'{clock}' may be read as a date, which gives a new value at every run"
    metadata = _metadata_column(nodes, tables)
    if metadata is not None:
        return f"the metadata column {metadata} changes when files are rewritten"
    if nodes.have(exp.TableSample):
        return "TABLESAMPLE picks other rows at every run"
    return (
        unknown_function(nodes, deterministic)
        or function_of_others(tokens)
        or time_of_today(nodes, tokens, tables.values())
        or _variable(nodes, scopes, tables.values())
    )


def _metadata_column(nodes: Nodes, tables: Mapping[int, tuple[ColumnInfo, ...] | None]) -> str | None:
    """Return which name is a metadata column: of no table a column, or of the one that it is qualified with."""
    known = {index: {c.name.lower() for c in table} for index, table in tables.items() if table is not None}
    real = set[str]().union(*known.values())
    for column in nodes.of(exp.Column):
        for name in (part.name for part in column.parts if part.name.lower() in METADATA_COLUMNS):
            if name.lower() not in real:
                return name
            named = [known.get(r) for r in _references_named(column.table, nodes)] if column.table else []
            if any(of is not None and name.lower() not in of for of in named):
                return name
    return None


def _references_named(alias: str, nodes: Nodes) -> Iterator[int]:
    """Yield the references that have a name, anywhere in the text."""
    for table in nodes.of(exp.Table):
        if REFERENCE_INDEX in table.meta and table.alias_or_name.lower() == alias.lower():
            yield table.meta[REFERENCE_INDEX]


def _functions_named_as_columns(nodes: Nodes, scopes: NameScopes) -> Iterator[tuple[str, bool]]:
    """Yield, as `_names` does, functions that sqlglot takes for columns, which no table of their own FROM has."""
    for column in nodes.of(exp.Column):
        if len(column.parts) == 1 and known_of(column.name).without_parentheses and not scopes.is_own(column):
            yield column.name.lower(), True


def _names(tokens: Sequence[Token]) -> Iterator[tuple[str, bool]]:
    """Yield the lower-case names of functions that the text calls, and whether each is called without arguments.

    The tokens are read, not the tree: sqlglot maps several functions to one node. A name that is quoted, or hidden by a
    column, is a column in the tree.
    """
    for token, following, after in zip(tokens, [*tokens[1:], None], [*tokens[2:], None, None], strict=False):
        name = token.text.lower()
        function, is_quoted = known_of(name), token.token_type == TokenType.IDENTIFIER
        if token.token_type == TokenType.STRING:
            continue
        if following is not None and following.token_type == TokenType.L_PAREN:
            yield name, after is not None and after.token_type == TokenType.R_PAREN
        elif function.without_parentheses and not (is_quoted or function.hidden_by_column):
            yield name, True


def function_of_others(tokens: Sequence[Token]) -> str | None:
    """Return which function of other databases the parser knows, and Spark does not: it can only be user-defined."""
    for name, _ in _names(tokens):
        if name in _PARSED and name not in FUNCTIONS and name not in _GRAMMAR:
            return f"{name}() is a user-defined function with the name of one that other databases have"
    return None


def _variable(nodes: Nodes, scopes: NameScopes, tables: Collection[tuple[ColumnInfo, ...] | None]) -> str | None:
    """Return which name is a session variable: no table, alias or lambda around it offers it.

    Where it is not known what is around it, it is one if nothing in the whole text offers the name.
    """
    if nodes.have(exp.Pivot):
        return None
    offered = None if None in tables else _offered_anywhere(nodes, tables)
    for column in nodes.of(exp.Column):
        if isinstance(column.this, exp.Star):
            continue
        is_nowhere = offered is not None and _is_nowhere(column, offered)
        if is_nowhere or not scopes.may_be_column(column):
            name = column.sql(dialect=DIALECT)
            return f"{name} {NO_COLUMN}: a misspelling, or a variable, which may change{_nearly(column.name, tables)}"
    return None


def _nearly(name: str, tables: Iterable[tuple[ColumnInfo, ...] | None]) -> str:
    """Return words that say which column of a table is written nearly as a name; none where there is no such."""
    columns = {c.name.lower(): c.name for table in tables for c in table or ()}
    near = difflib.get_close_matches(name.lower(), columns, n=1, cutoff=_NEAR)
    return f" (is {columns[near[0]]} meant?)" if near else ""


def _offered_anywhere(nodes: Nodes, tables: Iterable[tuple[ColumnInfo, ...] | None]) -> set[str]:
    offered = {c.name.lower() for table in tables for c in table or ()} | given_names(nodes)
    offered |= {alias.alias.lower() for alias in nodes.of(exp.Alias)}
    return offered | {t.alias_or_name.lower() for t in nodes.of(exp.Table, exp.Subquery, exp.CTE)}


def _is_nowhere(column: exp.Column, offered: set[str]) -> bool:
    outermost = column.parts[0].name.lower()
    is_alone = len(column.parts) == 1 or outermost in ("session", "system")
    return is_alone and outermost not in offered and not is_generated(outermost)
