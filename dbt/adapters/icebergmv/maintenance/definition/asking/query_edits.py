"""The edits of a question, as places in the text of the query.

The text is never regenerated: each edit is a change of a few words in it. The edited text must parse to the syntax tree
with the same edits, or there is no question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.edits.added_terms import add_term, edits_for_term
from dbt.adapters.icebergmv.maintenance.definition.edits.outlines import outline_around
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import (
    SET_OPERATIONS,
    Span,
    before_grouping,
    characters,
    clause_of,
    end_before,
    first_name,
    last_before,
    list_of,
    on_of,
    operand_before,
    parentheses_around,
    terms_of,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse_expression, parses_to
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import conjuncts, term_around
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Edit, EditKind

_SIDES = (TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.OUTER)
_JOINS: Mapping[EditKind, tuple[str | None, str | None]] = {
    "inner join": (None, "INNER"),
    "left join": ("LEFT", None),
    "right join": ("RIGHT", None),
}
"""The side and the kind of a join after the edit."""

_SOME_ROW = "count(1) > 0"

_LATER: Mapping[EditKind, int] = {"some row": 1, "union": 2, "where exists": 3, "where in": 3}


_COPIES = ("where exists", "where in")
_LOCAL = frozenset(["all rows", "some row", "union", "semi join", *_JOINS])
"""What leaves every query, and so every name of a relation, where it is."""


def text_edits(parsed: ParsedSql, edits: Collection[Edit]) -> tuple[TextEdit, ...] | None:
    """Return the edits of a parsed text as places in it; None when one of them cannot be found for certain."""
    if not edits:
        return ()
    nodes, numbers = parsed.nodes, parsed.numbers
    wanted = sorted((numbers[e.node], e.kind) for e in edits)
    found: list[TextEdit] = []
    for number, kind in wanted:
        places = _places(kind, nodes[number], parsed.sql, parsed.tokens)
        if places is None:
            return None
        found += places
    found.sort(key=lambda edit: (edit.start, edit.order))
    is_same = _is_same_by_outline(parsed, wanted, found) or _is_same(parsed, wanted, found)
    return tuple(found) if is_same else None


def _is_same(parsed: ParsedSql, wanted: Sequence[tuple[int, EditKind]], found: Sequence[TextEdit]) -> bool:
    """Return whether the edited text parses to the edited tree; nodes are given by their number in a walk."""
    copy = exp.Paren(this=parsed.tree.copy())
    nodes = list(copy.this.walk())
    edits = [(nodes[number], kind) for number, kind in _order(wanted)]
    return parses_to(with_edits(parsed.sql, found), _edited(copy, edits))


def _is_same_by_outline(parsed: ParsedSql, wanted: Sequence[tuple[int, EditKind]], found: Sequence[TextEdit]) -> bool:
    """Return whether the outline of the edited text shows that it parses to the edited tree; it may not.

    Edits that drop or copy a query leave the text with other names in scope, so for these the whole text is parsed.
    """
    if not all(kind in _LOCAL for _, kind in wanted):
        return False
    outline = outline_around(parsed, [parsed.nodes[number] for number, _ in wanted])
    if outline is None or not outline.edits:
        return False
    edits = [(outline.copies[id(parsed.nodes[number])], kind) for number, kind in _order(wanted)]
    return parses_to(with_edits(parsed.sql, [*found, *outline.edits]), _edited(outline.tree, edits))


def _order(edits: Sequence[tuple[int, EditKind]]) -> list[tuple[int, EditKind]]:
    """Return edits as they are made.

    Conditions come first, then what is put around them; a set operation, whose node goes, comes later. Copies come
    last, the inner ones before those of what is around them.
    """
    return sorted(edits, key=lambda e: (_LATER.get(e[1], 0), -e[0] if e[1] in _COPIES else e[0]))


def _edited(copy: exp.Paren, edits: Iterable[tuple[exp.Expr, EditKind]]) -> exp.Expr:
    """Return what is in parentheses after some edits of its nodes."""
    for node, kind in edits:
        _edit(kind, node)
    return copy.this  # type: ignore[no-any-return]


def _edit(kind: EditKind, node: exp.Expr) -> None:
    match kind:
        case "all rows":
            holder = exp.Paren()
            node.replace(holder)
            holder.set("this", _after_true(node))
        case "no term":
            node.replace(exp.true())
        case "some row":
            _require_a_row(node)
        case "exists":
            _term_around(node).replace(exp.Exists(this=node))
        case "in":
            _term_around(node).replace(node.find_ancestor(exp.In))
        case "where exists":
            add_term(_select_around(node), exp.Exists(this=node.copy()))
        case "where in":
            compared = node.find_ancestor(exp.In)
            add_term(_select_around(node), exp.In() if compared is None else compared.copy())
        case "semi join":
            node.set("kind", "SEMI")
        case "union":
            node.replace(exp.Union(**node.args))
        case _:
            side, join_kind = _JOINS[kind]
            node.set("side", side)
            node.set("kind", join_kind)


def _after_true(term: exp.Expr) -> exp.Expr:
    """Return `true OR term`, which parses from left to right."""
    if isinstance(term, exp.Or):
        return exp.Or(this=_after_true(term.this), expression=term.expression)
    return exp.Or(this=exp.true(), expression=term)


def _require_a_row(select: exp.Expr) -> None:
    some_row, having = parse_expression(_SOME_ROW), select.args.get("having")
    condition = some_row if having is None else exp.And(this=some_row, expression=having.this)
    select.set("having", exp.Having(this=condition))


def _term_around(query: exp.Expr) -> exp.Expr:
    """Return the term of WHERE that holds a subquery."""
    where = query.find_ancestor(exp.Where)
    if where is None:
        raise AssertionError("only subqueries of a WHERE are left alone in their term")
    return term_around(where, query)


def _select_around(query: exp.Expr) -> exp.Select:
    """Return the SELECT in whose list a subquery is."""
    select = query.find_ancestor(exp.Select)
    if select is None:
        raise AssertionError("only subqueries in the list of a SELECT are copied to its WHERE")
    return select


def _places(kind: EditKind, node: exp.Expr, sql: str, tokens: Sequence[Token]) -> list[TextEdit] | None:
    """Return what an edit changes in the text; None when its place is not found."""
    match kind:
        case "all rows":
            return _let_all_pass(term_span(node, tokens), tokens)
        case "no term":
            span = term_span(node, tokens)
            # Blanks: nothing need be between a parenthesis and the words beside it.
            return None if span is None else [_replaced(tokens[span.start : span.end], " true ")]
        case "some row":
            return _with_having(node, tokens)
        case "exists" | "in":
            return _leave_subquery(node, kind, tokens)
        case "where exists" | "where in":
            return _copy_subquery(node, kind, sql, tokens)
        case "union":
            at = last_before(first_name(node.expression, tokens), SET_OPERATIONS, tokens)
            return None if at is None else [_replaced(tokens[at : at + 1], "UNION")]
        case _:
            return _joined(kind, node, tokens)


def term_span(term: exp.Expr, tokens: Sequence[Token]) -> Span | None:
    """Return the tokens of a condition of HAVING or QUALIFY, or of a term of WHERE or ON."""
    clause = term.find_ancestor(exp.Where, exp.Having, exp.Qualify, exp.Join)
    if not isinstance(clause, (exp.Where, exp.Having, exp.Qualify, exp.Join)):
        return None
    condition = on_of(clause, tokens) if isinstance(clause, exp.Join) else clause_of(clause, tokens)
    whole = clause.args.get("on") if isinstance(clause, exp.Join) else clause.this
    if condition is None or term is whole:
        return condition
    nodes, spans = list(conjuncts(whole)), list(terms_of(condition, tokens))
    at = next((i for i, node in enumerate(nodes) if node is term), None)
    return None if at is None or len(nodes) != len(spans) else spans[at]


def _let_all_pass(term: Span | None, tokens: Sequence[Token]) -> list[TextEdit] | None:
    if term is None or term.end <= term.start:
        return None
    start, end = characters(term, tokens)
    return [TextEdit(start, start, "(true OR "), TextEdit(end, end, ")")]


def _with_having(select: exp.Expr, tokens: Sequence[Token]) -> list[TextEdit] | None:
    """Require some row before the term that begins at the same place, or behind the one that ends there."""
    having = select.args.get("having")
    if having is None:
        behind = before_grouping(select, tokens) if isinstance(select, exp.Select) else None
        place = None if behind is None else end_before(behind, tokens)
        return None if place is None else [TextEdit(place, place, f" HAVING {_SOME_ROW}", order=2)]
    condition = clause_of(having, tokens)
    place = None if condition is None else end_before(condition.start, tokens)
    return None if place is None else [TextEdit(place, place, f" {_SOME_ROW} AND", order=-1)]


def _leave_subquery(query: exp.Expr, kind: EditKind, tokens: Sequence[Token]) -> list[TextEdit] | None:
    term = term_span(_term_around(query), tokens)
    around = None if term is None or not isinstance(query, exp.Query) else parentheses_around(query, term, tokens)
    if term is None or around is None:
        return None
    start, end = characters(term, tokens)
    opened, closed = characters(around, tokens)
    behind = [TextEdit(closed, end, "")] if end > closed else []
    if kind == "exists":
        return [TextEdit(start, opened, "EXISTS "), *behind]
    compared = _compared_by_in(around, term, tokens)
    if compared is None:
        return None
    operand, operand_end = characters(compared, tokens)
    before = [TextEdit(start, operand, "")] if operand > start else []
    negation = tokens[compared.end].token_type == TokenType.NOT
    return [*before, *([TextEdit(operand_end, opened, " IN ")] if negation else []), *behind]


def _copy_subquery(query: exp.Expr, kind: EditKind, sql: str, tokens: Sequence[Token]) -> list[TextEdit] | None:
    select = _select_around(query)
    within = list_of(select, tokens)
    around = None if within is None or not isinstance(query, exp.Query) else parentheses_around(query, within, tokens)
    if within is None or around is None:
        return None
    copied = characters(around, tokens)
    if kind == "where exists":
        return edits_for_term(select, TextEdit(0, 0, "EXISTS ", copied), tokens)
    compared = _compared_by_in(around, within, tokens)
    if compared is None:
        return None
    # What is compared holds no table, so that nothing in it is edited.
    start, end = characters(compared, tokens)
    return edits_for_term(select, TextEdit(0, 0, f"{sql[start:end]} IN ", copied), tokens)


def _compared_by_in(around: Span, within: Span, tokens: Sequence[Token]) -> Span | None:
    """Return the tokens of x in `x IN (...)` or `x NOT IN (...)`, whose parentheses are given."""
    word = last_before(around.start, (TokenType.IN,), tokens)
    if word is None:
        return None
    end = word - (tokens[word - 1].token_type == TokenType.NOT)
    return Span(operand_before(end, within, tokens), end)


def _joined(kind: EditKind, join: exp.Expr, tokens: Sequence[Token]) -> list[TextEdit] | None:
    at = last_before(first_name(join.this, tokens), (TokenType.JOIN,), tokens)
    if at is None:
        return None
    start = at
    while start > 0 and tokens[start - 1].token_type in (*_SIDES, TokenType.SEMI, TokenType.ANTI):
        start -= 1
    words = [t for t in tokens[start:at] if kind != "semi join" or t.token_type == TokenType.ANTI]
    side, join_kind = ("SEMI", None) if kind == "semi join" else _JOINS[kind]
    return [_replaced(words, side or join_kind or "")] if words else None


def _replaced(words: Sequence[Token], text: str) -> TextEdit:
    return TextEdit(words[0].start, words[-1].end + 1, text)
