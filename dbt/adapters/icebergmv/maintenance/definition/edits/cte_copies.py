"""A SELECT in which each common table expression is used once, but for recursive ones: further uses get copies.

One text of a table stands for all uses of a CTE around it, so a question about one use needs a text for it alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import cte_of, is_recursive
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import characters, cte_span, cte_start
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse

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
    number, parsed = 0, parse(sql)
    while isinstance(parsed, ParsedSql):
        uses = _last_used_again(parsed.tree)
        if uses is None:
            return made
        cte, further = uses
        named = {f"{_PREFIX}{number + i}": table for i, table in enumerate(further)}
        copied = _copied(made, parsed, cte, named)
        if copied is None or len(copied.sql) > MOST_CHARACTERS:
            return None
        wanted = _edited(parsed.tree, cte, named)
        parsed = parse(copied.sql)
        if not isinstance(parsed, ParsedSql) or parsed.tree != wanted:
            return None
        made, number = copied, number + len(further)
    return None


def _last_used_again(tree: exp.Expr) -> tuple[exp.CTE, list[exp.Table]] | None:
    """Return the last CTE in the text that is used more than once, with the uses after the first one."""
    uses: dict[int, tuple[exp.CTE, list[exp.Table]]] = {}
    for table in tree.find_all(exp.Table, bfs=False):
        cte = cte_of(table)
        if cte is not None and not is_recursive(cte):
            uses.setdefault(id(cte), (cte, []))[1].append(table)
    again = [(cte, tables[1:]) for cte, tables in uses.values() if len(tables) > 1]
    return max(again, key=lambda found: cte_start(found[0]), default=None)


def _copied(made: Copies, parsed: ParsedSql, cte: exp.CTE, uses: dict[str, exp.Table]) -> Copies | None:
    """Return the text with copies of an expression, by their names; None where its place in the text is not known."""
    span = cte_span(cte, parsed.tokens)
    places = [table.this.meta.get("start") for table in uses.values()]
    if span is None or None in places:
        return None
    # A copy comes before the original, so that names in it mean what they mean there.
    start, end = characters(span, parsed.tokens)
    name_end = parsed.tokens[span.start].end + 1
    edits = [TextEdit(start, start, "".join(f"{name}{made.sql[name_end:end]}, " for name in uses))]
    origins = {start: [o for name in uses for o in (*[-1] * len(name), *made.origins[name_end:end], -1, -1)]}
    for name, table in uses.items():
        at, behind = int(table.this.meta["start"]), int(table.this.meta["end"]) + 1
        text = name if table.alias else f"{name} AS {made.sql[at:behind]}"
        edits.append(TextEdit(at, behind, text))
        origins[at] = [-1] * len(text)
    return Copies(with_edits(made.sql, edits), _moved(made.origins, edits, origins))


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
        with_.set("expressions", [*with_.expressions[:at], *copies, *with_.expressions[at:]])
    return copy[0]
