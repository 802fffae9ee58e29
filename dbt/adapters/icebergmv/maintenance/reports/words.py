"""Numbers and tables as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def size(number: int | None) -> str:
    """Return a number of bytes with three digits or so; `?` where it is not known."""
    if number is None:
        return "?"
    amount = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def listed(words: Sequence[str], last: str) -> str:
    """Return `a, b or c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return lines under a head, with columns that are as wide as their longest text."""
    return aligned([[name.upper() for name in head], *rows])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines with columns that are as wide as their longest text; no line ends with a blank."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
