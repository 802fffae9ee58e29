"""Full names as text: taking them apart and putting them together."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dbt.adapters.icebergmv.relation import quote_identifier

_PART = re.compile(r"`((?:[^`]|``)*)`|([^`.]+)")


def split_name(text: str) -> tuple[str, ...]:
    """Return the parts of a dotted name; parts in backticks may hold dots and doubled backticks.

    Raises ValueError when the text is no such name.
    """
    parts: list[str] = []
    position = 0
    while True:
        found = _PART.match(text, position)
        if found is None:
            raise ValueError(f"Cannot read the name {text!r}: no name part at position {position}.")
        parts.append(found[1].replace("``", "`") if found[1] is not None else found[2])
        position = found.end()
        if position == len(text):
            return tuple(parts)
        if text[position] != ".":
            raise ValueError(f"Cannot read the name {text!r}: a dot is missing at position {position}.")
        position += 1


def join_name(parts: Sequence[str]) -> str:
    """Return the parts as one quoted, dotted name."""
    return ".".join(quote_identifier(part) for part in parts)
