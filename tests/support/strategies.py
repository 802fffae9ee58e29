"""Hypothesis strategies for the engine's values and sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from hypothesis import strategies as st

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain, Value

INTEGERS: tuple[Value, ...] = (-(2**63), -(2**31), -11, -10, -1, 0, 1, 2, 3, 9, 10, 11, 2**31 - 1, 2**63 - 1)
FLOATS: tuple[Value, ...] = (-math.inf, -1.5, -5e-324, -0.0, 0.0, 5e-324, 0.1, 1.0, 1e308, math.inf)
TEXTS: tuple[Value, ...] = ("", " ", "A", "a", "a'b", "a\\", "é", "\U0001f600", "\n", "${x}", "zz")
BINARIES: tuple[Value, ...] = (b"", b"\x00", b"\x00\x01", b"a", b"\xff", b"\xff\xff")
DECIMALS: tuple[Value, ...] = tuple(Decimal(d) for d in ("-9.99", "-0.01", "0.00", "0.01", "1.10", "1.1", "99.99"))
KINDS: tuple[tuple[Value, ...], ...] = (INTEGERS, FLOATS, TEXTS, BINARIES, DECIMALS)


def ranges(pool: Sequence[Value]) -> st.SearchStrategy[Range]:
    """Return intervals with ends from the pool, empty and inverted ones included."""
    end = st.sampled_from(pool) | st.none()
    return st.builds(Range, end, end, st.booleans(), st.booleans())


def domains(pool: Sequence[Value]) -> st.SearchStrategy[Domain]:
    """Return sets over the pool."""
    is_float = isinstance(pool[0], float)
    flags = st.tuples(st.booleans(), st.booleans() if is_float else st.just(False))
    return st.builds(
        lambda rs, f: Domain(Domain.between(*rs).ranges, null=f[0], nan=f[1]),
        st.lists(ranges(pool), max_size=4),
        flags,
    )


def probes(pool: Sequence[Value]) -> list[Value | None]:
    """Return every value worth asking for: the pool, what lies beside and between, NULL and NaN."""
    values: list[Value | None] = [None, *pool]
    for value in pool:
        if isinstance(value, int):
            values += [value - 1, value + 1]
        elif isinstance(value, float):
            values += [math.nextafter(value, math.inf), math.nextafter(value, -math.inf)]
        elif isinstance(value, str):
            values.append(value + "\0")
        elif isinstance(value, bytes):
            values.append(value + b"\x00")
        elif isinstance(value, Decimal):
            values.append(value + Decimal("0.005"))
    return [*values, math.nan] if isinstance(pool[0], float) else values


def tuple_domains(columns: Sequence[str], pool: Sequence[Value]) -> st.SearchStrategy[TupleDomain]:
    """Return conjunctions over some of the columns."""
    keys = st.sampled_from([ColumnKey(c) for c in columns])
    return st.dictionaries(keys, domains(pool), max_size=len(columns)).map(TupleDomain.where)


def holds(rows: TupleDomain, row: dict[str, Value | None]) -> bool:
    """Return whether a row lies in a conjunction of plain columns."""
    return not rows.is_none and all(d.contains(row[k.column]) for k, d in rows.constraints)
