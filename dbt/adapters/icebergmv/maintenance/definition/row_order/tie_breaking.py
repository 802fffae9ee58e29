"""The SELECT with more columns in the ORDER BY of its windows, so that no two rows tie that anything reads apart.

`row_number() OVER (PARTITION BY id ORDER BY ts)` may number rows of one `ts` in any order, a new one at every run. By
more columns, those of row_order/window_orders.py, there is one order, which the SELECT as written may have, too. So
rows that did not change keep their numbers, and changes of others can be followed through what these decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import closing, end_before, first_name
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse_expression, parses_to
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import Finding, WindowOrder


def tie_breaking(parsed: ParsedSql, found: Iterable[Finding]) -> tuple[TextEdit, ...]:
    """Return what the ORDER BY of the windows of a parsed text lacks; nothing where a place in it is in doubt."""
    wanted = {one.node: one.more for one in found if isinstance(one, WindowOrder) and one.more}
    if not wanted:
        return ()
    more_of: dict[int, tuple[str, ...]] = {}
    edits: list[TextEdit] = []
    for number, node in enumerate(parsed.nodes):
        more = wanted.get(id(node), ())
        place = _end_of_order(node, parsed.tokens) if more else 0
        if place is None:
            return ()
        if more:
            more_of[number] = more
            edits.append(TextEdit(place, place, "".join(f", {text}" for text in more)))
    edits.sort(key=lambda edit: edit.start)
    return tuple(edits) if parses_to(with_edits(parsed.sql, edits), _with_more(parsed.tree, more_of)) else ()


def _end_of_order(window: exp.Expr, tokens: Sequence[Token]) -> int | None:
    """Return where in the text the ORDER BY of a window ends: before ROWS, or before the parenthesis that closes it."""
    name = first_name(window.args["order"], tokens)
    over = next((i for i in range(name or 0, 0, -1) if tokens[i].token_type == TokenType.OVER), None)
    end = None if over is None else closing(over + 1, tokens)
    if over is None or end is None:
        return None
    inside = range(over + 2, end)
    behind = next((i for i in inside if tokens[i].token_type == TokenType.ROWS), end)
    return end_before(behind, tokens)


def _with_more(tree: exp.Expr, more: Mapping[int, Sequence[str]]) -> exp.Expr:
    """Return a copy of the tree with more in the ORDER BY of windows, which are given by their number in a walk."""
    copy = tree.copy()
    for number, node in enumerate(list(copy.walk())):
        for text in more.get(number, ()):
            order = parse_expression(f"row_number() OVER (ORDER BY {text})").args["order"]
            node.args["order"].append("expressions", order.expressions[0])
    return copy
