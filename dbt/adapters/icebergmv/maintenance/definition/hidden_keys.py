"""Hidden keys: columns that the rows are stored with besides, so that a change can be followed to them.

`SELECT id, amount FROM orders` leaves out the day by which its table is partitioned; stored all the same, it says which
rows a changed day affects. A key of a join does it for a table whose columns are not in the list. The same text, with a
few more items in its list, gives them; to list a column more changes no row of a SELECT (see rules/unlisted.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dbt.adapters.icebergmv.maintenance.definition.clock.clock_columns import listing
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit, with_edits
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import key_name
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import end_before, from_of
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import NotParsed, parse, parse_expression, parses_to
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedColumn, Unlisted
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Track
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Computed, Evaluated, OrNull
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form

MOST_KEYS = 4
"""Each is stored with every row."""


def wanted_keys(definition: ViewDefinition, partitioned_by: Mapping[int, Collection[str]]) -> tuple[str, ...]:
    """Return the columns to store besides, as texts for the SELECT list.

    `partitioned_by` has, for references to tables, the columns in their partition specs. A reference gets those of
    them, if the SELECT shows none in any way; one that has none to follow gets a column that it is joined by, or else
    one by which windows are partitioned, or rows below are grouped.
    """
    if definition.always_full is not None or definition.full_when_changed is not None or definition.columns is None:
        return ()
    found: dict[str, None] = {}
    for index in sorted(partitioned_by):
        for use in definition.uses_of(index):
            found.update(dict.fromkeys(_keys_of(definition, use, partitioned_by[index])))
    return tuple(found)[:MOST_KEYS]


def with_keys(sql: str, keys: Sequence[str]) -> str | None:
    """Return the SELECT with more items in its list; None where the text cannot be changed for certain."""
    parsed = parse(sql)
    if isinstance(parsed, NotParsed):
        return None
    select = listing(parsed.tree)
    behind = None if select is None else from_of(select, parsed.tokens)
    if select is None or behind is None:
        return None
    place = end_before(behind, parsed.tokens)
    edited = with_edits(sql, [TextEdit(place, place, "".join(map(_more, keys)))])
    for key in keys:
        select.append("expressions", parse_expression(f"{key} AS {key_name(key)}"))
    return edited if parses_to(edited, parsed.tree) else None


def taken_back(sql: str, keys: Sequence[str]) -> str:
    """Return a text that `with_keys` gave, perhaps with other tables in FROM, without the items."""
    return sql.replace("".join(map(_more, keys)), "", 1)


def _more(key: str) -> str:
    return f", {key} AS {key_name(key)}"


def _keys_of(definition: ViewDefinition, use: Occurrence, partitions: Collection[str]) -> list[str]:
    shown = {track.column for tracks in definition.tracks_of(use).values() for track in tracks}
    if not shown.isdisjoint(partitions):
        return []
    candidates = [(u, track) for u in definition.unlisted for track in u.column.tracks if _follows(track, use)]
    found = [_narrowest([c for c in candidates if c[1].column == column]) for column in partitions]
    if not any(found) and not any(_is_join_key(column, use) for column in definition.columns or ()):
        found = [_narrowest([(u, track) for u, track in candidates if _is_join_key(u.column, use)])]
    if not any(found) and use in definition.obstacles:
        key = _narrowest([(u, track) for u, track in candidates if use in u.key_of and _can_be_listed(u)])
        # To find out what can be asked takes longer than all the rest.
        found = [key if key is not None and not definition.asked.names_some(use.index) else None]
    return [text for text in found if text is not None]


def _follows(track: Track, use: Occurrence) -> bool:
    """Return whether a track is of this use, and its column is good to be stored.

    Where a row is unmatched it would say nothing, and such rows may be many. An expression may fail on rows for which
    the SELECT never computes it: nobody reads the column.
    """
    return track.occurrence == use and not any(isinstance(s, OrNull | Computed | Evaluated) for s in track.function)


def _can_be_listed(unlisted: Unlisted) -> bool:
    kind = unlisted.column.type
    return kind is not None and internal_form(kind, "") is not None


def _is_join_key(column: TrackedColumn, use: Occurrence) -> bool:
    """Return whether a column follows this use and another one, as the two sides of a condition do."""
    return any(_follows(t, use) for t in column.tracks) and any(t.occurrence != use for t in column.tracks)


def _narrowest(candidates: Sequence[tuple[Unlisted, Track]]) -> str | None:
    best = min(candidates, key=lambda c: len(c[1].function), default=None)
    return None if best is None else best[0].text
