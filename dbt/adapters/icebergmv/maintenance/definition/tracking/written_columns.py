"""How the columns of FROM are written in the WHERE of the same SELECT."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import counts_rows
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Sources
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, qualified


def written_columns(select: exp.Select, sources: Sources) -> tuple[tuple[str, str], ...]:
    """Return the text and the name of each column of FROM that a text means; none if the list, or HAVING, reads more.

    The pair that a FULL join equates is written as coalesce of both.
    """
    written = {i: text for i in range(len(sources.slots)) if (text := written_slot(i, sources)) is not None}
    having = select.args.get("having")
    read = select.expressions if having is None else [*select.expressions, having.this]
    if sources.unknown or not all(_reads_only(written.keys(), item, sources) for item in read):
        return ()
    return tuple((text, sources.slots[i].column.name) for i, text in written.items())


def compared_columns(select: exp.Select, sources: Sources) -> frozenset[str] | None:
    """Return, as texts, the columns that every DISTINCT of the SELECT list compares by themselves; None without any.

    Rows that differ in one of them are no duplicates of each other, to none of these calls.
    """
    calls = [call for item in select.expressions for call in item.find_all(exp.Distinct)]
    texts = [frozenset(_texts(call.expressions, sources)) for call in calls]
    return frozenset.intersection(*texts) if texts else None


def _texts(arguments: Iterable[exp.Expr], sources: Sources) -> Iterator[str]:
    for argument in arguments:
        slot = sources.resolve(argument) if isinstance(argument, exp.Column) else None
        text = None if slot is None else written_slot(slot, sources)
        if text is not None:
            yield text


def written_slot(slot: int, sources: Sources) -> str | None:
    """Return what means a slot of FROM and nothing else; None where nothing does."""
    named = named_slot(slot, sources)
    for pair, merged in sources.merged.items():
        parts = [named_slot(part, sources) for part in sorted(pair)]
        if named is None and merged == slot and slot not in pair and None not in parts:
            return f"coalesce({', '.join(map(str, parts))})"
    return named


def named_slot(slot: int, sources: Sources) -> str | None:
    """Return the name of a slot of FROM; None where that means something else, too."""
    alias, name = sources.slots[slot].alias, sources.slots[slot].column.name
    if sources.resolve(exp.column(name, table=alias or None)) != slot:
        return None
    return qualified(alias, name) if alias else identifier(name)


def _reads_only(slots: Collection[int], item: exp.Expr, sources: Sources) -> bool:
    """Return whether an item of the SELECT list reads nothing but columns of these slots; count(*) reads rows."""
    for node in item.walk():
        if isinstance(node, exp.Query):
            return False
        if isinstance(node, exp.Star) and not counts_rows(node):
            return False
        if isinstance(node, exp.Column) and sources.read_by(node) not in slots:
            return False
    return True
