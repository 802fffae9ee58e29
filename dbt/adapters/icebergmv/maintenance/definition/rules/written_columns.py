"""How the columns of FROM are written in the WHERE of the same SELECT."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.rules.from_columns import Slot, Sources
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, qualified


def written_columns(select: exp.Select, sources: Sources) -> tuple[tuple[str, str], ...]:
    """Return the text and the name of each column of FROM that a text means; none if the SELECT list reads more.

    The pair that a FULL join equates is written as coalesce of both.
    """
    written = {i: text for i, slot in enumerate(sources.slots) if (text := _written(i, slot, sources)) is not None}
    if sources.unknown or not all(_reads_only(written.keys(), item, sources) for item in select.expressions):
        return ()
    return tuple((text, sources.slots[i].column.name) for i, text in written.items())


def _written(slot: int, of: Slot, sources: Sources) -> str | None:
    """Return what means a slot of FROM and nothing else; None where nothing does."""
    name = of.column.name
    if sources.resolve(_column(name, of.alias)) == slot:
        return qualified(of.alias, name) if of.alias else identifier(name)
    for pair, merged in sources.merged.items():
        parts = [_written(i, sources.slots[i], sources) for i in sorted(pair) if i != slot]
        if merged == slot and len(parts) == len(pair) and None not in parts:
            return f"coalesce({', '.join(map(str, parts))})"
    return None


def _column(name: str, alias: str) -> exp.Column:
    return exp.column(name, table=alias or None)


def _reads_only(slots: Collection[int], item: exp.Expr, sources: Sources) -> bool:
    """Return whether an item of the SELECT list reads nothing but columns of these slots; count(*) reads rows."""
    for node in item.walk():
        if isinstance(node, exp.Query):
            return False
        if isinstance(node, exp.Star) and not _counts_rows(node):
            return False
        if isinstance(node, exp.Column) and sources.resolve(node) not in slots:
            return False
    return True


def _counts_rows(star: exp.Star) -> bool:
    count = star.parent
    return isinstance(count, exp.Count) and not count.args.get("expressions") and not any(star.args.values())
