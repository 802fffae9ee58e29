"""The filters that joins with other tables are (rules/dynamic_filters.py), with their terms as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.asking.query_edits import term_span
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import characters, span_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse_query
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import Filter, FilterTerm
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Tracks
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified


@dataclass(frozen=True)
class DynamicFilter:
    """The rows of a reference that pass `terms`, under its `alias`, have the only keys that are kept of other tables.

    No row of the view depends, by one of the `tracks`, on a row that leads to another value than their `column` has.
    """

    reference: int
    alias: str
    column: str
    terms: tuple[str, ...]
    tracks: Tracks


def dynamic_filters(parsed: ParsedSql, found: Iterable[Filter]) -> tuple[DynamicFilter, ...]:
    """Return the filters that were found in a parsed text and have a term. Without some terms, more rows pass."""
    filters = [one for one in found if one.terms]
    nodes = {id(node): node for node in parsed.tree.walk()} if filters else {}
    with_text = ((one, _texts(one, nodes, parsed)) for one in filters)
    return tuple(
        DynamicFilter(one.occurrence.index, one.alias, one.column, terms, one.tracks)
        for one, terms in with_text
        if terms
    )


def _texts(one: Filter, nodes: Mapping[int, exp.Expr], parsed: ParsedSql) -> tuple[str, ...]:
    """Return the terms of a filter as texts over its table, in the order of the text."""
    found = (_text(term, one.alias, nodes, parsed) for term in one.terms)
    return tuple(text for _, text in sorted(place for place in found if place is not None))


def _text(term: FilterTerm, alias: str, nodes: Mapping[int, exp.Expr], parsed: ParsedSql) -> tuple[int, str] | None:
    """Return where a term is in the text, and its text over the table; None where its place is in doubt."""
    node, span = nodes[term.node], term_span(nodes[term.node], parsed.tokens)
    if span is None or span.end <= span.start:
        return None
    start, end = characters(span, parsed.tokens)
    again = parse_query(f"SELECT 1 WHERE {parsed.sql[start:end]}\n")
    where = None if again is None else again.args.get("where")
    if where is None or where.this.unnest() != node.unnest():
        return None
    places = [(span_of(nodes[column]), name) for column, name in term.columns]  # type: ignore[arg-type]
    if any(first < start or behind > end for (first, behind), _ in places):
        return None
    edits = [TextEdit(first - start, behind - start, qualified(alias, name)) for (first, behind), name in places]
    return start, with_edits(parsed.sql[start:end], edits)
