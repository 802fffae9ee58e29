"""Everything that keeps a SELECT from being refreshed in part: who mends the first obstacle finds the next one here.

The analysis stops a table at the first operator that loses it. So that operator is taken out of a copy of the SELECT,
and the rest is analysed again, until nothing is in the way or it cannot be taken out. What comes of it is for people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, analyse
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import (
    aggregates_all_rows,
    is_aggregate,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import own_nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import DIALECT, NotParsed, parse
from dbt.adapters.icebergmv.maintenance.errors import InvalidDefinition
from dbt.adapters.icebergmv.maintenance.sql.names import TableName

ColumnsOf = Callable[[TableReference], tuple[ColumnInfo, ...] | None]

_MOST_STEPS = 12
_CALLED = re.compile(r"(?:.*\.)?(\S+)\(\) ")


@dataclass
class Obstacles:
    """What stops a SELECT as a whole, and each table by its full name; the shortest first."""

    whole: tuple[str, ...] = ()
    of_table: dict[TableName, tuple[str, ...]] = field(default_factory=dict)


def all_obstacles(definition: ViewDefinition, columns_of: ColumnsOf, catalog: str) -> Obstacles:
    """Return every obstacle in a definition.

    `columns_of` returns the columns of a table (None: not known). Names without a catalog are those of `catalog`.
    """
    whole: dict[str, None] = {}
    of_table: dict[TableName, dict[str, None]] = {}
    known, current = definition.known, definition
    for _ in range(_MOST_STEPS):
        reasons = [r for r in (current.always_full, current.full_when_changed) if r is not None]
        whole.update(dict.fromkeys(reasons))
        names = {r.index: (r.catalog or catalog, r.namespace, r.name) for r in current.references}
        for occurrence, reason in current.obstacles.items():
            of_table.setdefault(names[occurrence.index], {})[reason] = None
        parsed = parse(current.sql)
        if isinstance(parsed, NotParsed):
            break
        if not _take_out(parsed.tree, [*reasons, *current.obstacles.values()]):
            break
        try:
            text = parsed.tree.sql(dialect=DIALECT, normalize_functions=False)
            current = analyse(known, text, columns_of)
        except InvalidDefinition:
            break
    return Obstacles(shortest_first(whole), {name: shortest_first(found) for name, found in of_table.items()})


def shortest_first(found: Iterable[str]) -> tuple[str, ...]:
    """Return reasons in the order in which people read them."""
    return tuple(sorted(found, key=lambda reason: (len(reason), reason)))


def _take_out(tree: exp.Expr, reasons: Iterable[str]) -> bool:
    """Take one operator that a reason names out of the tree; return whether one could be."""
    named = ((take, reason) for reason in reasons for words, take in _OPERATORS.items() if words in reason)
    return any(take(tree, reason) for take, reason in named)


def _show_all(select: exp.Select) -> bool:
    """List all columns of FROM besides, as who mends a list shows a key in it; return whether that can be.

    A list of groups shows their keys.
    """
    if select.args.get("group") is not None:
        return True
    if select.args.get("from_") is None or isinstance(select.parent, exp.SetOperation) or select.is_star:
        return False
    shown = [exp.to_identifier(item.output_name, quoted=True) for item in select.expressions if item.output_name]
    select.append("expressions", exp.Star(except_=shown) if shown else exp.Star())
    return True


def _limit(tree: exp.Expr, _: str) -> bool:
    found = [n for n in tree.find_all(exp.Query) if n.args.get("limit") or n.args.get("offset")]
    for query in found:
        query.set("limit", None)
        query.set("offset", None)
    return bool(found)


def _sample(tree: exp.Expr, _: str) -> bool:
    found = [n for n in tree.find_all(exp.Expr) if n.args.get("sample")]
    for node in found:
        node.set("sample", None)
    return bool(found)


def _call(tree: exp.Expr, reason: str) -> bool:
    """Put NULL in place of the calls of the function that the reason names."""
    called = _CALLED.match(reason)
    name = "" if called is None else called[1].lower()
    found = [n for n in tree.find_all(exp.Func) if name in {_name(n), *(s.lower() for s in type(n).sql_names())}]
    for node in found:
        place = node.parent if isinstance(node.parent, exp.Filter | exp.Window | exp.Dot) else node
        place.replace(exp.null())
    return bool(found)


def _name(node: exp.Func) -> str:
    return str(node.this).lower() if isinstance(node, exp.Anonymous) else ""


def _window(tree: exp.Expr, _: str) -> bool:
    found = list(tree.find_all(exp.Window))
    for select in tree.find_all(exp.Select):
        select.set("qualify", None)
    selects = dict.fromkeys(window.find_ancestor(exp.Select) for window in found)
    for window in found:
        window.replace(exp.null())
    return bool(found) and all(_show_all(select) for select in selects if select is not None)


def _aggregate(tree: exp.Expr, _: str) -> bool:
    """Make rows of the groups of the innermost aggregate."""
    selects = [s for s in tree.find_all(exp.Select) if s.args.get("group") or aggregates_all_rows(s)]
    if not selects:
        return False
    innermost = max(selects, key=_depth)
    for argument in ("group", "having"):
        innermost.set(argument, None)
    for item in innermost.expressions:
        for call in [n for n in own_nodes(item) if is_aggregate(n)]:
            place = call.parent if isinstance(call.parent, exp.Filter) else call
            place.replace(exp.null())
    return _show_all(innermost)


def _list(tree: exp.Expr, _: str) -> bool:
    """Show all columns in the innermost list that does not."""
    selects = [s for s in tree.find_all(exp.Select) if not s.is_star]
    return bool(selects) and _show_all(max(selects, key=_depth))


def _depth(node: exp.Expr) -> int:
    depth, place = 0, node.parent
    while place is not None:
        depth, place = depth + 1, place.parent
    return depth


_OPERATORS: dict[str, Callable[[exp.Expr, str], bool]] = {
    "LIMIT": _limit,
    "OFFSET": _limit,
    "TABLESAMPLE": _sample,
    "() gives a new value": _call,
    "() depends on the order": _call,
    "() is a user-defined function": _call,
    "a window": _window,
    "windows that": _window,
    "GROUP BY": _aggregate,
    "an aggregate over all rows": _aggregate,
    "a SELECT list without": _list,
}
