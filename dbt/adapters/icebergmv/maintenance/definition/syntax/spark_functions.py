"""What is known of Spark's own functions: one row a function, in spark_functions.txt beside this file.

A function that has no row is not one of Spark's. Nothing is known of it, so whoever asks must expect the worst.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp


@dataclass(frozen=True)
class SparkFunction:
    """One function of SHOW SYSTEM FUNCTIONS. Every field but the name is a word in the row of the function."""

    name: str
    since_4_1: bool = False
    """Spark 4.0 does not have it."""
    aggregate: bool = False
    """One value for many rows. sqlglot knows only some of these as aggregates."""
    volatile: bool = False
    """A new evaluation may give a new value although no table changed."""
    volatile_without_arguments: bool = False
    without_parentheses: bool = False
    """Its bare name is a call."""
    hidden_by_column: bool = False
    """Its bare name is a column for sqlglot. It means one where FROM has a column of that name."""
    order_dependent: bool = False
    """The value depends on the order in which rows arrive; Spark marks these aggregates non-deterministic."""
    ordered_by_window: bool = False
    """ORDER BY in its OVER clause gives the rows an order."""
    by_place: bool = False
    """Over a window it reads rows by the places that its order gives them, in whatever frame."""
    generator: bool = False
    """Several rows for one."""
    time_window: bool = False
    """A sliding window makes several rows of one; `window_time` reads such a row."""
    reads_zone: bool = False
    """It makes an instant of a date, a time or a text, or shows one, in the time zone of the session."""
    ansi_sensitive: bool = False
    """In ANSI mode its value may be another one, without an error, for arguments of any type."""
    no_text_of_decimal: bool = False
    """It makes no text of a decimal argument."""
    gives_number: bool = False
    gives_text: bool = False
    """What it gives for arguments of every type that it takes; of concat(), for arguments that are no arrays."""
    gives_time: bool = False
    """The same: a date or a timestamp."""
    always_number: bool = False
    """It gives a whole number or a decimal, of whatever type its arguments are, and never an array."""
    always_text: bool = False
    """The same: a text or a binary, and never one of a collation that its arguments do not have."""
    always_time: bool = False
    """The same: a date or a timestamp."""
    never_fails: bool = False
    """It gives one value, and no error in any mode, for columns of every type that a key may have."""
    never_fails_but_on_text: bool = False
    """The same for columns of every type but string."""
    takes_date_unit: bool = False
    """Its last argument is a unit, as of trunc(date, 'MM')."""
    takes_time_unit: bool = False
    """Its first argument is a unit, as of date_trunc('HOUR', ts)."""


_IMPLIED = {"ts_or_ds_to_date": "to_date", "time_str_to_time": "date_format", "timestamp_trunc": "date_trunc"}
"""Names of sqlglot's own, and the function whose facts hold for each."""


def _read() -> dict[str, SparkFunction]:
    text = Path(__file__).with_name("spark_functions.txt").read_text(encoding="utf-8")
    rows = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {name: SparkFunction(name, **dict.fromkeys(facts, True)) for name, *facts in rows}


FUNCTIONS: Mapping[str, SparkFunction] = _read()
"""The rows by name, in lower case."""

_UNKNOWN = SparkFunction("")


def known_of(name: str) -> SparkFunction:
    """Return the row of a function by its name in any case; a row of no facts for a name that is not Spark's.

    For facts that ask for care (`aggregate`, `volatile`), ask also whether the name is in FUNCTIONS.
    """
    return FUNCTIONS.get(name.lower(), _UNKNOWN)


def written_name(call: exp.Func, sql: str | None = None) -> str:
    """Return the name of a call in lower case, as `sql`, the text that was parsed, has it.

    sqlglot maps several functions to one node. Without the text, and for grammar that it shows as a call, such as CASE,
    the name is that of the node.
    """
    if isinstance(call, (exp.Anonymous, exp.AnonymousAggFunc)):
        return str(call.this).lower()
    if sql is not None and "start" in call.meta:
        return sql[call.meta["start"] : call.meta["end"] + 1].strip("`").lower()
    name = call.sql_name().lower()
    return _IMPLIED.get(name, name)
