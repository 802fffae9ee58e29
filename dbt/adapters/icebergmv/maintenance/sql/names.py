"""Three-part table names as text that both people and Spark read."""

from __future__ import annotations

import re
from typing import TypeAlias

TableName: TypeAlias = tuple[str, str, str]
"""Catalog, namespace, name: as stored, unquoted."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


def show(name: TableName) -> str:
    """Return the dotted name; only parts that need it are in backticks. The inverse of parse_name."""
    return ".".join(p if _PLAIN.match(p) else "`" + p.replace("`", "``") + "`" for p in name)


def parse_name(text: str) -> TableName:
    """Return the three parts of a dotted name. Raises ValueError when it has not exactly three."""
    parts: list[str] = []
    position = 0
    while position < len(text):
        found = _PART.match(text, position)
        if found is None:
            raise ValueError(f"{text!r} is not a table name")
        quoted, plain = found.groups()
        parts.append(plain if quoted is None else quoted.replace("``", "`"))
        position = found.end()
        if position < len(text):
            if text[position] != "." or position + 1 == len(text):
                raise ValueError(f"{text!r} is not a table name")
            position += 1
    if len(parts) != 3:
        raise ValueError(f"{text!r} is not a name of three parts")
    return (parts[0], parts[1], parts[2])
