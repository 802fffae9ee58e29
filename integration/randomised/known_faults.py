"""Faults of Iceberg and PyIceberg that end a history early."""

from __future__ import annotations

import re

# A reason gives the beginning of an error alone, of which Spark Connect makes more words.
_FAULTS = {
    "a widened partition column": re.compile(
        r"class java\.lang\.Long cannot be( cast to class java\.lang\.Integer|\))"
    ),
    "two partition fields of one decimal type": re.compile(r"Type not recognized: decimal_\d+_\d+"),
    # Of format version 1; nobody can read such a table any more.
    "a partition field that was dropped and added again": re.compile(r"Multiple entries with same key: (\d+)=\1: "),
}
"""Of Iceberg and PyIceberg (README, Limits), by what brings them about."""


def known_fault(error: Exception) -> str | None:
    """Return what brought an error about, if it is one of the known faults."""
    return next((name for name, words in _FAULTS.items() if words.search(str(error))), None)
