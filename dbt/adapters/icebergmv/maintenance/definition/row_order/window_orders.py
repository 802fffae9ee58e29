"""Windows whose value depends on how rows are ordered that tie, and by which columns they would tie no longer.

Of two rows that are equal in all columns that anything reads, it does not matter which comes first. So a window has one
value for every row where its PARTITION BY and ORDER BY have all these columns, of types whose equal values are one. A
float is compared with the sign of its zero: 0.0 and -0.0 tie, and can be told apart. More columns in ORDER BY give rows
of `row_number` and its like, and of an aggregate over a frame of ROWS, that the order as written could give, too. They
would change `rank`, and a frame of RANGE, in which rows that tie belong together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.references.unread_columns import words_of_read_columns
from dbt.adapters.icebergmv.maintenance.definition.row_order.order_dependence import COLLATION
from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import (
    aggregates_all_rows,
    is_generator,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import own_windows
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import DIALECT, parse_expression
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of, written_name
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import Finding, SettledCall, WindowOrder
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Sources
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedColumn
from dbt.adapters.icebergmv.maintenance.definition.tracking.written_columns import written_slot

MOST_COLUMNS = 100
"""Spark compares rows that tie column by column, by code that it makes for all of them."""

_SIGN_OF_ZERO = "({0} = 0 AND CAST({0} AS STRING) = '-0.0')"
"""Spark computes this of every row before it sorts: to make a text of every float took a quarter of the time more."""

_OTHER_ROWS = ("group", "having", "sample", "pivots", "connect", "match", "kind", "laterals")


def window_orders(select: exp.Select, names: Names) -> tuple[WindowOrder, ...]:
    """Return the windows of a SELECT that would have one value for every row, perhaps ordered by more columns."""
    sql = names.scope.sql
    own = own_windows(select, ("qualify",))
    windows = [window for window in own if _is_of_places(window, sql) and _has_order_of_its_own(window)]
    if not windows or any(map(select.args.get, _OTHER_ROWS)) or aggregates_all_rows(select):
        return ()
    # Texts of a collation may be equal and yet be told apart.
    if any(map(is_generator, select.expressions)) or COLLATION.search(sql):
        return ()
    read = _read_slots(names)
    if read is None:
        return ()
    orders = ((window, _more(window, read, names.sources)) for window in windows)
    return tuple(WindowOrder(id(window), more) for window, more in orders if more is not None)


def settled_nodes(found: Iterable[Finding]) -> frozenset[int]:
    """Return the nodes, of some findings, whose values no order of rows decides: windows as they are, sorted lists."""
    settled = (one for one in found if isinstance(one, SettledCall) or (isinstance(one, WindowOrder) and not one.more))
    return frozenset(one.node for one in settled)


def numbers_rows(window: exp.Window) -> bool:
    """Return whether a window calls `row_number` or its like, which read rows by their places."""
    call = window.this
    return isinstance(call, exp.Func) and known_of(written_name(call)).by_place


def is_of_rows(window: exp.Window) -> bool:
    """Return whether the frame of a window counts rows."""
    spec = window.args.get("spec")
    return spec is not None and str(spec.args.get("kind") or "").upper() == "ROWS"


def _is_of_places(window: exp.Window, sql: str) -> bool:
    """Return whether the value of a window follows from the place that the order gives to each row.

    Ranks have a frame of ROWS, too, if any is written, and look at the order alone.
    """
    if not is_of_rows(window):
        return window.args.get("spec") is None and numbers_rows(window)
    call = window.this
    while isinstance(call, (exp.Filter, exp.IgnoreNulls, exp.RespectNulls)):
        call = call.this
    known = known_of(written_name(call, sql)) if isinstance(call, exp.Func) else None
    return known is not None and (known.aggregate or known.by_place)


def _has_order_of_its_own(window: exp.Window) -> bool:
    return window.args.get("order") is not None and window.args.get("alias") is None


def _read_slots(names: Names) -> list[int] | None:
    """Return the columns of FROM that anything reads; None where that, or a value of one of them, is not certain."""
    sources, words = names.sources, words_of_read_columns(names.scope.sql)
    if sources.unknown or not sources.slots:
        return None
    read = {i for i, s in enumerate(sources.slots) if words is None or s.column.name.lower() in words}
    # What a FULL JOIN makes one column of is told by both of them.
    made = {slot: pair for pair, slot in sources.merged.items() if slot not in pair}
    read = read.difference(made).union(*(pair for slot, pair in made.items() if slot in read))
    is_certain = all(_has_one_value(sources.slots[slot].column) for slot in read)
    return sorted(read) if is_certain and len(read) <= MOST_COLUMNS else None


def _has_one_value(column: TrackedColumn) -> bool:
    """Return whether a column of a row is the same at every evaluation, and can be ordered by.

    Sums of floats are rounded on the way, and of two zeros any is the larger one. So a float is a column of a table.
    """
    is_of_table = any(not track.function and not track.is_of_literal for track in column.tracks)
    return column.kind is not None and not column.has_ties and (column.exact or is_of_table)


def _more(window: exp.Window, read: Iterable[int], sources: Sources) -> tuple[str, ...] | None:
    """Return the texts of what ORDER BY lacks; None where a column has no text."""
    keys = list(_keys_of(window))
    compared = {sources.resolve(key) for key in keys if isinstance(key, exp.Column)}
    signed = {_slot_of_sign(key, sources) for key in keys}
    texts: list[str] = []
    for slot in read:
        text = written_slot(slot, sources)
        if text is None:
            return None
        if slot not in compared:
            texts.append(text)
        if not sources.slots[slot].column.exact and slot not in signed:
            texts.append(_SIGN_OF_ZERO.format(text))
    return tuple(texts)


def _keys_of(window: exp.Window) -> Iterator[exp.Expr]:
    yield from window.args.get("partition_by") or ()
    for key in window.args["order"].expressions:
        yield key.this if isinstance(key, exp.Ordered) else key


def _slot_of_sign(key: exp.Expr, sources: Sources) -> int | None:
    """Return the float in FROM of whose zero a key is the sign; None where it is something else."""
    column = key.find(exp.Column) if isinstance(key, exp.Paren) else None
    if column is None or key != parse_expression(_SIGN_OF_ZERO.format(column.sql(dialect=DIALECT))):
        return None
    return sources.resolve(column)
