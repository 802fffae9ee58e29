"""Functions of the key, by its type."""

from __future__ import annotations

from tests.randomised.grammar import Builder

DERIVED: dict[str, list[tuple[str, str]]] = {
    # (name of the shape, expression); the type stays, so that the result can still be joined.
    "date": [
        ("derived key: trunc", "trunc({0}, 'MM')"),
        ("derived key: trunc", "trunc({0}, 'YEAR')"),
        ("derived key: trunc", "trunc({0}, 'WEEK')"),
        ("derived key: cast", "CAST(date_trunc('quarter', {0}) AS date)"),
        ("derived key: arithmetic", "date_add({0}, 1)"),
        ("derived key: other function", "last_day({0})"),
        ("derived key: own function", "own_date({0})"),
        ("derived key: coalesce", "coalesce({0}, DATE '2024-01-01')"),
        ("derived key: case", "CASE WHEN {0} > DATE '2024-01-01' THEN DATE '2024-02-29' ELSE {0} END"),
    ],
    "timestamp": [
        ("derived key: date_trunc", "date_trunc('day', {0})"),
        ("derived key: date_trunc", "date_trunc('hour', {0})"),
        ("derived key: date_trunc", "date_trunc('month', {0})"),
        ("derived key: date_trunc", "date_trunc('week', {0})"),
        ("derived key: cast", "CAST(CAST({0} AS date) AS timestamp)"),
        ("derived key: coalesce", "coalesce({0}, TIMESTAMP '2024-01-01 00:00:00Z')"),
    ],
    "string": [
        ("derived key: substr", "substr({0}, 1, 1)"),
        ("derived key: substr", "substr({0}, 2, 1)"),
        ("derived key: other function", "upper({0})"),
        ("derived key: own function", "own_text({0})"),
        ("derived key: other function", "concat({0}, 'x')"),
        ("derived key: coalesce", "coalesce({0}, 'a')"),
        ("derived key: case", "CASE WHEN {0} = 'a' THEN 'b' ELSE {0} END"),
        ("derived key: case", "CASE {0} WHEN 'a' THEN 'z' WHEN 'b' THEN NULL ELSE 'y' END"),
    ],
    "int": [
        ("derived key: arithmetic", "{0} % 3"),
        ("derived key: arithmetic", "{0} + 1"),
        ("derived key: arithmetic", "-{0}"),
        ("derived key: arithmetic", "{0} div 10"),
        ("derived key: arithmetic", "{0} * {0}"),
        ("derived key: other function", "abs({0})"),
        ("derived key: own function", "own_int({0})"),
        ("derived key: cast", "CAST(CAST({0} AS string) AS int)"),
        ("derived key: coalesce", "coalesce({0}, 0)"),
        ("derived key: case", "CASE WHEN {0} > 0 THEN 1 WHEN {0} IS NULL THEN NULL ELSE 0 END"),
    ],
    "double": [("derived key: coalesce", "coalesce({0}, 0.5D)")],
}
OTHER_TYPES: dict[str, list[tuple[str, str]]] = {
    "date": [
        ("derived key: year", "year({0})"),
        ("derived key: other function", "month({0})"),
        ("derived key: cast", "CAST({0} AS string)"),
        ("derived key: cast", "CAST({0} AS timestamp)"),
        ("derived key: date_trunc", "date_trunc('month', {0})"),
    ],
    "timestamp": [
        ("derived key: cast", "CAST({0} AS date)"),
        ("derived key: year", "year({0})"),
        ("derived key: other function", "hour({0})"),
    ],
    "string": [
        ("derived key: other function", "length({0})"),
        ("derived key: case", "CASE WHEN {0} > 'a' THEN 1 ELSE 0 END"),
    ],
    "int": [
        ("derived key: cast", "CAST({0} AS string)"),
        ("derived key: case", "CASE WHEN {0} > 0 THEN 'p' ELSE 'n' END"),
    ],
    "double": [("derived key: cast", "CAST({0} AS string)")],
}


ALL: frozenset[str] = frozenset(["*"])
"""Whatever tables the view reads."""


def derived(b: Builder, column: str) -> str:
    """Return a function of the key that keeps its type."""
    shape, text = b.choices.pick(DERIVED[b.key_type])
    b.note(shape, ALL)
    return text.format(column)
