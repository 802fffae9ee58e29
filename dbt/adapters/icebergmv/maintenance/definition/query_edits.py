"""The edits of a question, as places in the text of the query.

sqlglot keeps the places of names, not of keywords. So each keyword is looked for in the tokens before, or after, a name
that belongs to it; and the edited text must parse to the syntax tree with the same edits, or there is no question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import Edit, EditKind
from dbt.adapters.icebergmv.maintenance.definition.table_references import TextEdit, with_edits

_CLAUSES: Mapping[type[exp.Expr], TokenType] = {
    exp.Where: TokenType.WHERE,
    exp.Having: TokenType.HAVING,
    exp.Qualify: TokenType.QUALIFY,
}
_SET_OPERATIONS = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)
_SIDES = (TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.OUTER)
_JOINS: Mapping[EditKind, tuple[str | None, str | None]] = {
    "inner join": (None, "INNER"),
    "left join": ("LEFT", None),
    "right join": ("RIGHT", None),
}
"""The side and the kind of a join after the edit."""


def text_edits(parsed: ParsedSql, sql: str, edits: Collection[Edit]) -> tuple[TextEdit, ...] | None:
    """Return the edits of a parsed text as places in it; None when one of them cannot be found for certain."""
    if not edits:
        return ()
    nodes = list(parsed.tree.walk())
    numbers = {id(node): number for number, node in enumerate(nodes)}
    wanted = [(edit.kind, numbers[edit.node]) for edit in edits]
    found = [_place(kind, nodes[number], parsed.tokens) for kind, number in wanted]
    places = sorted((p for p in found if p is not None), key=lambda p: p.start)
    if len(places) < len(found):
        return None
    again = parse(with_edits(sql, places))
    is_same = isinstance(again, ParsedSql) and again.tree == _edited(parsed.tree, wanted)
    return tuple(places) if is_same else None


def _edited(tree: exp.Expr, edits: Sequence[tuple[EditKind, int]]) -> exp.Expr:
    """Return a copy of the tree with the edits; nodes are given by their number in a walk."""
    copy = exp.Paren(this=tree.copy())
    nodes = list(copy.this.walk())
    for kind, number in edits:
        _edit(kind, nodes[number])
    return copy.this  # type: ignore[no-any-return]


def _edit(kind: EditKind, node: exp.Expr) -> None:
    match kind:
        case "all rows":
            first = node.this
            while isinstance(first, exp.Or):
                first = first.this
            either = exp.Or(this=exp.true())
            first.replace(either)
            either.set("expression", first)
        case "semi join":
            node.set("kind", "SEMI")
        case "union":
            node.replace(exp.Union(**node.args))
        case _:
            side, join_kind = _JOINS[kind]
            node.set("side", side)
            node.set("kind", join_kind)


def _place(kind: EditKind, node: exp.Expr, tokens: Sequence[Token]) -> TextEdit | None:
    match kind:
        case "all rows":
            return _let_all_pass(node, tokens)
        case "union":
            at = _last_before(_first_name(node.expression, tokens), _SET_OPERATIONS, tokens)
            return None if at is None else _replaced(tokens[at : at + 1], "UNION")
        case _:
            return _joined(kind, node, tokens)


def _let_all_pass(clause: exp.Expr, tokens: Sequence[Token]) -> TextEdit | None:
    select = clause.parent
    own = (n for n in _names(select) if n.find_ancestor(exp.Query, exp.CTE) is select)
    name = min((_start(n) for n in own), default=None)
    at = _last_before(_index(name, tokens), (TokenType.SELECT,), tokens)
    if at is None:
        return None
    depth = 0
    for token in tokens[at + 1 :]:
        depth += _deeper(token)
        if depth < 0 or (depth == 0 and token.token_type in _SET_OPERATIONS):
            return None
        if depth == 0 and token.token_type == _CLAUSES[type(clause)]:
            return TextEdit(token.end + 1, token.end + 1, " true OR")
    return None


def _joined(kind: EditKind, join: exp.Expr, tokens: Sequence[Token]) -> TextEdit | None:
    at = _last_before(_first_name(join.this, tokens), (TokenType.JOIN,), tokens)
    if at is None:
        return None
    start = at
    while start > 0 and tokens[start - 1].token_type in (*_SIDES, TokenType.SEMI, TokenType.ANTI):
        start -= 1
    words = tokens[start:at]
    if kind == "semi join":
        words = [t for t in words if t.token_type == TokenType.ANTI]
        return _replaced(words, "SEMI")
    side, join_kind = _JOINS[kind]
    return _replaced(words, side or join_kind or "")


def _replaced(words: Sequence[Token], text: str) -> TextEdit | None:
    return TextEdit(words[0].start, words[-1].end + 1, text) if words else None


def _names(node: exp.Expr | None) -> Iterator[exp.Identifier]:
    for name in node.find_all(exp.Identifier) if node is not None else ():
        if "start" in name.meta:
            yield name


def _start(name: exp.Identifier) -> int:
    return int(name.meta["start"])


def _first_name(node: exp.Expr, tokens: Sequence[Token]) -> int | None:
    """Return the number of the token that is the first name in a node."""
    return _index(min((_start(n) for n in _names(node)), default=None), tokens)


def _index(start: int | None, tokens: Sequence[Token]) -> int | None:
    return next((i for i, token in enumerate(tokens) if token.start == start), None)


def _last_before(at: int | None, kinds: Sequence[TokenType], tokens: Sequence[Token]) -> int | None:
    """Return the last token of these kinds before another one and outside parentheses that are closed by then."""
    depth = 0
    for i in range((at or 0) - 1, -1, -1):
        depth -= _deeper(tokens[i])
        if depth <= 0 and tokens[i].token_type in kinds:
            return i
    return None


def _deeper(token: Token) -> int:
    if token.token_type == TokenType.L_PAREN:
        return 1
    return -1 if token.token_type == TokenType.R_PAREN else 0
