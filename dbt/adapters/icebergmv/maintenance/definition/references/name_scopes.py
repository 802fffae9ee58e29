"""Which SELECT offers a name: its own FROM, or that of a SELECT around it.

Spark takes a name without parentheses for a column of its own FROM, then for a function such as `user`, then for an
alias or a column of a SELECT around it, and last for a variable of the session.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import REFERENCE_INDEX, cte_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import relations_of


@dataclass(frozen=True)
class Offered:
    """Names of columns, in lower case, and of the relations that have them. `is_all`: there are no other columns.

    `qualified` are columns with the relations that have them, `whole` the relations that have these columns alone.
    """

    columns: frozenset[str] = frozenset()
    relations: frozenset[str] = frozenset()
    is_all: bool = True
    qualified: frozenset[tuple[str, str]] = frozenset()
    whole: frozenset[str] = frozenset()

    def __or__(self, other: Offered) -> Offered:
        """Return what both offer."""
        return Offered(
            self.columns | other.columns,
            self.relations | other.relations,
            self.is_all and other.is_all,
            self.qualified | other.qualified,
            (self.whole - other.relations) | (other.whole - self.relations) | (self.whole & other.whole),
        )

    def named(self, relation: exp.Expr) -> Offered:
        """Return the same columns as those of a relation in FROM, with its alias and the names around its own."""
        around = {relation.db, relation.catalog} if isinstance(relation, exp.Table) else set()
        alias, others = relation.alias_or_name.lower(), {name.lower() for name in around if name}
        return Offered(
            self.columns,
            self.relations | frozenset({alias, *others} - {""}),
            self.is_all,
            self.qualified | {(alias, column) for column in self.columns},
            (self.whole | frozenset({alias} if self.is_all and _FIELDS not in self.columns else ())) - others,
        )

    def has(self, column: exp.Column) -> bool:
        """Return whether the first name of a column surely is one of these."""
        parts = column.parts
        return parts[0].name.lower() in (self.columns if len(parts) == 1 else self.columns | self.relations)

    def may_have(self, column: exp.Column) -> bool:
        """Return whether a column may be one of these, or a field of one.

        Names that begin with an underscore may be those of columns that Iceberg and Spark add.
        """
        first, *more = (part.name.lower() for part in column.parts)
        if not self.is_all or first in self.columns or not more or first not in self.whole:
            return not self.is_all or self.has(column)
        return more[0].startswith("_") or (first, more[0]) in self.qualified


_ANYTHING = Offered(is_all=False)
_FIELDS = "*"
"""Stands for the fields of a struct that a SELECT lists with `*`, among columns."""
_SEE_ALIASES = frozenset(["expressions", "group", "having", "qualify", "order", "sort", "cluster", "distribute"])
_CALLED_AS_COLUMNS = frozenset(["window", "session_window"])
_EXPLODES = (exp.Explode, exp.ExplodeOuter, exp.Posexplode, exp.PosexplodeOuter)
_GENERATED = Offered(frozenset({"col", "pos", "key", "value"}))


class NameScopes:
    """What the SELECTs of a tree offer to names, with the columns of each reference (None: not known)."""

    def __init__(self, columns: Mapping[int, tuple[ColumnInfo, ...] | None]) -> None:
        self._columns = columns
        self._from: dict[int, Offered] = {}
        self._query: dict[int, Offered] = {}

    def is_own(self, column: exp.Column) -> bool:
        """Return whether a name surely means a column of the FROM of its own SELECT."""
        select = column.find_ancestor(exp.Select, exp.SetOperation)
        return isinstance(select, exp.Select) and self._of_from(select).has(column)

    def is_inside(self, column: exp.Column, part: exp.Expr) -> bool:
        """Return whether a name surely means what a part of the tree has: a column, an alias or an argument."""
        return _is_argument(column) or any(
            self._of_scope(column, *found).has(column) for found in _around(column, part)
        )

    def may_be_column(self, column: exp.Column) -> bool:
        """Return whether a name may mean a column, an alias or an argument, of its own SELECT or of one around it."""
        if len(column.parts) > 1 and column.parts[0].name.lower() in _CALLED_AS_COLUMNS:
            return True
        scopes = (self._of_scope(column, *found) for found in _around(column, column.root()))
        return _is_argument(column) or any(found.may_have(column) for found in scopes)

    def _of_scope(self, column: exp.Column, query: exp.Query, clause: exp.Expr) -> Offered:
        """Return what a query offers to a name in one of its clauses, or in one item of its list."""
        if not isinstance(query, exp.Select):
            return self._of_query(query)
        is_own = column.find_ancestor(exp.Select, exp.SetOperation) is query
        return self._of_from(query) | (_aliases(query, clause) if is_own else Offered())

    def _of_from(self, select: exp.Select) -> Offered:
        """Return what the FROM of a SELECT offers."""
        if id(select) not in self._from:
            self._from[id(select)] = self._of_all(_relations(select))
        return self._from[id(select)]

    def _of_query(self, query: exp.Expr) -> Offered:
        """Return the columns of a query, found once: expressions read one another, and a recursive one itself."""
        if id(query) not in self._query:
            self._query[id(query)] = _ANYTHING
            self._query[id(query)] = self._found_of_query(query)
        return self._query[id(query)]

    def _found_of_query(self, query: exp.Expr) -> Offered:
        if isinstance(query, exp.SetOperation):
            return self._of_query(query.left)
        if isinstance(query, (exp.Subquery, exp.Paren)):
            return self._of_query(query.this)
        if not isinstance(query, exp.Select):
            return _ANYTHING
        found = Offered()
        for item in query.expressions:
            found |= self._of_star(query, item) if item.is_star else _of_item(item)
        return found

    def _of_star(self, select: exp.Select, star: exp.Expr) -> Offered:
        """Return the columns of `*` and `t.*`; those that are renamed may have any name."""
        inner = star.this if isinstance(star, exp.Column) else star
        qualifier = star.table.lower() if isinstance(star, exp.Column) else ""
        relations = [r for r in _relations(select) if qualifier in ("", r.alias_or_name.lower())]
        left_out = frozenset(
            (name.table.lower() if isinstance(name, exp.Column) else "", name.name.lower())
            for name in inner.args.get("except_") or ()
        )
        offered = self._of_all(relations, left_out) if relations else Offered(frozenset({_FIELDS}))
        is_all = offered.is_all and not (inner.args.get("rename") or inner.args.get("replace"))
        return Offered(offered.columns, is_all=is_all)

    def _of_all(self, relations: Iterable[exp.Expr], left_out: Collection[tuple[str, str]] = ()) -> Offered:
        """Return what relations and those joined to them offer, but for columns (of a relation; "": of any)."""
        found = Offered()
        for relation in relations:
            joined = (join.this for join in relation.args.get("joins") or ())
            found |= self._without(relation, left_out) | self._of_all(joined, left_out)
        return found

    def _without(self, relation: exp.Expr, left_out: Collection[tuple[str, str]]) -> Offered:
        offered, alias = self._of_relation(relation), relation.alias_or_name.lower()
        return replace(offered, columns=offered.columns - {name for of, name in left_out if of in ("", alias)})

    def _of_relation(self, relation: exp.Expr) -> Offered:
        """Return the columns of one relation of a FROM, with its alias and the names of its schema and its catalog."""
        if relation.args.get("pivots"):
            return _ANYTHING.named(relation)
        renamed = frozenset(name.lower() for name in relation.alias_column_names)
        return (Offered(renamed) if renamed else self._columns_of(relation)).named(relation)

    def _columns_of(self, relation: exp.Expr) -> Offered:
        if isinstance(relation, exp.Lateral):
            return _GENERATED if isinstance(relation.this, _EXPLODES) else self._columns_of(relation.this)
        if isinstance(relation, exp.Subquery):
            inside = relation.this
            return self._of_query(inside) if isinstance(inside, exp.Query) else self._of_all([inside])
        if not isinstance(relation, exp.Table):
            return _ANYTHING
        if REFERENCE_INDEX in relation.meta:
            columns = self._columns.get(relation.meta[REFERENCE_INDEX])
            return _ANYTHING if columns is None else Offered(frozenset(c.name.lower() for c in columns))
        cte = cte_of(relation)
        if cte is None:
            return _ANYTHING
        renamed = frozenset(name.lower() for name in cte.alias_column_names)
        return Offered(renamed) if renamed else self._of_query(cte.this)


def _around(column: exp.Column, part: exp.Expr) -> Iterator[tuple[exp.Query, exp.Expr]]:
    """Yield the SELECTs and set operations up to a part whose columns a name in them sees, the innermost first.

    With each comes the clause, or the item of the list, in which the name is.
    A query in FROM sees no other relation of that FROM, unless it is lateral; a branch of a set operation, and a common
    table expression, see nothing of the query that they are in.
    """
    below: exp.Expr = column
    before, is_first = below, True
    while below is not part and below.parent is not None:
        node = below.parent
        if isinstance(node, exp.SetOperation):
            if not any(below is branch for branch in (node.this, node.expression)):
                yield node, below
            is_first = False
        elif isinstance(node, exp.Select):
            if is_first or not (isinstance(below, exp.With) or _is_relation(before, below)):
                yield node, below
            is_first = False
        below, before = node, below


def _of_item(item: exp.Expr) -> Offered:
    """Return the columns that an item of a list is; Spark names one without a name."""
    if isinstance(item, exp.Aliases):
        return Offered(frozenset(name.name.lower() for name in item.expressions))
    return Offered(frozenset({item.output_name.lower()} - {""}), is_all=bool(item.output_name))


def _relations(select: exp.Select) -> list[exp.Expr]:
    return [*relations_of(select), *(select.args.get("laterals") or ())]


def _is_relation(node: exp.Expr, clause: exp.Expr) -> bool:
    """Return whether a node is what a clause of FROM adds to it, and sees nothing of it."""
    is_added = isinstance(clause, (exp.From, exp.Join)) and clause.this is node
    return is_added and not isinstance(node, exp.Lateral)


def _aliases(select: exp.Select, clause: exp.Expr) -> Offered:
    """Return the aliases that a clause sees; an item of the list those before it."""
    if clause.arg_key not in _SEE_ALIASES:
        return Offered()
    found = Offered()
    for item in takewhile(lambda item: item is not clause, select.expressions):
        found |= _of_item(item) if isinstance(item, (exp.Alias, exp.Aliases)) else Offered()
    return found


def _is_argument(column: exp.Column) -> bool:
    """Return whether a name means an argument of a lambda around it."""
    name, node = column.parts[0].name.lower(), column.parent
    while node is not None and not isinstance(node, exp.Query):
        if isinstance(node, exp.Lambda) and any(a.name.lower() == name for a in node.expressions):
            return True
        node = node.parent
    return False
