"""The columns of a definition, as Spark sees them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dbt.adapters.icebergmv.maintenance.definition.definition import check_names
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_hidden
from dbt.adapters.icebergmv.maintenance.definition.partitioning import parse_partition_by
from dbt.adapters.icebergmv.maintenance.lake import Lake, unless_refused
from dbt.adapters.icebergmv.maintenance.planning.queries.pinned_queries import pinned_query
from dbt.adapters.icebergmv.maintenance.sql.queries import describe_query
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, View, untracked
from dbt.adapters.icebergmv.maintenance.status.tables.names_in_full import names_in_full

_NARROW = re.compile(r"\b(?:tinyint|smallint)\b")
_SIZED_TEXT = re.compile(r"\b(?:var)?char\(\d+\)")


@dataclass(frozen=True)
class Column:
    """An output column: its name, and the type that Iceberg stores for it as Spark then shows it."""

    name: str
    type: str


def describe(lake: Lake, query: str) -> tuple[Column, ...]:
    """Return the columns of a query, as Spark's analyser sees them; no job runs."""
    return tuple(replace(c, type=stored_type(c.type)) for c in _as_computed(lake, query))


def _as_computed(lake: Lake, query: str) -> tuple[Column, ...]:
    """Return the columns of a query with the types that expressions over them have."""
    return tuple(Column(str(row[0]), str(row[1])) for row in lake.spark(describe_query(query)))


@dataclass(frozen=True)
class Columns:
    """The columns of a definition: those of its output, and the hidden ones that are stored besides.

    `widened` are stored as another type, in which an expression may give what it does not give in the SELECT.
    """

    output: tuple[Column, ...]
    hidden: tuple[Column, ...] = ()
    widened: frozenset[str] = frozenset()


def pinned_definition(inspection: Inspection) -> str:
    """Return the definition over all rows of its base tables, at the snapshots that were inspected."""
    return pinned_query(inspection.definition, inspection.bases, {})


def columns_of_definition(lake: Lake, inspection: Inspection) -> Columns | None:
    """Return the columns of the definition; None if hidden keys, or the SQL of views, cannot be in its text.

    The SELECT as it is written comes first: if it is wrong, Spark says so in the user's words.
    """
    definition = inspection.definition
    if not inspection.views and not definition.keys:
        return _described(lake, inspection)
    written = describe(lake, _as_written(inspection)) if inspection.views else None
    # Spark may reject the SQL of a view in this place, or a key, although the SELECT itself is right.
    found = unless_refused(lambda: _described(lake, inspection))
    if found is None or len(found.hidden) < len(definition.keys):
        return None
    return found if written in (None, found.output) else None


def _as_written(inspection: Inspection) -> str:
    request = inspection.request
    return names_in_full(request.sql, request.default_namespace, inspection.bases)


def _described(lake: Lake, inspection: Inspection) -> Columns:
    """Return the columns of the definition over its base tables; without hidden ones where Spark refuses those."""
    definition, merging = inspection.definition, inspection.definition.merging
    edits = () if merging is None else merging.edits
    if edits:
        # It may refuse what is computed for the hidden columns alone.
        with_hidden = unless_refused(lambda: _as_computed(lake, pinned_query(definition, inspection.bases, {}, edits)))
        if with_hidden is not None:
            return _columns(with_hidden)
    return _columns(_as_computed(lake, pinned_definition(inspection)))


def _columns(computed: Sequence[Column]) -> Columns:
    found = tuple(replace(c, type=stored_type(c.type)) for c in computed)
    hidden = tuple(c for c in found if is_hidden(c.name))
    widened = frozenset(c.name for c, of in zip(found, computed, strict=True) if c != of)
    return Columns(tuple(c for c in found if c not in hidden), hidden, widened)


def other_columns(stored: Sequence[Column], now: Sequence[Column]) -> str | None:
    """Return in which columns the SELECT and its stored rows differ, None if in none."""
    if tuple(stored) == tuple(now):
        return None
    had, has = {c.name: c.type for c in stored}, {c.name: c.type for c in now}
    found = [f"its column {n} is {t}, and was {had[n]}" for n, t in has.items() if n in had and had[n] != t]
    found += [f"its column {name} is new" for name in has if name not in had]
    found += [f"its column {name} is gone" for name in had if name not in has]
    return "; ".join(found) or "its columns are in another order"


def check_columns(view: View, columns: Columns) -> View:
    """Refuse columns that no table can hold; give up tracking when Spark's columns are not those of the analysis.

    Spark has the last word on the case of names, which USING takes from either side.
    """
    names = [c.name for c in columns.output]
    check_names(names)
    if view.request.config.partition_by is not None:
        parse_partition_by(view.request.config.partition_by, names)
    analysed = view.definition.columns
    if analysed is None:
        return view
    names += [c.name for c in columns.hidden] if view.definition.keys else []
    if [c.name.lower() for c in analysed] != [n.lower() for n in names]:
        return untracked(view, "its columns cannot be followed through the SELECT")
    named = tuple(replace(c, name=n) for c, n in zip(analysed, names, strict=True))
    return replace(view, definition=replace(view.definition, columns=named))


def stored_type(described: str) -> str:
    """Return the type that Iceberg stores for one that Spark describes."""
    return _SIZED_TEXT.sub("string", _NARROW.sub("int", described))
