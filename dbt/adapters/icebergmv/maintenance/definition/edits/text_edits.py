"""A text with parts of it replaced, names of tables among them; everything else stays letter for letter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference


@dataclass(frozen=True)
class TextEdit:
    """A part of a text, end exclusive, and what is there instead: the text, and the text `behind` it.

    With `copied` a copy of another part, as the other edits leave it, is between the two. `order` is its place among
    edits that start at the same character, most of which have 0.
    """

    start: int
    end: int
    text: str
    copied: tuple[int, int] | None = None
    behind: str = ""
    order: int = 0


def splice(sql: str, replacements: Mapping[TableReference, str], edits: Iterable[TextEdit] = ()) -> str:
    """Return the SQL with the names of the given references replaced, and with some edits of other parts."""
    return with_edits(sql, [*(TextEdit(r.start, r.end, text) for r, text in replacements.items()), *edits])


def part_of(
    sql: str, replacements: Mapping[TableReference, str], start: int, end: int, edits: Iterable[TextEdit] = ()
) -> str:
    """Return a part of the SQL with the names of the given references in it replaced, and with some edits in it."""
    named = [TextEdit(r.start, r.end, text) for r, text in replacements.items() if start <= r.start and r.end <= end]
    return _edited(sql, start, end, sorted((*named, *edits), key=lambda e: e.start))


def with_edits(sql: str, edits: Iterable[TextEdit]) -> str:
    """Return the text with parts of it replaced; everything else stays letter for letter.

    An edit inside a part that another one replaces has no effect.
    """
    return _edited(sql, 0, len(sql), sorted(edits, key=lambda e: e.start))


def _edited(sql: str, start: int, end: int, edits: Sequence[TextEdit]) -> str:
    pieces: list[str] = []
    position = start
    for edit in edits:
        if edit.start < position or edit.end > end:
            continue
        copied = "" if edit.copied is None else _edited(sql, *edit.copied, edits)
        pieces += [sql[position : edit.start], edit.text, copied, edit.behind]
        position = edit.end
    return "".join([*pieces, sql[position:end]])
