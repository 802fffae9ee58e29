"""Calls of the clock in columns that say nothing of the rows of a view: when these move, no row is another one.

Such a column is read by nothing (see unread_columns.py), or it says when its row was written: the user names it in
`written_at_columns`, and it is made of the clock and constants alone. A refresh gives it to the rows that it computes,
and no row that is kept has another one for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp
from sqlglot.tokens import Token

from dbt.adapters.icebergmv.maintenance.definition.edits.wrapping import query_behind
from dbt.adapters.icebergmv.maintenance.definition.rules.answers import is_of_one_row
from dbt.adapters.icebergmv.maintenance.definition.rules.unlisted import passes_on
from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import is_aggregate, is_generator
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql
from dbt.adapters.icebergmv.maintenance.definition.syntax.select_items import select_items
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import written_name

_OF_KEYS = (exp.Group, exp.Tuple, exp.Paren, exp.Rollup, exp.Cube, exp.GroupingSets)
_OF_ROWS = (exp.Column, exp.Query, exp.Window, exp.Star, exp.Lambda, exp.UDTF)


def written_at_items(
    parsed: ParsedSql, names: Collection[str], clocks: Collection[str]
) -> Mapping[str, Sequence[Token]]:
    """Return the tokens of the items of the view's list that say when a row was written, by the names of the columns.

    `names` are those that the user names, and `clocks` the names of clock functions, in lower case.
    """
    queries, found = _lists_of(parsed.tree) if names else [], dict[str, Sequence[Token]]()
    select = queries[-1] if queries else None
    if not isinstance(select, exp.Select) or any(map(_compares_items, queries)):
        return found
    of_tokens = select_items(parsed.tokens)
    for item in select.expressions:
        alias = item.args.get("alias") if isinstance(item, exp.Alias) else None
        if (
            not isinstance(alias, exp.Identifier)
            or alias.name.lower() not in names
            or not _is_of_no_row(item.this, clocks)
        ):
            continue
        name, tokens = alias.name.lower(), of_tokens.get(int(alias.meta.get("start", -1)), ())
        if tokens and tokens[-1].start == alias.meta["start"] and not _is_read(name, select):
            found[name] = tokens
    return found


def listing(tree: exp.Expr) -> exp.Select | None:
    """Return the SELECT whose list is that of the view: the outermost, or what `SELECT * FROM x` lists."""
    *_, last = _lists_of(tree)
    return last if isinstance(last, exp.Select) else None


def _lists_of(tree: exp.Expr) -> list[exp.Expr | None]:
    """Return the outermost query and, while it passes on the list of another one, that one."""
    found: list[exp.Expr | None] = [tree]
    while isinstance(found[-1], exp.Select) and passes_on(found[-1]):
        found.append(query_behind(found[-1].args["from_"].this, tree))
    return found


def _compares_items(query: exp.Expr | None) -> bool:
    """Return whether a query may compare rows by an item of its list that it does not name: by its place, or by ALL."""
    if not isinstance(query, exp.Select):
        return True
    group = query.args.get("group")
    places = () if group is None else (n for n in group.find_all(exp.Literal) if isinstance(n.parent, _OF_KEYS))
    return bool(any(places) or (group is not None and group.args.get("all")) or query.args.get("distinct"))


def _is_of_no_row(value: exp.Expr, clocks: Collection[str]) -> bool:
    calls = (node for node in value.walk() if isinstance(node, exp.Func) and written_name(node) not in clocks)
    is_known = not is_generator(value) and all(map(is_of_one_row, calls))
    return is_known and not any(isinstance(node, _OF_ROWS) or is_aggregate(node) for node in value.walk())


def _is_read(name: str, select: exp.Select) -> bool:
    """Return whether another part of the whole text may read a column of the list by its alias."""
    return any(column.parts[-1].name.lower() == name for column in select.root().find_all(exp.Column))
