"""The texts of common table expressions that are used several times: each by itself, and the SELECT around it.

In the text around it a table takes the place of the expression, so that what follows from its rows is known as it is of
any table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import cte_of, is_recursive
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import Span, characters, cte_span, end_before
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse

TABLE = "icebergmv_shared"
"""The name of the table in the place of the expression."""


@dataclass(frozen=True)
class SharedText:
    """A common table expression as a query of its own, with the WITH in front of it, and the text around it.

    Of its own text what is behind `body` is in the whole text `moved` characters further. `inside` are the places of
    the whole text, end exclusive, of which nothing is read but through it.
    """

    own: str
    body: int
    moved: int
    inside: tuple[tuple[int, int], ...]
    around: str

    def place(self, start: int) -> int:
        """Return where in the whole text a place of its own text is."""
        return start if start < self.body else start + self.moved

    def holds(self, start: int) -> bool:
        """Return whether what is read at a place of the whole text is read through it alone."""
        return any(first <= start < behind for first, behind in self.inside)


def shared_texts(sql: str) -> Iterator[SharedText]:
    """Yield the texts of each expression of the first WITH that is used several times, those of outer ones first."""
    parsed = parse(sql)
    with_ = parsed.tree.args.get("with_") if isinstance(parsed, ParsedSql) else None
    if not isinstance(parsed, ParsedSql) or with_ is None or with_.args.get("recursive") or TABLE in sql.lower():
        return
    spans = [cte_span(cte, parsed.tokens) for cte in with_.expressions]
    for number in reversed(range(len(spans))):
        found = _shared_text(number, with_.expressions, spans, parsed)
        if found is not None:
            yield found


def _shared_text(
    number: int, ctes: Sequence[exp.CTE], spans: Sequence[Span | None], parsed: ParsedSql
) -> SharedText | None:
    cte, span, tokens = ctes[number], spans[number], parsed.tokens
    uses = _uses(cte, parsed.tree)
    if len(uses) < 2 or span is None or cte.alias_column_names or cte.this.args.get("with_") or is_recursive(cte):
        return None
    before = spans[number - 1] if number else None
    if number and before is None:
        return None
    opened = next(i for i in range(span.start, span.end) if tokens[i].text == "(")
    start, end = tokens[opened + 1].start, end_before(span.end - 1, tokens)
    head = "" if before is None else parsed.sql[: end_before(before.end, tokens)] + "\n"
    own = head + parsed.sql[start:end]
    reparsed = parse(own)
    if not isinstance(reparsed, ParsedSql) or _without_with(reparsed.tree) != cte.this:
        return None
    inside = _inside(number, ctes, spans, parsed)
    return SharedText(own, len(head), start - len(head), inside, with_edits(parsed.sql, map(_table_for, uses)))


def _uses(cte: exp.CTE, tree: exp.Expr) -> list[exp.Table]:
    """Return the places that read an expression by name, in the order of the text."""
    return [table for table in tree.find_all(exp.Table, bfs=False) if cte_of(table) is cte]


def _table_for(use: exp.Table) -> TextEdit:
    start, end = int(use.this.meta["start"]), int(use.this.meta["end"]) + 1
    return TextEdit(start, end, TABLE if use.alias else f"{TABLE} AS {use.this.sql(dialect='spark', identify=True)}")


def _without_with(tree: exp.Expr) -> exp.Expr:
    copy = tree.copy()
    copy.set("with_", None)
    return copy


def _inside(
    number: int, ctes: Sequence[exp.CTE], spans: Sequence[Span | None], parsed: ParsedSql
) -> tuple[tuple[int, int], ...]:
    """Return the places of an expression, and of those before it that it alone reads."""
    inside: list[tuple[int, int]] = []
    for n in range(number, -1, -1):
        span, starts = spans[n], [int(use.this.meta["start"]) for use in _uses(ctes[n], parsed.tree)]
        is_its_own = bool(starts) and all(any(a <= start < b for a, b in inside) for start in starts)
        if span is not None and (n == number or is_its_own):
            inside.append(characters(span, parsed.tokens))
    return tuple(inside)
