"""The rows below an aggregate, as a query of their own: what changes reach of them is asked as of any other view.

Let B be the rows that FROM and WHERE of a SELECT give, and P a region over columns of B that covers every row of B
which the changes create, remove or alter. Outside P, B is now what it was. So the groups change by what the SELECT
gives over the rows of B inside P as they are now, less what it gives over those inside P as they were, whatever B is
made of. Both are the text of the SELECT with one more term in its WHERE.

What went was stored once, and is computed again. So the same rows have to give the same B whenever they are read (see
repeatable.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokens import Token

from dbt.adapters.icebergmv.maintenance.definition.clauses import Span, before_grouping, clause_of, list_of
from dbt.adapters.icebergmv.maintenance.definition.column_lists import reads_every_column
from dbt.adapters.icebergmv.maintenance.definition.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.table_references import TextEdit, with_edits

ROW = "icebergmv_row_"
"""How the names of the columns of such a query begin."""

_BELOW = ("with_", "from_", "joins", "laterals", "where")
_ABOVE = ("expressions", "group", "order")
_ANY_TERM = f"`{ROW}term`"


@dataclass(frozen=True)
class RowsBelow:
    """The rows that a SELECT aggregates: `sql` gives them, and its columns are written `columns` in the WHERE.

    `where` is the place of the condition in the text of the SELECT; without one only the place where it would be.
    """

    sql: str
    columns: tuple[str, ...]
    where: tuple[int, int]

    def limited_to(self, predicate: str) -> tuple[TextEdit, ...]:
        """Return what the text of the SELECT needs so that it reads only the rows for which a predicate holds."""
        start, end = self.where
        if start == end:
            return (TextEdit(end, end, f" WHERE ({predicate})"),)
        return TextEdit(start, start, "("), TextEdit(end, end, f") AND ({predicate})")


def column_name(number: int) -> str:
    """Return the name of a column of the rows."""
    return f"{ROW}{number}"


def rows_below(parsed: ParsedSql, sql: str, columns: Sequence[tuple[str, str]]) -> RowsBelow | None:
    """Return the rows below a SELECT that is one aggregate; None where its text cannot be taken apart for certain.

    `columns` are the text and the name of each column that its WHERE can write. All that may be read are kept.
    """
    select, tokens = parsed.tree, parsed.tokens
    if not isinstance(select, exp.Select) or any(v for a, v in select.args.items() if a not in (*_BELOW, *_ABOVE)):
        return None
    named = {c.name.lower() for item in select.expressions for c in item.find_all(exp.Column)}
    words, every = named | {t.text.lower() for t in tokens}, reads_every_column(select)
    kept = tuple(text for text, name in columns if every or name.lower() in words)
    items, behind = list_of(select, tokens), before_grouping(select, tokens)
    if not kept or items is None or behind is None or ROW in sql.lower():
        return None
    listed = ", ".join(f"{text} AS {column_name(n)}" for n, text in enumerate(kept))
    head, tail = sql[: tokens[items.start - 1].end + 1], sql[tokens[items.end].start : tokens[behind - 1].end + 1]
    found = RowsBelow(f"{head} {listed} {tail}", kept, _where(select, behind, tokens))
    return found if _is_proven(found, select, sql, listed) else None


def _where(select: exp.Select, behind: int, tokens: Sequence[Token]) -> tuple[int, int]:
    end = tokens[behind - 1].end + 1
    where = select.args.get("where")
    condition = Span(behind, behind) if where is None else clause_of(where, tokens)
    start = end if condition is None or where is None else tokens[condition.start].start
    return start, end


def _is_proven(rows: RowsBelow, select: exp.Select, sql: str, listed: str) -> bool:
    """Return whether both texts parse to the syntax tree of the SELECT with the same changes."""
    items, term = parse(f"SELECT {listed}"), parse(f"SELECT {_ANY_TERM}")
    below, limited = parse(rows.sql), parse(with_edits(sql, rows.limited_to(_ANY_TERM)))
    if not all(isinstance(found, ParsedSql) for found in (items, term, below, limited)):
        return False
    copy = select.copy()
    wanted = exp.Select(**{a: v for a, v in copy.args.items() if a in _BELOW}, expressions=items.tree.expressions)  # type: ignore[union-attr]
    again, condition = select.copy(), exp.Paren(this=term.tree.expressions[0])  # type: ignore[union-attr]
    before = again.args.get("where")
    both = condition if before is None else exp.And(this=exp.Paren(this=before.this), expression=condition)
    again.set("where", exp.Where(this=both))
    return below.tree == wanted and limited.tree == again  # type: ignore[union-attr]
