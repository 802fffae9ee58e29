"""The nodes of a syntax tree, found in one walk where several kinds of them are looked for, and what some are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from sqlglot import exp

Node = TypeVar("Node", bound=exp.Expr)


class Nodes:
    """All nodes of a syntax tree, each level from left to right, the root first. The tree must not change meanwhile."""

    def __init__(self, tree: exp.Expr) -> None:
        self._all = [tree]
        for node in self._all:
            for value in node.args.values():
                if isinstance(value, exp.Expr):
                    self._all.append(value)
                elif isinstance(value, list):
                    self._all.extend(item for item in value if isinstance(item, exp.Expr))

    def of(self, *types: type[Node]) -> list[Node]:
        """Return the nodes of some types."""
        return [node for node in self._all if isinstance(node, types)]

    def have(self, *types: type[exp.Expr]) -> bool:
        """Return whether there is a node of one of the types."""
        return any(isinstance(node, types) for node in self._all)


def own_nodes(expression: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the nodes of an expression, itself first; of a query in it that alone, and nothing inside."""
    return expression.walk(prune=lambda node: isinstance(node, exp.Query))


def own_windows(select: exp.Select, clauses: Iterable[str]) -> Iterator[exp.Window]:
    """Yield the windows of the list of a SELECT and of some of its clauses, without those of queries in them."""
    for place in (*select.expressions, *map(select.args.get, clauses)):
        for window in place.find_all(exp.Window) if place is not None else ():
            if window.find_ancestor(exp.Query) is select:
                yield window


def choices_of(expression: exp.Expr) -> list[exp.Expr]:
    """Return the values of which CASE, IF, or a function such as coalesce gives one."""
    match expression:
        case exp.Case():
            found = [*(branch.args.get("true") for branch in expression.args["ifs"]), expression.args.get("default")]
        case exp.If():
            found = [expression.args.get("true"), expression.args.get("false")]
        case _:
            found = [expression.this, *expression.expressions]
    return [value for value in found if value is not None]


def relations_of(select: exp.Select) -> list[exp.Expr]:
    """Return the items of a FROM, joined ones among them; LATERAL VIEWs are none."""
    clauses = (select.args.get("from_"), *(select.args.get("joins") or ()))
    return [clause.this for clause in clauses if clause is not None]


def is_column_named(name: str, expression: exp.Expr) -> bool:
    """Return whether an expression is a column whose own name is a name that it gets."""
    return isinstance(expression, exp.Column) and expression.name.lower() == name.lower()


def are_alike(one: exp.Query, other: exp.Query, clauses: Iterable[str]) -> bool:
    """Return whether some clauses of two queries are the same."""
    return all((one.args.get(clause) or None) == (other.args.get(clause) or None) for clause in clauses)


def counts_rows(star: exp.Star) -> bool:
    """Return whether `*` is that of `count(*)`; with other arguments, or EXCEPT, it has values that are counted."""
    count = star.parent
    return isinstance(count, exp.Count) and not count.expressions and not any(star.args.values())


def in_cte(node: exp.Expr) -> str:
    """Return words that say in which common table expression a node is; none for one that is in no such."""
    cte = node.find_ancestor(exp.CTE)
    return "" if cte is None else of_cte(cte.alias)


def of_cte(name: str) -> str:
    """Return the words behind a reason that say in which common table expression it is."""
    return f" (in the CTE {name})"
