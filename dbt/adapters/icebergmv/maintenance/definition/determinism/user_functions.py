"""Functions that are not Spark's own. What they give is known only from the model: `deterministic_functions`.

A function that the model names there gives one value for one row, and always the same for the same arguments. It is
then one of which nothing else is known: nothing is followed through it, but it is in the way of nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import FUNCTIONS, known_of

_OF_ICEBERG = frozenset(["bucket", "truncate", "years", "months", "days", "hours", "iceberg_version"])
_OF_MANY_ROWS = (exp.Window, exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
_OF_MANY_VALUES = (exp.Lateral, exp.Table, exp.Aliases)


def calls_user_functions(nodes: Nodes) -> bool:
    """Return whether a text calls a function that is not Spark's own."""
    return next(_calls(nodes), None) is not None


def unknown_function(nodes: Nodes, deterministic: Collection[str] = ()) -> str | None:
    """Return which function may give other values at the next evaluation, or more than a value for a row; None: none.

    `deterministic` are the names that the model gives, in lower case.
    """
    for name, call in _calls(nodes):
        if name.lower() not in deterministic:
            return f"{name}() is a user-defined function, and deterministic_functions does not name it"
        if not _is_of_one_row(call) or known_of(name.rpartition(".")[2]).aggregate:
            return f"{name}() is a user-defined function of many rows, or of many values"
    return None


def _calls(nodes: Nodes) -> Iterator[tuple[str, exp.Expr]]:
    """Yield the name that each call of such a function has in the text (`f`, `schema.f`), and the whole of the call."""
    for call in nodes.of(exp.Anonymous, exp.AnonymousAggFunc):
        # A quoted name is an identifier here. Spark's own functions are expected without quotes.
        name, is_quoted = (call.this, False) if isinstance(call.this, str) else (call.this.name, True)
        whole = call.parent if isinstance(call.parent, exp.Dot) and call.parent.expression is call else call
        if isinstance(whole, exp.Dot):
            schema = [part.name for part in whole.this.find_all(exp.Identifier, bfs=False)]
            if name.lower() in _OF_ICEBERG and schema and schema[-1].lower() == "system":
                continue
            yield ".".join([*schema, name]), whole
        elif is_quoted or name.lower() not in FUNCTIONS:
            yield name, whole


def _is_of_one_row(call: exp.Expr) -> bool:
    """Return whether a call, as it is written, can be that of a function of one row that gives one value."""
    arguments = call.expression.expressions if isinstance(call, exp.Dot) else call.expressions
    if any(isinstance(a, (exp.Distinct, exp.Star)) or a.is_star for a in arguments):
        return False
    if isinstance(call, exp.Dot) and not _is_name(call.this):
        return False
    # In the PARTITION BY of a window it is no part of what the window computes.
    is_operand = call.parent is not None and call.parent.this is call
    return not (is_operand and isinstance(call.parent, _OF_MANY_ROWS + _OF_MANY_VALUES))


def _is_name(node: exp.Expr) -> bool:
    return all(isinstance(part, (exp.Dot, exp.Identifier)) for part in node.find_all(exp.Expr))
