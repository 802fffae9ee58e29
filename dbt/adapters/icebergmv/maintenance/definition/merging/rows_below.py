"""The rows below an aggregate, as a query of their own: what changes reach of them is asked as of any other view.

Let B be the rows that FROM and WHERE of a SELECT give, and P a region over columns of B that covers every row of B
which the changes create, remove or alter. Outside P, B is now what it was. So the groups change by what the SELECT
gives over the rows of B inside P as they are now, less what it gives over those inside P as they were, whatever B is
made of. Both are the text of the SELECT with one more term in its WHERE.

What went was stored once, and is computed again. So the same rows have to give the same B whenever they are read (see
repeatable.py).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.tokens import Token

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Known, scope_of
from dbt.adapters.icebergmv.maintenance.definition.determinism.repeatable import Averaged, repeatable
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.references.column_lists import reads_every_column
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import find_references
from dbt.adapters.icebergmv.maintenance.definition.references.unread_columns import words_of_read_columns
from dbt.adapters.icebergmv.maintenance.definition.row_order.window_orders import settled_nodes
from dbt.adapters.icebergmv.maintenance.definition.rules import track
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import (
    Span,
    before_grouping,
    clause_of,
    end_before,
    list_of,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes, are_alike
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import NotParsed, ParsedSql, parse, parse_expression
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedRelation
from dbt.adapters.icebergmv.maintenance.sql.rendering import enclosed

ROW = "icebergmv_row_"
"""How the names of the columns of such a query begin."""

_BELOW = ("with_", "from_", "joins", "laterals", "where")
_ABOVE = ("expressions", "group", "having", "distinct", "order")
_ANY_TERM = f"`{ROW}term` IS NULL"


@dataclass(frozen=True)
class RowsBelow:
    """The rows that a SELECT aggregates: `sql` gives them, and its columns are written `columns` in the WHERE.

    `where` is the place of the condition in the text of the SELECT; without one only the place where it would be. The
    same tables give the same rows if `averaged` says so.
    """

    sql: str
    columns: tuple[str, ...]
    where: tuple[int, int]
    averaged: tuple[Averaged, ...] = ()

    def limited_to(self, predicate: str) -> tuple[TextEdit, ...]:
        """Return what the text of the SELECT needs so that it reads only the rows for which a predicate holds."""
        start, end = self.where
        if start == end:
            return (TextEdit(end, end, f" WHERE {enclosed(predicate)}"),)
        return TextEdit(start, start, "("), TextEdit(end, end, f") AND ({predicate})")


def column_name(number: int) -> str:
    """Return the name of a column of the rows."""
    return f"{ROW}{number}"


def rows_below(parsed: ParsedSql, columns: Sequence[tuple[str, str]], known: Known) -> RowsBelow | None:
    """Return the rows below a SELECT that is one aggregate, if the same tables give the same ones.

    `columns` are the text and the name of each column that its WHERE can write; all that may be read are kept. None
    where the text cannot be taken apart for certain.
    """
    select, tokens = parsed.tree, parsed.tokens
    if not isinstance(select, exp.Select) or not is_one_aggregate(select):
        return None
    words = words_of_read_columns(parsed.sql)
    if words is None and not reads_every_column(Nodes(select)):
        words = frozenset(token.text.lower() for token in tokens)
    kept = tuple(text for text, name in columns if words is None or name.lower() in words)
    items, behind = list_of(select, tokens), before_grouping(select, tokens)
    if not kept or items is None or behind is None or ROW in parsed.sql.lower():
        return None
    listed = ", ".join(f"{text} AS {column_name(n)}" for n, text in enumerate(kept))
    head = parsed.sql[: end_before(items.start, tokens)]
    tail = parsed.sql[tokens[items.end].start : end_before(behind, tokens)]
    found = RowsBelow(f"{head} {listed} {tail}", kept, _where(select, behind, tokens))
    rows, limited = parse(found.sql), parse(with_edits(parsed.sql, found.limited_to(_ANY_TERM)))
    if not is_below(rows, select, listed) or not _is_limited(limited, select) or isinstance(rows, NotParsed):
        return None
    averaged = repeatable(rows.tree, rows.tokens, known.types, _settled(rows, select, known))
    return None if averaged is None else replace(found, averaged=averaged)


def need_rows(relation: TrackedRelation, references: Collection[int]) -> bool:
    """Return whether the changes of one of these references are answered by no output column."""
    answered = {o for c in relation.columns or () for o in c.answered if c.literal_of(o) is None}
    return any(o.index in references and o not in answered for o in relation.occurrences)


def _settled(rows: ParsedSql, select: exp.Select, known: Known) -> frozenset[int]:
    """Return the windows of the query whose rows do not tie, given all that it lists."""
    tables = [find_references(tree, known.default_namespace).tables for tree in (rows.tree, select)]
    names, others = ([(r.catalog, r.namespace, r.name) for r in found] for found in tables)
    if names != others or not rows.tree.find(exp.Window):
        return frozenset()
    return settled_nodes(track(rows.tree, scope_of(rows, known)).findings)


def _where(select: exp.Select, behind: int, tokens: Sequence[Token]) -> tuple[int, int]:
    end = end_before(behind, tokens)
    where = select.args.get("where")
    condition = Span(behind, behind) if where is None else clause_of(where, tokens)
    start = end if condition is None or where is None else tokens[condition.start].start
    return start, end


def is_one_aggregate(select: exp.Select) -> bool:
    """Return whether a SELECT has nothing but FROM, WHERE, a list, DISTINCT, GROUP BY, HAVING, ORDER BY and a WITH."""
    return not any(value for clause, value in select.args.items() if clause not in (*_BELOW, *_ABOVE))


def is_below(rows: ParsedSql | NotParsed, select: exp.Select, listed: str) -> bool:
    """Return whether a text is the SELECT with other items and nothing above its rows."""
    items = parse(f"SELECT {listed}")
    if isinstance(rows, NotParsed) or isinstance(items, NotParsed) or not isinstance(rows.tree, exp.Select):
        return False
    has_these = rows.tree.expressions == items.tree.expressions
    return has_these and _are_same(rows.tree, select, _ABOVE) and not any(rows.tree.args.get(a) for a in _ABOVE[1:])


def _is_limited(limited: ParsedSql | NotParsed, select: exp.Select) -> bool:
    """Return whether a text is the SELECT with one more term in its WHERE."""
    if isinstance(limited, NotParsed) or not isinstance(limited.tree, exp.Select):
        return False
    before, both = select.args.get("where"), limited.tree.args.get("where")
    term = exp.Paren(this=parse_expression(_ANY_TERM))
    condition = None if both is None else both.this
    if before is not None and isinstance(condition, exp.And):
        is_kept = isinstance(condition.this, exp.Paren) and condition.this.this == before.this
        return is_kept and condition.expression == term and _are_same(limited.tree, select, ("where",))
    return before is None and condition == term and _are_same(limited.tree, select, ("where",))


def _are_same(one: exp.Select, other: exp.Select, but: Collection[str]) -> bool:
    """Return whether two SELECTs are the same but for some of their clauses."""
    return are_alike(one, other, (one.args.keys() | other.args.keys()).difference(but))
