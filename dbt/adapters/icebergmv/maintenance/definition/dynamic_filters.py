"""The filters that joins with other tables are (rules/dynamic_filters.py), with their terms as text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.definition.parsing import ParsedSql, parse_query
from dbt.adapters.icebergmv.maintenance.definition.query_edits import term_span
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import Filter, Tracks


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


def dynamic_filters(parsed: ParsedSql, sql: str, found: Iterable[Filter]) -> tuple[DynamicFilter, ...]:
    """Return the filters that were found in a parsed text. A term whose place is in doubt is left out."""
    filters = tuple(found)
    texts = dict(_texts(parsed, sql, {term for one in filters for term in one.terms}))
    with_terms = ((one, tuple(text for term, text in texts.items() if term in one.terms)) for one in filters)
    return tuple(
        DynamicFilter(one.occurrence.index, one.alias, one.column, terms, one.tracks)
        for one, terms in with_terms
        if terms
    )


def _texts(parsed: ParsedSql, sql: str, terms: Collection[int]) -> Iterator[tuple[int, str]]:
    """Yield terms, given by the id() of their nodes, with their texts, in the order of the tree."""
    for node in parsed.tree.walk() if terms else ():
        span = term_span(node, parsed.tokens) if id(node) in terms else None
        if span is None or span.end <= span.start:
            continue
        text = sql[parsed.tokens[span.start].start : parsed.tokens[span.end - 1].end + 1]
        again = parse_query(f"SELECT 1 WHERE {text}\n")
        where = None if again is None else again.args.get("where")
        if where is not None and where.this.unnest() == node.unnest():
            yield id(node), text
