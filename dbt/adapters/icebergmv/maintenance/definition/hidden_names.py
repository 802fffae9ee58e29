"""Names that are ours: of columns that a view does not show, and of what texts of several modules name.

Other such names begin with `icebergmv_`, too, and are in the modules that write them.
"""

from __future__ import annotations

import hashlib

HIDDEN_STATE = "icebergmv_state_"
"""How the names of columns begin by which groups are merged (see merging.py)."""

HIDDEN_KEY = "icebergmv_key_"
"""How the names of columns begin by which changes are followed (see hidden_keys.py)."""

VIEW_ALIAS = "icebergmv_view"
"""The name of the SQL of a view, where it is read in place of the view."""

SIGN = "icebergmv_sign"
"""The column that says of a row of both versions of a table in which one it is: 1 the later one, -1 the former."""


def is_hidden(name: str) -> bool:
    """Return whether a column of a storage table is one that the view does not show."""
    return is_key(name) or name.lower().startswith(HIDDEN_STATE)


def is_key(name: str) -> bool:
    """Return whether a column of a storage table is a hidden key."""
    return name.lower().startswith(HIDDEN_KEY)


def key_name(text: str) -> str:
    """Return the name of the hidden key with a text. It says what the column holds, so no other one passes for it.

    A refresh that gives the storage table other keys may die before its rows are published.
    """
    return HIDDEN_KEY + hashlib.sha256(text.encode()).hexdigest()[:8]
