"""A SELECT in which each common table expression is used once: every further use gets a copy of its own.

One text of a table stands for all uses of a CTE around it, so a question about one use needs a text for it alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.icebergmv.maintenance.definition.clauses import closing, token_at
from dbt.adapters.icebergmv.maintenance.definition.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.table_references import TextEdit, cte_of, with_edits

MOST_CHARACTERS = 100_000
"""CTEs that use each other twice, many levels deep, make texts that nobody wants to run."""

_PREFIX = "icebergmv_copy_"


@dataclass(frozen=True)
class Copies:
    """A text, and for each of its characters the place that it has in the text that it was made from (-1: none)."""

    sql: str
    origins: Sequence[int]


def with_copies(sql: str) -> Copies | None:
    """Return the text with a copy for every further use of a CTE; None where that cannot be done for certain."""
    made = Copies(sql, range(len(sql)))
    if _PREFIX in sql.lower():
        return None
    number = 0
    while True:
        parsed = parse(made.sql)
        if not isinstance(parsed, ParsedSql):
            return None
        uses = _last_used_again(parsed.tree)
        if uses is None:
            return made
        cte, further = uses
        names = [f"{_PREFIX}{number + i}" for i in range(len(further))]
        copied = _copied(made, parsed, cte, dict(zip(names, further, strict=True)))
        if copied is None or len(copied.sql) > MOST_CHARACTERS:
            return None
        made, number = copied, number + len(further)


def _last_used_again(tree: exp.Expr) -> tuple[exp.CTE, list[exp.Table]] | None:
    """Return the last CTE in the text that is used more than once, with the uses after the first one."""
    uses: dict[int, tuple[exp.CTE, list[exp.Table]]] = {}
    for table in tree.find_all(exp.Table, bfs=False):
        cte = cte_of(table)
        if cte is not None and not _is_recursive(cte):
            uses.setdefault(id(cte), (cte, []))[1].append(table)
    again = [(cte, tables[1:]) for cte, tables in uses.values() if len(tables) > 1]
    return max(again, key=lambda found: _start(found[0]), default=None)


def _copied(made: Copies, parsed: ParsedSql, cte: exp.CTE, uses: dict[str, exp.Table]) -> Copies | None:
    span = _span(cte, parsed.tokens)
    places = [table.this.meta.get("start") for table in uses.values()]
    if span is None or None in places:
        return None
    start, end = span
    name_end = int(cte.args["alias"].this.meta["end"]) + 1
    edits = [TextEdit(end, end, "".join(f", {name}{made.sql[name_end:end]}" for name in uses))]
    origins = {end: [o for name in uses for o in (*[-1] * (len(name) + 2), *made.origins[name_end:end])]}
    for name, table in uses.items():
        at, behind = int(table.this.meta["start"]), int(table.this.meta["end"]) + 1
        text = name if table.alias else f"{name} AS {made.sql[at:behind]}"
        edits.append(TextEdit(at, behind, text))
        origins[at] = [-1] * len(text)
    again = Copies(with_edits(made.sql, edits), _moved(made.origins, edits, origins))
    reparsed = parse(again.sql)
    is_same = isinstance(reparsed, ParsedSql) and reparsed.tree == _edited(parsed.tree, cte, uses)
    return again if is_same and start < end else None


def _moved(before: Sequence[int], edits: Sequence[TextEdit], new: dict[int, list[int]]) -> list[int]:
    moved: list[int] = []
    position = 0
    for edit in sorted(edits, key=lambda e: e.start):
        moved += [*before[position : edit.start], *new[edit.start]]
        position = edit.end
    return [*moved, *before[position:]]


def _edited(tree: exp.Expr, cte: exp.CTE, uses: dict[str, exp.Table]) -> exp.Expr:
    """Return a copy of the tree with the copies."""
    nodes = {id(node): number for number, node in enumerate(tree.walk())}
    copy = list(tree.copy().walk())
    copied = copy[nodes[id(cte)]]
    copies = []
    for name in uses:
        again = copied.copy()
        again.args["alias"].set("this", exp.to_identifier(name))
        copies.append(again)
    for name, table in uses.items():
        used = copy[nodes[id(table)]]
        if not used.alias:
            used.set("alias", exp.TableAlias(this=used.this.copy()))
        used.set("this", exp.to_identifier(name))
    with_ = copied.parent
    if with_ is not None:
        at = next(i for i, one in enumerate(with_.expressions) if one is copied)
        with_.set("expressions", [*with_.expressions[: at + 1], *copies, *with_.expressions[at + 1 :]])
    return copy[0]


def _span(cte: exp.CTE, tokens: Sequence[Token]) -> tuple[int, int] | None:
    """Return the places in the text of `name (columns) AS (query)`."""
    at = token_at(_start(cte), tokens)
    for i in _after(at, tokens):
        if tokens[i].token_type == TokenType.ALIAS:
            opened = next((k for k in _after(i, tokens) if tokens[k].token_type == TokenType.L_PAREN), None)
            closed = None if opened is None else closing(opened, tokens)
            return None if closed is None else (_start(cte), tokens[closed].end + 1)
    return None


def _after(at: int | None, tokens: Sequence[Token]) -> Iterator[int]:
    return iter(()) if at is None else iter(range(at + 1, len(tokens)))


def _start(cte: exp.CTE) -> int:
    return int(cte.args["alias"].this.meta.get("start", -1))


def _is_recursive(cte: exp.CTE) -> bool:
    return bool(cte.parent is not None and cte.parent.args.get("recursive"))
