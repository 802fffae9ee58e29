"""Names as text that both people and Spark read. Quoting a name for SQL is in rendering.py."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

TableName: TypeAlias = tuple[str, str, str]
"""Catalog, namespace, name: as stored, unquoted."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


def show(name: TableName) -> str:
    """Return the dotted name; only parts that need it are in backticks. The inverse of parse_name."""
    return ".".join(p if _PLAIN.match(p) else "`" + p.replace("`", "``") + "`" for p in name)


def split_name(text: str) -> tuple[str, ...]:
    """Return the parts of a dotted name; parts in backticks may hold dots and doubled backticks.

    Raises ValueError when the text is not a dotted name.
    """
    parts: list[str] = []
    position = 0
    while True:
        found = _PART.match(text, position)
        if found is None:
            raise ValueError(f"{text!r} is not a dotted name: no name part at position {position}")
        quoted, plain = found.groups()
        parts.append(plain if quoted is None else quoted.replace("``", "`"))
        position = found.end()
        if position == len(text):
            return tuple(parts)
        if text[position] != ".":
            raise ValueError(f"{text!r} is not a dotted name: a dot is missing at position {position}")
        position += 1


def parse_name(text: str) -> TableName:
    """Return the three parts of a dotted name. Raises ValueError when it has not exactly three."""
    parts = split_name(text)
    if len(parts) != 3:
        raise ValueError(f"{text!r} is not a name of three parts")
    return (parts[0], parts[1], parts[2])


def unquoted(text: str) -> str:
    """Return a name of one part, which may be in backticks, without these."""
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


def column_named(wanted: str, columns: Sequence[str]) -> str | None:
    """Return the column of this name, else the first of this name in any case, else None."""
    return wanted if wanted in columns else next((c for c in columns if c.lower() == wanted.lower()), None)
