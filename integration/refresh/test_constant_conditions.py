"""Conditions with constants, row by row: whatever value passes one in Spark is among those that matter by the engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from integration.support.lake import LakeProject
from tests.support.analysis import analysed_in

TYPES = {
    **{"i": "int", "b": "bigint", "c": "decimal(38,10)", "e": "decimal(5,2)", "g": "decimal(38,28)", "s": "string"},
    **{"d": "date", "ts": "timestamp", "n": "timestamp_ntz"},
}
_NUMBERS = ("0", "1", "-1", "3", "-3", "5", "1410065408")
_DAYS = ("2026-01-31", "2026-01-30", "2026-01-01", "2026-02-28", "2025-12-31", "2024-02-29", "1969-12-31", "9999-12-31")
_TIMES = ("00:00:00", "09:59:59.999999", "10:00:00", "10:00:00.5", "23:59:59.999999")
_MOMENTS = (*(f"2026-01-31 {time}" for time in _TIMES), "2026-01-30 23:59:59.999999", "1969-12-31 23:59:59")
_MOMENTS = (*_MOMENTS, "2026-03-29 02:30:00", "1850-01-01 00:00:00", "0001-01-01 00:00:00")
VALUES = {
    "i": (*_NUMBERS, "2147483647", "-2147483648"),
    "b": (*_NUMBERS, "4294967296", "2147483648", "9223372036854775807", "-9223372036854775808", "10000000000"),
    "c": (*_NUMBERS, "1.5", "2.9999999999", "3.0000000001", "4294967296", "9999999999"),
    "e": ("0", "1.5", "3", "2.99", "3.01", "-3", "999.99"),
    "g": ("0", "3", "2.9999999999999999999999999999", "3.0000000000000000000000000001", "9999999999", "-3"),
    "s": (
        "''",
        "'a'",
        "'b'",
        "'ab'",
        "'a '",
        "'A'",
        "'ß'",
        "'\U0001f600'",
        "'\uffee'",
        "'it''s'",
        "'2026-01-31'",
        "'3'",
    ),
    "d": tuple(f"DATE '{day}'" for day in (*_DAYS, "0001-01-01", "1582-10-15", "+10000-01-01", "-0001-01-01")),
    "ts": tuple(f"TIMESTAMP '{moment}'" for moment in _MOMENTS),
    "n": tuple(f"TIMESTAMP_NTZ '{moment}'" for moment in _MOMENTS),
}
_INTS = (
    *("3", "-3", "0", "3L", "2 * 3", "4 * 1024 * 1024 * 1024", "2147483647 * 2", "-(-2147483648)", "-2147483648"),
    *("9223372036854775808", "9223372036854775807 * 2", "1e1", "3.0", "3S", "'3'", "CAST(3 AS BIGINT)", "- - 3"),
    *("CAST(99999999999999999999 AS BIGINT)", "9999999999", "1L * 3", "0003"),
)
_DATES = (
    *("DATE '2026-01-31'", "'2026-01-31'", "'2026-1-31'", "DATE '2026-01-31' - 30", "DATE '2026-01-31' - -3"),
    *("DATE '2026-01-31' - INTERVAL 30 DAYS", "DATE '2026-01-31' + INTERVAL 1 MONTH", "DATE '2026-01-31' + 30 * 2"),
    *("DATE '2026-03-31' - INTERVAL 1 MONTH - INTERVAL 1 DAY", "DATE '2026-01-31' - INTERVAL '30 days'"),
    *(
        "date_sub(DATE '2026-01-31', -1)",
        "date_add(DATE '2026-01-31', 2147483647)",
        "add_months(DATE '2024-02-29', -12)",
    ),
    *(
        "date_add(DATE '2026-01-31', 2147483647 * 2)",
        "date_sub(DATE '1960-01-31', 2147483647)",
        "to_date('2026-01-31')",
    ),
    *(
        "trunc(DATE '2026-01-31', 'MM')",
        "trunc(DATE '2026-01-31', 'week')",
        "DATE '9999-12-31' + 1",
        "DATE '2026-02-30'",
    ),
    *("DATE '2026-01-31 10:00:00'", "CAST('2026-01-31 10:00:00' AS DATE)", "TIMESTAMP '2026-01-31 10:00:00'"),
    *("DATE '2026-01-31' - INTERVAL 24 HOURS", "DATE '2026-01-31' - INTERVAL 2 WEEKS", "'2026-01-31 10:00:00'"),
)
_INSTANTS = (
    *(
        "TIMESTAMP '2026-01-31 10:00:00'",
        "TIMESTAMP_NTZ '2026-01-31 10:00:00'",
        "'2026-01-31 10:00:00.5'",
        "'2026-01-31'",
    ),
    *(
        "DATE '2026-01-31'",
        "DATE '2026-01-31 10:00:00'",
        "CAST('2026-01-31 10:00:00' AS DATE)",
        "date('2026-01-31 10:00:00')",
    ),
    *("'2026-01-31 10:00:00.5000001'", "'2026-01-31T10:00:00'", "TIMESTAMP '2026-01-31 10:00:00+02:00'"),
    *("DATE '2026-01-31' - INTERVAL 1 DAY", "TIMESTAMP '2026-03-29 02:30:00'", "TIMESTAMP '1850-01-01 00:00:00'"),
)
_TEXTS = (
    "'a'",
    "'ab'",
    "'a '",
    "''",
    "'ß'",
    "'\U0001f600'",
    "'\uffee'",
    "'it''s'",
    "'a' 'b'",
    "3",
    "DATE '2026-01-31'",
)
CONSTANTS = {
    **dict.fromkeys(("i", "b", "c", "e", "g"), _INTS),
    **{"s": _TEXTS, "left(s, 2)": _TEXTS, "d": _DATES, "date(ts)": _DATES, "CAST(n AS DATE)": _DATES},
    **{"ts": _INSTANTS, "n": _INSTANTS, "CAST(d AS TIMESTAMP)": _INSTANTS, "date_trunc('month', ts)": _INSTANTS},
    **{"trunc(d, 'MM')": _DATES, "year(d)": ("2026", "9999", "-1", "10000", "99999999999")},
}
_INTERNAL = {
    "date": "unix_date({})",
    "timestamp": "unix_micros({})",
    "timestamp_ntz": "timestampdiff(MICROSECOND, TIMESTAMP_NTZ '1970-01-01', {})",
}
ANSI, ZONE = "spark.sql.ansi.enabled", "spark.sql.session.timeZone"
SESSIONS = [
    {ANSI: "false", ZONE: "UTC"},
    *(
        pytest.param({ANSI: ansi, ZONE: zone}, marks=pytest.mark.long)
        for ansi, zone in (("true", "UTC"), ("false", "America/New_York"), ("true", "Asia/Tokyo"))
    ),
]


def column_of(compared: str) -> str:
    """Return the column that an expression is made of."""
    return next(name for name in TYPES if re.search(rf"\b{name}\b", compared))


def conditions(compared: str) -> Iterator[str]:
    first = CONSTANTS[compared][0]
    for constant in CONSTANTS[compared]:
        for operator in ("=", "<=>", "<>", ">", ">=", "<", "<="):
            yield f"{compared} {operator} {constant}"
        yield f"{constant} > {compared}"
        yield f"{constant} <= {compared}"
        yield f"{compared} IN ({first}, {constant})"
        yield f"{compared} BETWEEN {constant} AND {first}"
        yield f"{compared} BETWEEN {first} AND {constant}"


def passed(run: Spark, rows: str, texts: list[str]) -> dict[str, list[int]]:
    """Return, by condition, the places of the values that pass it; conditions that fail are left out."""
    shown = ", ".join(f"({text}) AS c{number}" for number, text in enumerate(texts))
    try:
        found = run(f"SELECT place, {shown} FROM {rows}")
    except Exception:
        # Spark refuses some; the others of the batch are asked again.
        if len(texts) == 1:
            return {}
        half = len(texts) // 2
        return {**passed(run, rows, texts[:half]), **passed(run, rows, texts[half:])}
    return {text: [int(str(r[0])) for r in found if r[number] is True] for number, text in enumerate(texts, 1)}


def rows_that_matter(text: str, name: str, utc: bool) -> TupleDomain:
    """Return the rows of a table of one column that matter behind a condition; all where it is not analysed."""
    known = (ColumnInfo(name, TYPES[name], None),)
    definition = analysed_in(f"SELECT {name} FROM t WHERE {text}", "ns", lambda _: known, utc)
    (found,) = definition.rows_that_matter(r.index for r in definition.references)
    return found


@pytest.mark.parametrize("settings", SESSIONS, ids=lambda s: f"ansi={s[ANSI]} {s[ZONE]}")
def test_whatever_passes_matters(lake: LakeProject, settings: dict[str, str]) -> None:
    run, looked_at = lake.session(settings), 0
    for compared in CONSTANTS:
        name = column_of(compared)
        of = TYPES[name]
        listed = ", ".join(f"({place}, CAST({value} AS {of}))" for place, value in enumerate(VALUES[name]))
        rows = f"VALUES {listed}, (-1, CAST(NULL AS {of})) AS t(place, {name})"
        values: dict[int, Any] = dict(run(f"SELECT place, {_INTERNAL.get(of, '{}').format(name)} FROM {rows}"))  # type: ignore[arg-type]
        matter = {text: rows_that_matter(text, name, settings[ZONE] == "UTC") for text in conditions(compared)}
        texts = [text for text, found in matter.items() if not found.is_all]
        for start in range(0, len(texts), 60):
            for text, places in passed(run, rows, texts[start : start + 60]).items():
                found = [values[place] for place in places]
                domains = [domain for _, domain in matter[text].constraints]
                assert not (matter[text].is_none and found), text
                assert [v for v in found if not all(domain.contains(v) for domain in domains)] == [], text
                looked_at += len(found)
    assert looked_at > 5_000
