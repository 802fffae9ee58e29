"""SQL text for Spark: identifiers, literals and predicates.

Partition values are data from strangers, so every literal is typed and escaped. Strings escape quotes with a backslash
(the same result on every Spark version) and `$` as a code point, because Spark substitutes `${...}` before it parses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import (
    MICROS_PER_DAY,
    TransformName,
    civil_from_days,
)
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form

_ESCAPED = {"\\": "\\\\", "'": "\\'", "$": "\\u0024"}
_INTEGER_BOUNDS = {"int": (-(2**31), 2**31 - 1), "bigint": (-(2**63), 2**63 - 1)}
_DECIMAL = re.compile(r"^decimal\((\d+),(\d+)\)$")
_EXACT = Context(prec=100)

LONG_LIST = 1000
"""Beyond so many values Spark takes longer to parse literals than to split one text that has them."""

_SEPARATORS = (",", ";", "~", "#", *map(chr, range(0xE000, 0xF8FF)))
"""None means anything in a regular expression. Hardly any text has the last ones (Unicode, private use)."""

_IN_TEXT = {"int": "int", "date": "int", "bigint": "bigint", "timestamp": "bigint", "string": "string"}
"""Of which type the values of a long list are, by the type of the column: in the form of `internal_form`."""


def identifier(name: str) -> str:
    """Return a name in backticks, its own backticks doubled."""
    return "`" + name.replace("`", "``") + "`"


def qualified(*parts: str) -> str:
    """Return a dotted name with every part quoted."""
    return ".".join(identifier(p) for p in parts)


def string_literal(text: str) -> str:
    """Return a Spark string literal that holds exactly the text, whatever characters it has."""
    return "'" + "".join(_ESCAPED.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 else c) for c in text) + "'"


def literal(value: Value, spark_type: str) -> str:
    """Return a typed literal of a Domain value (internal form) for a column of the Spark type."""
    match spark_type:
        case "date":
            return f"DATE '{_date_text(_int(value))}'"
        case "timestamp":
            return f"TIMESTAMP '{_timestamp_text(_int(value))}Z'"
        case "timestamp_ntz":
            return f"TIMESTAMP_NTZ '{_timestamp_text(_int(value))}'"
        case "bigint":
            return f"{_int(value)}L"
        case "float" | "double":
            return _float_literal(value, spark_type)
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return string_literal(value)
        case bytes():
            return f"X'{value.hex()}'"
        case Decimal():
            return f"{value:f}BD"
        case _:
            raise TypeError(f"Cannot render a {type(value).__name__} as {spark_type}")


def literal_or_null(value: Value | None, spark_type: str) -> str:
    """Return a typed literal of a Domain value, or of NULL."""
    return f"CAST(NULL AS {spark_type})" if value is None else literal(value, spark_type)


@dataclass(frozen=True)
class Dialect:
    """How predicates are to be written.

    `catalog` is the Spark catalog whose `system` functions compute bucket and truncate. `pushable` lets Iceberg see
    these functions and prune by them. It must be False over a table whose partition specs differ on a column: Iceberg
    applies the predicate to every spec and fails on `bucket(4, c) = 0` over files partitioned by `c`. `columns` has the
    text of columns that are not written as their name. With `long_lists` a list of many values is a subquery, of which
    Iceberg sees the bounds alone: not for REPLACE WHERE, nor where the column partitions what is read.
    """

    catalog: str
    pushable: bool = True
    columns: Mapping[str, str] = field(default_factory=dict)
    long_lists: bool = False

    def text_of(self, column: str) -> str:
        """Return how a column is written."""
        return self.columns.get(column) or identifier(column)


def disjunction(disjuncts: Iterable[TupleDomain], types: Mapping[str, str], dialect: Dialect) -> str:
    """Return the predicate that holds for the rows of any of the disjuncts.

    `types` gives the Spark type of every constrained column, under its stored name.
    """
    arms = [conjunction(d, types, dialect) for d in disjuncts]
    if not arms:
        return "false"
    return arms[0] if len(arms) == 1 else " OR ".join(map(enclosed, arms))


def enclosed(predicate: str) -> str:
    """Return the predicate in parentheses where it needs them.

    `FROM t WHERE (false)` gives t the alias WHERE and its one column the name `false`, since Spark reserves neither.
    """
    return predicate if predicate in ("true", "false") else f"({predicate})"


def conjunction(rows: TupleDomain, types: Mapping[str, str], dialect: Dialect) -> str:
    """Return the predicate of one TupleDomain."""
    if rows.is_none:
        return "false"
    if rows.is_all:
        return "true"
    return " AND ".join(enclosed(_constraint(key, domain, types, dialect)) for key, domain in rows.constraints)


def _constraint(key: ColumnKey, domain: Domain, types: Mapping[str, str], dialect: Dialect) -> str:
    """Return the predicate of one column. Raises ValueError for a transform that has no function in Spark."""
    column = dialect.text_of(key.column)
    spark_type = types[key.column]
    if key.transform is None:
        return _membership(column, domain, spark_type, long_lists=dialect.long_lists)
    transform = TransformName.parse(key.transform)
    if not transform.width:
        raise ValueError(f"Cannot render the transform {key.transform}")
    value_type = "int" if transform.kind == "bucket" else spark_type
    expression = f"{identifier(dialect.catalog)}.system.{transform.kind}({transform.width}, {column})"
    value = expression if dialect.pushable else _hidden(expression, value_type)
    if domain.is_all or not domain.null:
        return _membership(value, domain, value_type)
    # The hidden form is a value where the transform is NULL, which it is where the column is.
    others = Domain(domain.ranges, nan=domain.nan)
    missing = f"{column} IS NULL"
    return missing if others.is_none else f"{missing} OR {_membership(value, others, value_type)}"


def _hidden(expression: str, spark_type: str) -> str:
    """Return the same value, where it is not NULL, in a form that Spark evaluates itself and does not hand to Iceberg.

    NULL is asked for by the column itself, and no bucket is negative. Spark folds `+ 0` away.
    """
    if spark_type == "int":
        return f"coalesce({expression}, -1)"
    empty = "X''" if spark_type == "binary" else "''"
    return f"({expression} || {empty})"


def _membership(expression: str, domain: Domain, spark_type: str, *, long_lists: bool = False) -> str:
    if domain.is_all:
        return "true"
    excluded = _excluded(domain, spark_type)
    if len(excluded) > 1:
        others = f"{expression} NOT IN ({', '.join(literal(v, spark_type) for v in excluded)})"
        return f"{expression} IS NULL OR {others}" if domain.null else f"{expression} IS NOT NULL AND {others}"
    arms = []
    if domain.null:
        arms.append(f"{expression} IS NULL")
    if domain.nan and spark_type in ("float", "double"):
        arms.append(f"{expression} <=> {spark_type}('NaN')")
    ranges = [c for r in domain.ranges if (c := _clamp(r, spark_type)) is not None]
    single = [r.low for r in ranges if r.is_single_value and r.low is not None]
    is_long = long_lists and LONG_LIST < len(single) == len(ranges)
    listed = _in_long_list(expression, single, spark_type) if is_long else None
    if listed is not None:
        arms.append(listed)
    elif len(single) == 1:
        arms.append(f"{expression} <=> {literal(single[0], spark_type)}")
    elif single:
        arms.append(f"{expression} IN ({', '.join(literal(v, spark_type) for v in single)})")
    arms.extend(_range(expression, r, spark_type) for r in ranges if not r.is_single_value)
    return " OR ".join(arms) if arms else "false"


def _in_long_list(expression: str, values: Sequence[Value], spark_type: str) -> str | None:
    """Return the predicate of many values, sorted, as a subquery of one text; None where a text cannot have them.

    The text is a row of VALUES, which Spark leaves out where it shows a plan. It keeps the plans of its last queries.
    """
    form, of = internal_form(spark_type, expression), _IN_TEXT.get(spark_type)
    texts = [str(value) for value in values]
    separator = _separator_of(texts)
    if form is None or of is None or separator is None:
        return None
    within = _range(expression, Range(values[0], values[-1]), spark_type)
    text = f"(VALUES ({string_literal(separator.join(texts))})) AS listed(text)"
    keys = f"SELECT explode(split(text, {string_literal(separator)})) AS key FROM {text}"
    return f"({within} AND {form} IN (SELECT CAST(key AS {of}) FROM ({keys})))"


def _separator_of(values: Sequence[str]) -> str | None:
    """Return what is in none of the values."""
    return next((s for s in _SEPARATORS if not any(s in value for value in values)), None)


def _excluded(domain: Domain, spark_type: str) -> list[Value]:
    """Return the values that the domain lacks, if these are single ones; nothing otherwise, and for floats (NaN)."""
    if spark_type in ("float", "double"):
        return []
    gaps = domain.complement().ranges
    if not all(gap.is_single_value for gap in gaps):
        return []
    return [r.low for gap in gaps if (r := _clamp(gap, spark_type)) is not None and r.low is not None]


def _range(expression: str, r: Range, spark_type: str) -> str:
    bounds = []
    if r.low is None and r.high is not None:
        # Where Iceberg alone evaluates a predicate on partitions, NULL is less than every value.
        bounds.append(f"{expression} IS NOT NULL")
    if r.low is not None:
        bounds.append(f"{expression} {'>=' if r.low_inclusive else '>'} {literal(r.low, spark_type)}")
    if r.high is not None:
        bounds.append(f"{expression} {'<=' if r.high_inclusive else '<'} {literal(r.high, spark_type)}")
    elif spark_type in ("float", "double"):
        bounds.append(f"{expression} IS NOT NULL AND NOT isnan({expression})")
    return "(" + " AND ".join(bounds) + ")" if bounds else f"{expression} IS NOT NULL"


def _clamp(r: Range, spark_type: str) -> Range | None:
    """Drop bounds that no value of a number type can pass: their literals would not fit the type.

    None when no value of the type lies in the range.
    """
    smallest: Value
    largest: Value
    decimal = _DECIMAL.match(spark_type)
    if decimal is not None:
        top = Decimal("9" * int(decimal[1])).scaleb(-int(decimal[2]), _EXACT)
        smallest, largest = _EXACT.minus(top), top
    elif spark_type in _INTEGER_BOUNDS:
        smallest, largest = _INTEGER_BOUNDS[spark_type]
    else:
        return r
    low = None if r.low is None or r.low < smallest else r.low  # type: ignore[operator]
    high = None if r.high is None or r.high > largest else r.high  # type: ignore[operator]
    if (low is not None and low > largest) or (high is not None and high < smallest):  # type: ignore[operator]
        return None
    return Range(low, high, r.low_inclusive, r.high_inclusive)


def _float_literal(value: Value, spark_type: str) -> str:
    # Partitions hold 0.0 for -0.0, and Iceberg distinguishes them where Spark does not.
    number = float(value) + 0.0
    if math.isinf(number):
        return f"{spark_type}('{'-' if number < 0 else ''}Infinity')"
    return f"{number!r}{'F' if spark_type == 'float' else 'D'}"


def _int(value: Value) -> int:
    if not isinstance(value, int):
        raise TypeError(f"Cannot render {type(value).__name__} as an integer, date or timestamp")
    return value


def _date_text(days: int) -> str:
    year, month, day = civil_from_days(days)
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}"


def _timestamp_text(micros: int) -> str:
    days, inside = divmod(micros, MICROS_PER_DAY)
    seconds, fraction = divmod(inside, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    text = f"{_date_text(days)} {hour:02d}:{minute:02d}:{second:02d}"
    return f"{text}.{fraction:06d}" if fraction else text
