"""One more term in the WHERE of a SELECT, as a change of its text and of its syntax tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp
from sqlglot.tokens import Token

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import before_grouping, clause_of, end_before


def add_term(select: exp.Select, term: exp.Expr) -> None:
    """Put a term in front of the WHERE of a SELECT."""
    where = select.args.get("where")
    whole = term if where is None else exp.And(this=term, expression=exp.Paren(this=where.this))
    select.set("where", exp.Where(this=whole))


def edits_for_term(select: exp.Select, term: TextEdit, tokens: Sequence[Token]) -> list[TextEdit] | None:
    """Return the edits that put a term, wherever it is, in front of the WHERE; None where its place is not found.

    The term comes before what else is added to the first one of the WHERE, and a new WHERE behind the FROM.
    """
    where, behind = select.args.get("where"), before_grouping(select, tokens)
    if behind is None:
        return None
    end = end_before(behind, tokens)
    if where is None:
        return [replace(term, start=end, end=end, text=f" WHERE {term.text}", order=1)]
    condition = clause_of(where, tokens)
    if condition is None:
        return None
    start = end_before(condition.start, tokens)
    first = replace(term, start=start, end=start, text=f" {term.text}", behind=f"{term.behind} AND (", order=-1)
    return [first, TextEdit(end, end, ")")]
