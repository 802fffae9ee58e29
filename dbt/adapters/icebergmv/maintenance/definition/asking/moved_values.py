"""A scalar subquery in a WHERE whose value changed: which rows does one of both values let pass, and the other not?

The rows of FROM stay what they are. As for a clock that moved (see moved_clock.py), the question is the SELECT with the
difference in place of the term that holds the subquery, here with both values of it:

    (new OR old) AND NOT (new <=> old)

So the answer of `WHERE day >= (SELECT max(day) FROM sales) - INTERVAL 30 DAYS` is a few days. It flows upwards as that
of the rows of a subquery does (see rules/answers.py); both answer the same columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.asking.on_demand import OnDemand
from dbt.adapters.icebergmv.maintenance.definition.asking.parts import Part
from dbt.adapters.icebergmv.maintenance.definition.asking.query_edits import term_span, text_edits
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, part_of, with_edits
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import Span, characters, parentheses_around
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse, parse_expression
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import term_around
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Question

_PLACE = "icebergmv_term"
_NO_VALUE = "(NULL)"


@dataclass(frozen=True)
class MovedTerm:
    """A term of a WHERE, by its place in a text; the scalar subquery in it; and the edits of the text around it."""

    start: int
    end: int
    subquery: Part
    edits: tuple[TextEdit, ...] = ()

    def difference(self, sql: str, texts: Mapping[TableReference, str], new: str, old: str) -> TextEdit:
        """Return the edit that lets those rows pass for which the term is true with one of two values alone.

        `texts` are those of the references in the text, and the values are SQL.
        """
        of_new, of_old = (self._with_value(sql, texts, value) for value in (new, old))
        return TextEdit(self.start, self.end, passes_once(of_new, of_old))

    def _with_value(self, sql: str, texts: Mapping[TableReference, str], value: str) -> str:
        edit = TextEdit(self.subquery.start, self.subquery.end, f"({value})")
        return part_of(sql, texts, self.start, self.end, [edit])


def passes_once(new: str, old: str) -> str:
    """Return the condition that is true where one of two conditions is, and the other not, whatever is NULL in them.

    The first half is there for Iceberg, which prunes files by it.
    """
    return f"((({new}) OR ({old})) AND NOT (({new}) <=> ({old})))"


def moved_terms(
    parsed: ParsedSql, scalars: Mapping[int, Sequence[Part]], questions: Mapping[int, Question]
) -> Mapping[int, MovedTerm]:
    """Return, for references that only scalar subqueries read, the term of a WHERE that holds the outermost of these.

    Such a subquery may read the row around it. Spark refuses to say its value then.
    """
    wanted = {index: (parts, questions[index]) for index, parts in scalars.items() if index in questions}
    return OnDemand({i: partial(_moved_term, parts, q, parsed) for i, (parts, q) in wanted.items()})


def _moved_term(parts: Sequence[Part], question: Question, parsed: ParsedSql) -> MovedTerm | None:
    left_alone = {edit.node for edit in question.edits if edit.kind == "exists"}
    queries = [node for node in parsed.tree.find_all(exp.Query) if id(node) in left_alone]
    for part in parts:
        for query in queries:
            if _place(query, parsed) == (part.start, part.end):
                return _around(query, part, question, parsed)
    return None


def _place(query: exp.Query, parsed: ParsedSql) -> tuple[int, int] | None:
    around = parentheses_around(query, Span(0, len(parsed.tokens)), parsed.tokens)
    return None if around is None else characters(around, parsed.tokens)


def _around(query: exp.Query, part: Part, question: Question, parsed: ParsedSql) -> MovedTerm | None:
    """Return the term around a subquery; None where its place in the text is in doubt."""
    where = query.find_ancestor(exp.Where)
    if where is None:
        return None
    term = term_around(where, query)
    span, inside = term_span(term, parsed.tokens), {id(node) for node in term.walk()}
    edits = text_edits(parsed, [edit for edit in question.edits if edit.node not in inside])
    if span is None or span.end <= span.start or edits is None:
        return None
    found = MovedTerm(*characters(span, parsed.tokens), part, edits)
    return found if _is_whole(found, term, parsed.sql) and _holds(found, term, query, parsed.sql) else None


def _is_whole(found: MovedTerm, term: exp.Expr, sql: str) -> bool:
    """Return whether the text with one name in place of the term parses to the tree with that name."""
    around = parse(with_edits(sql, found.edits))
    placed = parse(with_edits(sql, [*found.edits, TextEdit(found.start, found.end, _PLACE)]))
    if not isinstance(around, ParsedSql) or not isinstance(placed, ParsedSql):
        return False
    places = [column for column in placed.tree.find_all(exp.Column) if column.name == _PLACE]
    if len(places) != 1:
        return False
    places[0].replace(term.copy())
    return placed.tree == around.tree


def _holds(found: MovedTerm, term: exp.Expr, query: exp.Query, sql: str) -> bool:
    """Return whether the text of the term with one value in place of the subquery parses to the term with it."""
    at = next(number for number, node in enumerate(term.walk()) if node is query.parent)
    copy = exp.Paren(this=term.copy())
    list(copy.this.walk())[at].replace(parse_expression(_NO_VALUE))
    edit = TextEdit(found.subquery.start, found.subquery.end, _NO_VALUE)
    text = part_of(sql, {}, found.start, found.end, [edit])
    again = parse(f"SELECT 1 WHERE ({text})")
    return isinstance(again, ParsedSql) and again.tree.args["where"].this == copy
