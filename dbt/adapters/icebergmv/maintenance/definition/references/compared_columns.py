"""Which columns of its tables a SELECT compares, by their names: more than are compared rather than fewer.

What compares is WHERE, ON, USING, HAVING and QUALIFY, a comparison anywhere else, and INTERSECT and EXCEPT. A name that
is compared may be one that a list gives: then the names in that item are compared, too. So it goes on down to the
tables. What an aggregate or a window gives is compared behind it: Spark takes no such comparison down to a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes

_WORD = re.compile(r"\w+")
_CONDITIONS = (exp.Where, exp.Having, exp.Qualify)
_COMPARISONS = (exp.Predicate, exp.DecodeCase, exp.EqualNull, exp.Nullif)
_COMPARING_FUNCTIONS = frozenset(["nullifzero"])
_ABOVE = (exp.AggFunc, exp.Window, exp.Exists)
"""What a comparison of the outcome goes no further down than. A query in EXISTS has conditions of its own."""

_ANY = "*"
"""In place of a name: any column may be meant."""

_UNNAMED = "("
"""In place of the name that Spark makes of the text of an item, as `(x + 1)`."""

_Names: TypeAlias = frozenset[str]
_Link: TypeAlias = tuple[_Names, _Names]
"""Where one of the first names is compared, the others are."""


def compared_names(nodes: Nodes) -> frozenset[str] | None:
    """Return the names, in lower case, of the columns that a SELECT may compare; None: of any.

    There may be names of other things among them. Where a field of a struct is compared, both are named.
    """
    compared = {name for node in _compared(nodes) for name in _names_in(node)}
    if any(join.method == "NATURAL" for join in nodes.of(exp.Join)):
        return None
    if not compared:
        return frozenset()
    if nodes.have(exp.Pivot) or any(_names_differ(operation) for operation in nodes.of(exp.SetOperation)):
        return None
    # The fields of `s.*` are named by what makes s.
    compared |= {part.name.lower() for c in nodes.of(exp.Column) if c.is_star for part in c.parts[:-1]}
    links, before = [*_links(nodes)], -1
    while len(compared) != before and _ANY not in compared:
        before = len(compared)
        for given, made_of in links:
            if not given.isdisjoint(compared):
                compared |= made_of
    return None if _ANY in compared else frozenset(compared)


def _compared(nodes: Nodes) -> Iterator[exp.Expr]:
    """Yield the parts of a SELECT in which each name may be compared."""
    yield from nodes.of(*_CONDITIONS)
    yield from nodes.of(*_COMPARISONS)
    yield from (cast for cast in nodes.of(exp.Cast) if cast.to.is_type(exp.DataType.Type.BOOLEAN))
    yield from (call for call in nodes.of(exp.Anonymous) if call.name.lower() in _COMPARING_FUNCTIONS)
    yield from (case.this for case in nodes.of(exp.Case) if case.this is not None)
    for join in nodes.of(exp.Join):
        yield from (part for part in (join.args.get("on"), *(join.args.get("using") or ())) if part is not None)
    for operation in nodes.of(exp.Intersect, exp.Except):
        yield from (*_items(operation.left), *_items(operation.right))


def _names_in(*parts: exp.Expr) -> _Names:
    """Return the names in parts of a SELECT that are compared where the parts are."""
    found: set[str] = set()
    for node in (node for part in parts for node in part.walk(prune=_is_no_further)):
        if isinstance(node, exp.Star):
            found.add(_ANY)
        elif isinstance(node, exp.Identifier):
            found.add(node.name.lower())
            if not _WORD.fullmatch(node.name):
                found.add(_UNNAMED)
    return frozenset(found)


def _is_no_further(node: exp.Expr) -> bool:
    is_asked_for_null = isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)
    return isinstance(node, _ABOVE) or (is_asked_for_null and isinstance(node.this, exp.Column))


def _links(nodes: Nodes) -> Iterator[_Link]:
    for select in nodes.of(exp.Select):
        for item in select.expressions:
            if not item.is_star:
                yield _given(item), _names_in(item)
    for operation in nodes.of(exp.SetOperation):
        # The names are those of the left branch.
        for one, other in zip(_items(operation.left), _items(operation.right), strict=False):
            yield _given(one), _names_in(other)
    for alias in nodes.of(exp.TableAlias):
        if alias.columns:
            yield _lower(alias.columns), _renamed(alias.parent)


def _given(item: exp.Expr) -> _Names:
    """Return the names of an item of a list."""
    if isinstance(item, exp.Aliases):
        return _lower(item.expressions)
    return frozenset([item.output_name.lower() or _UNNAMED])


def _names_differ(operation: exp.SetOperation) -> bool:
    """Return whether it is not known which columns of both branches of a set operation have one place."""
    left, right = _items(operation.left), _items(operation.right)
    return len(left) != len(right) or any(item.is_star for item in (*left, *right))


def _renamed(relation: exp.Expr | None) -> _Names:
    """Return the names that a relation with a list of column names has below it."""
    if relation is None or isinstance(relation, exp.Table):
        return frozenset([_ANY])
    query = relation.this
    if not isinstance(query, exp.Query):
        return _names_in(relation)
    items = _items(query)
    return _names_in(*items).union(*map(_given, items))


def _items(query: exp.Expr) -> Sequence[exp.Expr]:
    """Return the list of a query; of a set operation that of its first branch, which gives the names."""
    inner = query.unnest()
    return inner.selects if isinstance(inner, exp.Query) else [exp.Star()]


def _lower(names: Iterable[exp.Expr]) -> _Names:
    return frozenset(name.name.lower() for name in names)
