"""The text of a stitched view, taken apart."""

from __future__ import annotations

import re

_ARMS = re.compile(r"\)\nSELECT .*", re.DOTALL)


def relations_of(text: str) -> str:
    """Return the WITH of the text, without the SELECT that follows: a query of its relations can be put behind it."""
    return _ARMS.sub(")", text, count=1)
