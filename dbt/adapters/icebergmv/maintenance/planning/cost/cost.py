"""What reading a change costs against reading everything, in rows and partitions that the metadata counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf

from dbt.adapters.icebergmv.maintenance.catalog.manifests import count_files, manifests_of
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import partitions_of
from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Asked
from dbt.adapters.icebergmv.maintenance.planning.plan import Delta
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus, by_reference
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import IcebergSource, at_snapshot

FEW_ROWS = 100_000
"""Up to this many rows in all base tables, every plan costs about the same."""

MANY_ROWS = 2_000_000
"""From this many rows in all base tables, one scan of them takes seconds."""

_MOST_ASKED = 0.5
"""The share of all rows that may be read to ask. A full refresh reads all of them, and writes."""

_CHEAPLY_ASKED = 0.1
"""The same share, where it is known without asking, but roughly, what a change affects."""

_MUCH = 0.25
"""The share of all rows from which the other tables of a question are many."""

NEARLY_EVERYWHERE = 0.8
"""The share of changed partitions, or of affected rows, from which a full refresh is cheaper.

An overwrite of all takes 1.3 to 2 times as long.
"""

WORTH_ASKING = 0.1
"""The share of stored rows within bounds from which it is worth a query to know the keys in a few new rows."""

_WIDE = frozenset({"file", "month", "year"})
"""What changed, in words of `TableChange.unit`, where it holds many rows besides those that changed."""

COLD_SECONDS_ASKED = 15.0
"""Questions of the first views of a process may always take so long, as these are slow whatever they read.

So is what comes instead, and a wide overwrite makes the views above stale besides.
"""

SECONDS_ASKED = 5.0
"""Questions about small tables may always take so long."""

LEAST_SECONDS_ASKED = 0.5
"""A question about larger tables may always take so long."""

_SHARE_ASKED = 1 / 3
"""Of the time of a full refresh. Where a question is stopped then, all takes half as long again as without asking."""

STOPPED_AFTER = 1.5
"""A question that runs at the end of that time may take half as long again: mostly it is the last one, and nearly done.
"""

SECONDS_A_QUERY = 0.5
"""Spark takes so long for a query, whatever it reads. Several at the same time take nearly as long as one after the
other where it has two cores.
"""

_MANY_QUESTIONS = 4
"""So many questions are asked of small tables. Each takes as long as the whole SELECT, whatever it reads."""

_FEW_QUERIES = 2
"""So few queries are run whatever they cost."""

_ROW_OF_A_CHANGE = 0.75
"""What a row costs that is read to merge or to ask, as a share of what it costs a full refresh, which writes, too."""

_JOINED_TO_MANY = 4
"""How many times the rows that are compared others have to be, so that comparing them first pays."""

_SMALL_BESIDE = 20
"""How many times the rows of a small table all tables have."""

_COUNTED_FILES = 20_000
"""Reading so many manifest entries takes less than a second."""

COUNTED_FILES = 2_000
"""Reading so many entries takes less than a tenth of a second; a larger table is not opened for a mere number."""


def is_rough(base: BaseTableStatus) -> bool:
    """Return whether many rows did not change where the change is known to be.

    So it is in seeds and tables that are made anew, and where partitions are long: a view of few rows is stored by
    months or years, and one changed day of it would be a whole year for the views above it.
    """
    change = base.change
    return change.appended_since is None and base.listed is None and (change.unit in _WIDE or change.replaced)


def is_within_bounds(base: BaseTableStatus, status: MaterializedViewStatus) -> bool:
    """Return whether all that is known of a change is that it is within the column bounds of the changed files.

    Unless rows come in the order of their keys, the bounds of few rows are those of the whole table. Where all tables
    are small, so is what is within them.
    """
    return base.change.unit == "file" and base.listed is None and not are_all_small(status)


def reads_too_much(bases: Iterable[BaseTableStatus], status: MaterializedViewStatus) -> bool:
    """Return whether to read what changed in some base tables is nearly as much as to read all of them."""
    return sum(rows_to_ask(base) for base in bases) > _most_asked(status, _MOST_ASKED)


def _most_asked(status: MaterializedViewStatus, share: float) -> float:
    """Return how many rows may be read to ask: a share of all, or few; of small tables, those of both versions."""
    return max(2 * FEW_ROWS if are_all_small(status) else FEW_ROWS, rows_in_all(status) * share)


def reads_much(bases: Iterable[BaseTableStatus], status: MaterializedViewStatus) -> bool:
    """Return whether to read all rows of some base tables is much beside all that a full refresh reads."""
    return sum(map(_rows, bases)) > max(FEW_ROWS, rows_in_all(status) * _MUCH)


def is_cheap_to_ask(base: BaseTableStatus, status: MaterializedViewStatus, *, or_full: bool) -> bool:
    """Return whether to read what changed in a base table is little beside all that a refresh may read.

    `or_full`: what is known without an answer is nearly everything. With `auto` the refresh would be full then.
    """
    share = _MOST_ASKED if or_full else _CHEAPLY_ASKED
    return rows_to_ask(base) <= _most_asked(status, share)


def rows_to_ask(base: BaseTableStatus) -> int:
    """Return how many rows are read to find those that changed: new ones, or those of changed files, or both versions.

    Where partitions and bounds do not say where a change is, the whole table is read, before and after it. Nothing is
    read for rows that are listed. What a join with a filtered table keeps of a change is not told from the rest: of the
    whole table it keeps about as little, so that a full refresh reads less, too.
    """
    if not base.may_reach:
        return 0
    if base.listed is not None and base.listed.literals is not None:
        return len(base.listed.rows)
    if base.change.appended_since is not None:
        return base.change.appended_rows
    if base.change.constraints.narrowed is None:
        return _rows_in_both(base) or 2 * _rows(base)
    # A row that several commits wrote again is in several of the files that came and went.
    return min(base.change.changed_rows, _rows_in_both(base) or base.change.changed_rows)


def _rows_in_both(base: BaseTableStatus) -> int | None:
    """Return how many rows a table has now and had before, together; None if it does not say that."""
    source, recorded = base.base.source, base.recorded
    if source is None or recorded is None:
        return None
    before = replace(source, version=replace(source.version, snapshot_id=recorded.version.snapshot_id))
    return source.row_count + before.row_count if source.row_count and before.row_count else None


def most_rows(base: BaseTableStatus) -> int | None:
    """Return how many rows a base table has now, or had before the change, at the most; None if that is not known."""
    now, recorded = base.base.source, base.recorded
    then = None if now is None or recorded is None else at_snapshot(now, recorded.version.snapshot_id)
    counts = [None if source is None else source.most_rows for source in (now, then)]
    return None if None in counts else max(count for count in counts if count is not None)


def merge_pays(deltas: Sequence[Delta], status: MaterializedViewStatus, full_seconds: float | None) -> bool:
    """Return whether it costs less to read the deltas, each with all of the other tables, than everything once.

    Every delta is one query, or two if rows went and it is not signed. To find the rows that cancel costs next to
    nothing where that is done at all (`cancelling_pays`). `full_seconds` is how long a full refresh takes, if
    that is known: where it takes a second, a few queries take longer, however few rows they read.
    """
    total, bases = rows_in_all(status), status.by_reference
    queries = {delta.changed: 1 if delta.appended or delta.signed else 2 for delta in deltas}
    if total <= FEW_ROWS:
        return sum(queries.values()) <= _FEW_QUERIES
    asked = {delta.changed: 0 if delta.cancelled else rows_to_ask(bases[delta.changed]) for delta in deltas}
    each = {i: total - _rows(bases[i]) + rows for i, rows in asked.items()}
    read = sum(number * each[i] for i, number in queries.items()) / total
    return _are_cheap(sum(queries.values()), read, full_seconds)


def _are_cheap(queries: int, read: float, full_seconds: float | None) -> bool:
    """Return whether so many queries take no longer than a full refresh; `read` is in times of what that reads."""
    begun = 0.0 if full_seconds is None else queries * SECONDS_A_QUERY / max(full_seconds, 0.1)
    return read * _ROW_OF_A_CHANGE + begun <= 1


def merging_reached_pays(filtered: Collection[int], status: MaterializedViewStatus) -> bool:
    """Return whether it costs less to read the rows below an aggregate in two versions than to compute everything.

    Of the references in `filtered` few rows go on to be joined and grouped. Of the others all do, twice.
    """
    if are_all_small(status):
        return True
    of_each = {index: _rows(base) for index, base in status.by_reference.items()}
    return 2 * sum(rows for index, rows in of_each.items() if index not in filtered) <= sum(of_each.values())


def cancelling_pays(delta: Delta, status: MaterializedViewStatus) -> bool:
    """Return whether it costs less to compare the two versions of what changed than to join all of it.

    Mostly few rows of a file that was written again are other ones. Without a join what did not change cancels anyway.
    """
    bases = status.by_reference
    joined = sum(_rows(base) for i, base in bases.items() if i != delta.changed and i not in delta.empty)
    # Whole partitions are read of the table, of which the changed files may be a small part.
    compared = max(rows_to_ask(bases[delta.changed]), _rows(bases[delta.changed]))
    return not delta.appended and compared * _JOINED_TO_MANY < joined


def is_compared_behind(base: BaseTableStatus, joined: Iterable[BaseTableStatus]) -> bool:
    """Return whether it costs less to compare the rows of a change behind a join with others than to join what is left.

    That is so where all rows of the changed files are joined to smaller tables; see `cancelling_pays`. A join of two
    large ones may give many more rows than either has.
    """
    return all(_rows(other) <= rows_to_ask(base) for other in joined)


def asking_pays(
    asked: Asked,
    origins: Sequence[int],
    status: MaterializedViewStatus,
    by_itself: frozenset[int],
    full_seconds: float | None = None,
) -> bool:
    """Return whether it costs less to ask some references what they reach than to compute everything.

    There is a question for each copy of a reference, and it reads all other tables as often as the SELECT does, for a
    table that is used several times also this one. What is in an expression that is used several times is asked in that
    alone. What only a scalar subquery reads, it reads twice. References in `by_itself` have their own keys looked for
    first, so it may not read them at all. `full_seconds` is how long a full refresh takes, if that is known: one
    question is asked until its time is over, several have to be little beside it.
    """
    bases = status.by_reference
    asked_for = [origin for origin in origins if origin not in by_itself]
    copies = [c for origin in asked_for if origin not in asked.shared for c in asked.copies_of(origin)]
    shared = [(cte.asked, c) for o in asked_for if (cte := asked.shared.get(o)) for c in cte.asked.copies_of(o)]
    questions = len(copies) + len(shared)
    if are_all_small(status):
        return questions <= _MANY_QUESTIONS
    of_copy = _tables_read(asked, bases)
    everything = sum(map(_rows, of_copy.values()))
    scalar = sum(2 * _rows(of_copy[c]) for c in copies if c in asked.scalars)
    whole = sum(_rows_read(asked, c, of_copy) for c in copies if c not in asked.scalars)
    alone = sum(_rows_read(cte, c, _tables_read(cte, bases)) for cte, c in shared)
    read = (scalar + whole + alone) / max(everything, 1)
    questions += len(origins) - len(asked_for)
    return _are_cheap(questions, read, full_seconds if questions > 1 else None)


def _tables_read(asked: Asked, bases: Mapping[int, BaseTableStatus]) -> dict[int, BaseTableStatus]:
    """Return the base table of each copy of a reference on which rows depend."""
    read = ((copy, origin) for copy, origin in asked.origins.items() if copy not in asked.ruled_out)
    return {copy: bases[origin] for copy, origin in read if origin in bases}


def _rows_read(asked: Asked, copy: int, tables: Mapping[int, BaseTableStatus]) -> int:
    """Return how many rows are read to ask one of the tables: its changed ones, and others without those emptied."""
    reach = asked.reach.get(copy)
    emptied = frozenset[int]() if reach is None else reach.emptied
    others = sum(_rows(base) for c, base in tables.items() if c != copy and c not in emptied)
    return others + rows_to_ask(tables[copy])


def full_seconds_now(state: ViewState, status: MaterializedViewStatus) -> float | None:
    """Return how many seconds a full refresh is taken to last, None where no former one is recorded.

    It takes as much longer than the last one as base tables have more rows now.
    """
    if state.full_seconds is None or not state.full_rows:
        return state.full_seconds
    return state.full_seconds * max(1.0, rows_in_all(status) / state.full_rows)


def most_seconds_asked(full_seconds: float | None, status: MaterializedViewStatus, *, is_cold: bool = False) -> float:
    """Return after how many seconds of questions a full refresh is better, which takes `full_seconds`.

    On TPC-DS two of three changes reach nothing. But a full refresh of a second or two is not worth a question that
    takes as long: where it finds nothing out, the refresh takes twice the time.
    """
    if full_seconds is None:
        return inf
    if is_cold:
        return max(COLD_SECONDS_ASKED, full_seconds * _SHARE_ASKED)
    if are_all_small(status):
        return max(SECONDS_ASKED, full_seconds * _SHARE_ASKED)
    return max(LEAST_SECONDS_ASKED, full_seconds * _SHARE_ASKED)


def are_all_small(status: MaterializedViewStatus) -> bool:
    """Return whether all base tables together are so small that every plan costs about the same."""
    return rows_in_all(status) <= FEW_ROWS


def small_beside_large(status: MaterializedViewStatus) -> frozenset[int]:
    """Return the references to small stale tables whose changed rows are read first, because that is cheap beside all.

    Where to read the others is dear, these are all small tables. Elsewhere they are those of which most rows were
    written again: mostly few of these are other ones than before, or none.
    """
    total = rows_in_all(status)
    if total <= FEW_ROWS:
        return frozenset()
    most = _most_of_small(total)
    small = (b for b in status.stale if b.may_reach and _rows(b) <= most and rows_to_ask(b) <= 2 * most)
    wanted = (b for b in small if total > MANY_ROWS or b.listed is not None or _is_written_again(b))
    return frozenset(by_reference(wanted))


def is_small_beside(base: BaseTableStatus, status: MaterializedViewStatus) -> bool:
    """Return whether to read a base table is cheap beside all that a full refresh reads."""
    return _rows(base) <= _most_of_small(rows_in_all(status))


def worth_filtering(status: MaterializedViewStatus) -> frozenset[int]:
    """Return the references to stale tables whose changes are first cut down by other tables: to read these is cheap.

    Nothing is saved where all tables are small, or where the changed rows are listed.
    """
    if are_all_small(status):
        return frozenset()
    return frozenset(by_reference(base for base in status.stale if base.listed is None))


def _most_of_small(rows_in_all: int) -> int:
    return max(FEW_ROWS, rows_in_all // _SMALL_BESIDE)


def _is_written_again(base: BaseTableStatus) -> bool:
    return base.change.appended_since is None and rows_to_ask(base) >= _rows(base)


def changed_nearly_everywhere(status: MaterializedViewStatus) -> frozenset[TableName]:
    """Return the stale base tables of which nearly all partitions changed; none where all tables are small."""
    if are_all_small(status):
        return frozenset()
    return frozenset(b.base.name for b in status.stale if _is_nearly_all(b))


def _is_nearly_all(base: BaseTableStatus) -> bool:
    if not base.may_reach or base.change.unit == "file" or base.listed is not None or base.base.source is None:
        return False
    partitions = count_partitions(base.base.source, _COUNTED_FILES)
    return partitions is not None and base.change.changed_partitions >= partitions * NEARLY_EVERYWHERE


def count_partitions(source: IcebergSource, most_files: int) -> int | None:
    """Return how many partitions a table has; None when counting them would open manifests of more than these files."""
    snapshot = None if source.version.snapshot_id is None else source.table.snapshot_by_id(source.version.snapshot_id)
    manifests = manifests_of(source.table.io, snapshot)
    if snapshot is None or count_files(manifests) > most_files:
        return None
    return len(partitions_of(source.table, snapshot.snapshot_id))


def nearly_all_keys(status: MaterializedViewStatus, stored_rows: int | None) -> float:
    """Return how many keys of stored rows are nearly all of them, where it costs much to compute them."""
    return stored_rows * NEARLY_EVERYWHERE if stored_rows and not are_all_small(status) else inf


def rows_in_all(status: MaterializedViewStatus) -> int:
    """Return how many rows all base tables have together."""
    return sum(_rows(base) for base in status.base_tables)


def _rows(base: BaseTableStatus) -> int:
    return 0 if base.base.source is None else base.base.source.row_count
