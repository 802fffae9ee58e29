"""Rendered predicates hold, on a database, for the very rows that the sets hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import duckdb
import pytest
import sqlglot
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_DAY, days_from_civil
from dbt.adapters.icebergmv.maintenance.sql import rendering
from dbt.adapters.icebergmv.maintenance.sql.rendering import (
    Dialect,
    conjunction,
    disjunction,
    identifier,
    literal,
    qualified,
    string_literal,
)
from tests.support.duck import to_duckdb
from tests.support.shares import one_of
from tests.support.strategies import BINARIES, DECIMALS, FLOATS, TEXTS, domains, holds, probes, tuple_domains

INT_POOL: tuple[Value, ...] = (-(2**31), -11, -1, 0, 1, 10, 2**31 - 1)
INT_BEYOND: tuple[Value, ...] = (-(2**31) - 5, -1, 0, 2**31 - 1, 2**31, 2**31 + 6)
BIGINT_POOL: tuple[Value, ...] = (-(2**63) + 1, -(2**31) - 1, -1, 0, 1, 2**63 - 2)
DATE_POOL: tuple[Value, ...] = tuple(
    days_from_civil(*d) for d in [(1, 1, 1), (1969, 12, 31), (1970, 1, 1), (9999, 12, 31)]
)
TIME_POOL: tuple[Value, ...] = tuple(
    d * MICROS_PER_DAY + m
    for d, m in [(days_from_civil(1, 1, 2), 0), (-1, 1), (0, 0), (0, 123_456), (19_000, 3_600_000_000)]
)
SINGLES: tuple[Value, ...] = (-math.inf, -1.5, -0.0, 0.0, 0.10000000149011612, 1.0, 3.4028234663852886e38, math.inf)
# Spark type -> (DuckDB type, values to make sets of, expression that gives a stored value for a parameter)
TYPES: dict[str, tuple[str, tuple[Value, ...], str]] = {
    "int": ("INTEGER", INT_POOL, "?::INTEGER"),
    "bigint": ("BIGINT", BIGINT_POOL, "?::BIGINT"),
    "boolean": ("BOOLEAN", (False, True), "?::BOOLEAN"),
    "double": ("DOUBLE", FLOATS, "?::DOUBLE"),
    "float": ("FLOAT", SINGLES, "?::FLOAT"),
    "decimal(9,3)": ("DECIMAL(9,3)", DECIMALS, "?::DECIMAL(9,3)"),
    "date": ("DATE", DATE_POOL, "DATE '1970-01-01' + ?::INTEGER"),
    "timestamp": ("TIMESTAMPTZ", TIME_POOL, "make_timestamptz(?::BIGINT)"),
    "timestamp_ntz": ("TIMESTAMP", TIME_POOL, "make_timestamp(?::BIGINT)"),
    "string": ("VARCHAR", TEXTS, "?::VARCHAR"),
    "binary": ("BLOB", BINARIES, "?::BLOB"),
}


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("CREATE MACRO unix_date(c) AS c - DATE '1970-01-01'")
    connection.execute("CREATE MACRO unix_micros(c) AS epoch_us(c)")
    return connection


def in_range(value: Value | None, spark_type: str) -> bool:
    """Return whether a probe is a value of the type."""
    if value is None or isinstance(value, bool):
        return True
    if spark_type == "boolean":
        return False
    if spark_type == "float":
        return isinstance(value, float) and (value in SINGLES or math.isnan(value))
    if spark_type == "date":
        return isinstance(value, int) and days_from_civil(1, 1) <= value <= days_from_civil(9999, 12, 31)
    if spark_type in ("int", "bigint"):
        bound = 2**31 if spark_type == "int" else 2**63
        return isinstance(value, int) and -bound <= value < bound
    return not (isinstance(value, str) and "\0" in value)


def selected(
    database: duckdb.DuckDBPyConnection, predicate: str, values: Sequence[Value | None], spark_type: str
) -> list[bool]:
    """Return, per value, whether the predicate holds for a row with it."""
    duckdb_type, _, stored = TYPES[spark_type]
    database.execute(f"CREATE OR REPLACE TEMP TABLE t (i INTEGER, c {duckdb_type})")
    for i, value in enumerate(values):
        expression = "NULL" if value is None else stored
        database.execute(f"INSERT INTO t SELECT {i}, {expression}", [] if value is None else [value])
    found = {row[0] for row in database.execute(f"SELECT i FROM t WHERE {to_duckdb(predicate)}").fetchall()}
    return [i in found for i in range(len(values))]


@pytest.mark.parametrize("spark_type", one_of(3, TYPES))
@settings(max_examples=8)
@given(data=st.data())
def test_predicates_select_the_members(
    spark_type: str, database: duckdb.DuckDBPyConnection, data: st.DataObject
) -> None:
    pool = TYPES[spark_type][1]
    values = [v for v in probes(pool) if in_range(v, spark_type)]
    domain = data.draw(domains(pool))
    if domain.ranges == (Range(None, None),):  # NOT isnan(NULL) holds in Spark
        domain = domain.union(Domain.only_null())
    for d in (domain, domain.intersect(Domain.of(*pool[:2], None))):
        predicate = conjunction(TupleDomain.where({ColumnKey("c"): d}), {"c": spark_type}, Dialect("lake"))
        assert selected(database, predicate, values, spark_type) == [d.contains(v) for v in values]


@pytest.mark.parametrize("spark_type", ["int", "bigint", "date", "timestamp", "string"])
@settings(max_examples=8)
@given(data=st.data())
def test_long_lists_select_the_members(
    spark_type: str, database: duckdb.DuckDBPyConnection, data: st.DataObject
) -> None:
    pool = TYPES[spark_type][1]
    values = [v for v in probes(pool) if in_range(v, spark_type)]
    chosen = data.draw(st.lists(st.sampled_from([*pool, None]), min_size=3, unique=True))
    domain = Domain.of(*chosen)
    rows = TupleDomain.where({ColumnKey("c"): domain})
    with patch.object(rendering, "LONG_LIST", 1):
        predicate = conjunction(rows, {"c": spark_type}, Dialect("lake", long_lists=True))
        assert conjunction(rows, {"c": spark_type}, Dialect("lake")) != predicate
    assert "explode(split(" in predicate
    assert selected(database, predicate, values, spark_type) == [domain.contains(v) for v in values]


@pytest.mark.parametrize(("spark_type", "top"), [("int", 2**31), ("bigint", 2**63)])
def test_what_no_value_of_the_type_can_be_is_in_no_long_list(spark_type: str, top: int) -> None:
    """In ANSI mode Spark fails to read it; a column of another type that is joined can have it."""
    for n in (1500, 500):
        rows = TupleDomain.where({ColumnKey("c"): Domain.of(-top - 1, *range(top - n, top + n))})
        text = conjunction(rows, {"c": spark_type}, Dialect("lake", long_lists=True))
        assert ("explode" in text) == (n > 1000)
        assert not any(str(beyond) in text for beyond in (-top - 1, top))


LONG = Domain.of(*range(2000))


@pytest.mark.parametrize(
    ("domain", "spark_type", "is_long"),
    [
        (LONG, "int", True),
        (LONG.union(Domain.only_null()), "int", True),
        (Domain.of(*range(1000)), "int", False),
        (LONG.union(Domain.between(Range(5000, None))), "int", False),
        (LONG.complement(), "int", False),
        (LONG, "timestamp_ntz", False),
        (Domain.of(*map(Decimal, range(2000))), "decimal(9,0)", False),
        (Domain.of(*map(str, range(2000))), "string", True),
        (Domain.of(*map(str, range(2000)), ",;"), "string", True),
        (Domain.of(*map(str, range(2000)), ",", ";~#\x1f"), "string", True),
    ],
)
def test_what_is_a_long_list(domain: Domain, spark_type: str, is_long: bool) -> None:
    rows = TupleDomain.where({ColumnKey("c"): domain})
    text = conjunction(rows, {"c": spark_type}, Dialect("lake", long_lists=True))
    assert ("explode" in text) == is_long
    assert "explode" not in conjunction(rows, {"c": spark_type}, Dialect("lake"))


@settings(max_examples=25)
@given(domains(INT_BEYOND))
def test_bounds_beyond_int(database: duckdb.DuckDBPyConnection, domain: Domain) -> None:
    values = [v for v in probes(INT_BEYOND) if in_range(v, "int")]
    predicate = conjunction(TupleDomain.where({ColumnKey("c"): domain}), {"c": "int"}, Dialect("lake"))
    assert selected(database, predicate, values, "int") == [domain.contains(v) for v in values]


@settings(max_examples=30)
@given(st.lists(tuple_domains("ab", (0, 1, 2)), max_size=4))
def test_disjunctions_select_the_rows(database: duckdb.DuckDBPyConnection, disjuncts: list[TupleDomain]) -> None:
    database.execute("CREATE OR REPLACE TEMP TABLE g AS SELECT * FROM (VALUES (-1), (0), (1), (2), (3), (NULL)) x(a), "
                     "(VALUES (-1), (0), (1), (2), (3), (NULL)) y(b)")  # fmt: skip
    predicate = to_duckdb(disjunction(disjuncts, {"a": "int", "b": "int"}, Dialect("lake")))
    rows = database.execute(f"SELECT a, b, coalesce(({predicate}), false) FROM g").fetchall()
    assert len(rows) == 36
    for a, b, chosen in rows:
        assert chosen == any(holds(d, {"a": a, "b": b}) for d in disjuncts)


def test_nothing_and_everything() -> None:
    assert disjunction([], {}, Dialect("lake")) == "false"
    assert disjunction([TupleDomain.none()], {}, Dialect("lake")) == "false"
    assert disjunction([TupleDomain.all()], {}, Dialect("lake")) == "true"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
@example("'")
@example("\\")
@example("\\'")
@example("\\u0027 OR 1=1 --")
@example("${spark.x} $1 $$")
@example("a\nb\r\t\x00\x1a")
@example("\U0001f600\u2028é\\%_")
def test_strings_come_back_whole(text: str) -> None:
    written = string_literal(text)
    assert spark_reads(written) == text
    assert "$" not in written and "\n" not in written


def spark_reads(written: str) -> str:
    """Return what Spark's unescapeSQLString makes of a literal, which must be one token."""
    assert written[0] == written[-1] == "'"
    inside, result, i = written[1:-1], [], 0
    while i < len(inside):
        assert inside[i] != "'"
        if inside[i] != "\\":
            result.append(inside[i])
            i += 1
        elif inside[i + 1] == "u":
            result.append(chr(int(inside[i + 2 : i + 6], 16)))
            i += 6
        elif inside[i + 1] in "%_":
            result.append(inside[i : i + 2])
            i += 2
        else:
            assert inside[i + 1] in "\\'"
            result.append(inside[i + 1])
            i += 2
    return "".join(result)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
@example("a`b")
@example("``")
@example("a.b")
@example("select")
def test_identifiers_are_one_quoted_part(name: str) -> None:
    query = sqlglot.parse_one(f"SELECT {identifier(name)}", dialect="spark")
    assert isinstance(query, exp.Select)
    column = query.selects[0]
    assert isinstance(column, exp.Column)
    assert [p.name for p in column.parts] == [name]


def test_qualified_names() -> None:
    assert qualified("lake", "a.b", "c`d") == "`lake`.`a.b`.`c``d`"


@pytest.mark.parametrize(
    ("value", "spark_type", "expected"),
    [
        (0, "date", "DATE '1970-01-01'"),
        (days_from_civil(0, 1), "date", "DATE '0000-01-01'"),
        (days_from_civil(-44, 3, 15), "date", "DATE '-0044-03-15'"),
        (days_from_civil(10000, 1), "date", "DATE '+10000-01-01'"),
        (-1, "timestamp", "TIMESTAMP '1969-12-31 23:59:59.999999Z'"),
        (0, "timestamp_ntz", "TIMESTAMP_NTZ '1970-01-01 00:00:00'"),
        (-7, "int", "-7"),
        (-(2**63), "bigint", "-9223372036854775808L"),
        (True, "boolean", "true"),
        (b"", "binary", "X''"),
        (b"\x00'\xff", "binary", "X'0027ff'"),
        (Decimal("1E+5"), "decimal(9,0)", "100000BD"),
        (Decimal("-0.10"), "decimal(9,2)", "-0.10BD"),
        (
            Decimal("12345678901234567890123456789012345678"),
            "decimal(38,0)",
            "12345678901234567890123456789012345678BD",
        ),
        (0.1, "double", "0.1D"),
        (-math.inf, "double", "double('-Infinity')"),
        (1, "double", "1.0D"),
        (1.5, "float", "1.5F"),
        ("x", "string", "'x'"),
    ],
)
def test_literals(value: Value, spark_type: str, expected: str) -> None:
    assert literal(value, spark_type) == expected


@pytest.mark.parametrize(("value", "spark_type"), [("x", "date"), (1.5, "timestamp"), ("1", "bigint")])
def test_a_value_of_another_type_is_an_error(value: Value, spark_type: str) -> None:
    with pytest.raises(TypeError, match="Cannot render"):
        literal(value, spark_type)


@pytest.mark.parametrize(
    ("transform", "spark_type", "value", "expected"),
    [
        ("bucket[16]", "string", 3, "(`la``ke`.system.bucket(16, `a b`) <=> 3)"),
        ("bucket[16]", "bigint", 3, "(`la``ke`.system.bucket(16, `a b`) <=> 3)"),
        ("truncate[4]", "string", "a'b$", "(`la``ke`.system.truncate(4, `a b`) <=> 'a\\'b\\u0024')"),
        ("truncate[4]", "binary", b"ab", "(`la``ke`.system.truncate(4, `a b`) <=> X'6162')"),
        ("bucket[16]", "string", None, "(`a b` IS NULL)"),
    ],
)
def test_transforms_are_icebergs_own_functions(transform: str, spark_type: str, value: Any, expected: str) -> None:
    rows = TupleDomain.where({ColumnKey("a b", transform): Domain.of(value)})
    assert conjunction(rows, {"a b": spark_type}, Dialect("la`ke")) == expected


def test_unknown_transform_is_an_error() -> None:
    with pytest.raises(ValueError, match="zorder"):
        conjunction(TupleDomain.where({ColumnKey("a", "zorder"): Domain.of(1)}), {"a": "int"}, Dialect("lake"))


@pytest.mark.parametrize("pushable", [True, False])
@pytest.mark.parametrize(("transform", "spark_type"), [("bucket[4]", "bigint"), ("truncate[2]", "string")])
def test_null_is_asked_of_the_column_not_of_its_transform(transform: str, spark_type: str, pushable: bool) -> None:
    """The form that is hidden from Iceberg has a value where the transform is NULL."""
    some: Value = 3 if spark_type == "bigint" else "ab"
    rows = TupleDomain.where({ColumnKey("c", transform): Domain.of(some, None)})
    text = conjunction(rows, {"c": spark_type}, Dialect("lake", pushable))
    assert text.startswith("(`c` IS NULL OR ")
    assert text.count("IS NULL") == 1
