"""The profiles in a page of the docs, by the heading that they are under."""

from __future__ import annotations

import re
from pathlib import Path

_SECTION = re.compile(r"^## (?P<heading>.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```yaml\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def docs_profiles(page: Path) -> dict[str, str]:
    """Return the text of each complete profile; a section has one at most."""
    headings = [*_SECTION.finditer(page.read_text(encoding="utf-8"))]
    text = page.read_text(encoding="utf-8")
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    found = {}
    for heading, end in zip(headings, ends, strict=True):
        blocks = [b["text"] for b in _BLOCK.finditer(text, heading.end(), end) if "outputs:" in b["text"]]
        if blocks:
            (found[heading["heading"]],) = blocks
    return found
