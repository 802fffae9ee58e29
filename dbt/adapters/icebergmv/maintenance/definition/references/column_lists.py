"""Does a SELECT read columns that it does not name?"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.references.table_references import REFERENCE_INDEX, cte_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes, counts_rows, relations_of

_COUNTING = ("group", "having", "qualify", "limit", "offset")
"""Clauses of a SELECT by which the values of its list can decide whether there is a row."""

_BY_NAME = frozenset(["with_", "expressions", "from_", "joins", "laterals", "where"])
"""Clauses of a SELECT in which no number means an item of its list, and no column matters that is not named."""


def reads_by_shape(nodes: Nodes) -> bool:
    """Return whether a column that the SELECT does not name may still matter, by its place or by being there.

    NATURAL JOIN and PIVOT look at every column, and so does `*` that is compared (IN does so), grouped by, made one
    value or renamed by place. A `*` of nothing but queries has the columns that their lists give.
    """
    groups_by_all = any(group.args.get("all") for group in nodes.of(exp.Group))
    return _compares_all(nodes) or (groups_by_all and any(_read_by(star) != frozenset() for star in _stars(nodes)))


def _compares_all(nodes: Nodes) -> bool:
    if _looks_at_every_name(nodes):
        return True
    renamed = [a for a in nodes.of(exp.TableAlias) if a.columns]
    if any(isinstance(a.parent, exp.Table) for a in renamed):
        return True
    stars = [star for star in _stars(nodes) if _read_by(star) != frozenset()]
    if any(not isinstance(s.parent, (exp.Select, exp.Column)) for s in stars):
        return True
    if any(isinstance(s.parent, exp.Column) and not isinstance(s.parent.parent, exp.Select) for s in stars):
        return True
    distinct = any(select.args.get("distinct") for select in nodes.of(exp.Select))
    compared = any(found.args.get("query") for found in nodes.of(exp.In))
    return bool(stars) and bool(renamed or distinct or compared or nodes.have(exp.SetOperation))


def _looks_at_every_name(nodes: Nodes) -> bool:
    """Return whether NATURAL JOIN or PIVOT looks at all columns of what it reads."""
    return nodes.have(exp.Pivot) or any(join.method == "NATURAL" for join in nodes.of(exp.Join))


def reads_every_column(nodes: Nodes) -> bool:
    """Return whether a value of a column that the SELECT does not name may matter."""
    return reads_by_shape(nodes) or any(_stars(nodes))


def read_in_full(nodes: Nodes) -> frozenset[int] | None:
    """Return the references of which values of columns that the SELECT does not name may matter; None: of any.

    `*` reads the tables beside it in its FROM, and in `name.*` those of that name. A subquery or a common table
    expression that it reads has a list of its own.
    """
    if _compares_all(nodes):
        return None
    found: set[int] = set()
    for star in _stars(nodes):
        read = _read_by(star)
        if read is None:
            return None
        found |= read
    return frozenset(found)


def reads_by_name(nodes: Nodes) -> bool:
    """Return whether queries read those in their FROM by the names of columns alone, and `*` only hands them on."""
    if _looks_at_every_name(nodes):
        return False
    if any(a.columns and not isinstance(a.parent, exp.Lateral) for a in nodes.of(exp.TableAlias)):
        return False
    if any(not isinstance(table.this, exp.Identifier) for table in nodes.of(exp.Table)):
        return False
    items = (star.parent if isinstance(star.parent, exp.Column) else star for star in _stars(nodes))
    return all(isinstance(i.parent, exp.Select) and is_read_by_name(i.parent) for i in items)


def is_read_by_name(select: exp.Select) -> bool:
    """Return whether a SELECT is in FROM or a common table expression, and no place in its list means anything.

    Columns of such a one are read by name, if `reads_by_name` holds of all.
    """
    if any(value for name, value in select.args.items() if name not in _BY_NAME):
        return False
    place = select.parent
    if isinstance(place, exp.Subquery) and not any(place.args.get(a) for a in ("pivots", "sample")):
        return isinstance(place.parent, (exp.From, exp.Join))
    return isinstance(place, exp.CTE)


def _stars(nodes: Nodes) -> Iterator[exp.Star]:
    """Yield every `*` whose values may matter."""
    return (star for star in nodes.of(exp.Star) if not counts_rows(star) and not _is_of_exists(star))


def _is_of_exists(star: exp.Star) -> bool:
    """Return whether `*` or `name.*` is an item of the list of EXISTS, which asks for rows alone.

    GROUP BY ALL, and LIMIT or OFFSET behind DISTINCT, make the number of rows depend on the values of the list.
    """
    item = star.parent if isinstance(star.parent, exp.Column) else star
    select = item.parent
    if not isinstance(select, exp.Select) or not isinstance(select.parent, exp.Exists):
        return False
    return not any(select.args.get(clause) for clause in _COUNTING)


def _read_by(star: exp.Star) -> frozenset[int] | None:
    """Return the references that an item `*` or `name.*` reads in full; None where that is not known."""
    select, qualifier = star.find_ancestor(exp.Select), None
    if isinstance(star.parent, exp.Column):
        qualifier = star.parent.table.lower()
        if star.parent.args.get("db"):
            return None
    if select is None or select.args.get("from_") is None or select.args.get("laterals"):
        return None
    items = relations_of(select)
    if qualifier is not None:
        items = [item for item in items if item.alias_or_name.lower() == qualifier]
        if len(items) != 1:
            return None
    if any(item.args.get("joins") for item in items):
        return None
    found: set[int] = set()
    for item in items:
        if isinstance(item, exp.Table) and REFERENCE_INDEX in item.meta:
            found.add(item.meta[REFERENCE_INDEX])
        elif not _has_a_list(item):
            return None
    return frozenset(found)


def _has_a_list(item: exp.Expr) -> bool:
    """Return whether an item of a FROM is a query, whose list says what is read of its tables."""
    if isinstance(item, exp.Subquery):
        # More parentheses, `((t))`, are a Subquery in a Subquery, which is a Query too.
        return isinstance(item.this, (exp.Select, exp.SetOperation))
    return isinstance(item, exp.Table) and cte_of(item) is not None
