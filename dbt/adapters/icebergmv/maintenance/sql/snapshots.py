"""Tables at one of their snapshots, as a text of SQL names them."""

from __future__ import annotations

import re


def table_at(table: str, snapshot_id: int) -> str:
    """Return what reads a table, given by its quoted name, at one of its snapshots."""
    return f"{table} VERSION AS OF {snapshot_id}"


def snapshots_named(sql: str, table: str | None = None) -> set[int]:
    """Return the snapshots at which a text reads tables, as people may write it: of any, or of one quoted name."""
    named = "" if table is None else re.escape(f"{table} ")
    return set(map(int, re.findall(rf"{named}(?i:VERSION\s+AS\s+OF)\s+['\"]?(\d+)", sql)))
