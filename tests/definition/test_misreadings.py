"""SELECTs, values and states that the engine once misread: each would have given wrong rows or a crash."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from pyiceberg.transforms import IdentityTransform, TruncateTransform
from pyiceberg.types import DecimalType, DoubleType
from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.partitioning import PartitionField, derive_partitioning
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import find_references
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import NotParsed, ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence
from dbt.adapters.icebergmv.maintenance.errors import StateUnreadable
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Computed
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import partition_domain
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, conjunction
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import read_state
from tests.support.bases import analysed
from tests.support.condition_texts import ALIASES, CONDITIONS
from tests.support.rule_tables import TABLES
from tests.support.rule_tables import analysed as analysed_over_tables
from tests.support.specs import SCHEMA, spec


@pytest.mark.parametrize(
    "key",
    [
        "trunc(d, 'Y')",
        "trunc(d, 'Q')",
        "trunc(d, 'W')",
        "trunc(d, s.month)",
        *(f"date_trunc('{unit}', ts)" for unit in ("Y", "Q", "M", "D", "H", "S", "MS")),
        "date_trunc(s.month, ts)",
        "date_trunc(replace('month', 'month', 'year'), ts)",
    ],
)
def test_units_that_spark_does_not_know_or_that_are_expressions_are_left_to_spark(key: str) -> None:
    assert _is_left_to_spark(analysed_over_tables(f"SELECT {key} AS k FROM t"))


def test_unit_that_is_a_lateral_alias_is_left_to_spark() -> None:
    assert _is_left_to_spark(analysed_over_tables("SELECT 'year' AS month, date_trunc(month, ts) AS k FROM t"))


def _is_left_to_spark(definition: ViewDefinition) -> bool:
    """Return whether the column k tracks by nothing but expressions that Spark evaluates."""
    tracks = definition.tracks_of(Occurrence(0)).get("k", ())
    return all(isinstance(step, Computed) for track in tracks for step in track.function)


@pytest.mark.parametrize("sql", ALIASES)
def test_a_condition_that_spark_takes_for_an_alias_is_not_understood(sql: str) -> None:
    found = parse(sql)
    assert isinstance(found, NotParsed)
    assert "for an alias of the table before it" in found.reason


@pytest.mark.parametrize("sql", CONDITIONS)
def test_what_spark_takes_for_a_condition_is_understood(sql: str) -> None:
    assert isinstance(parse(sql), ParsedSql)


def test_struct_column_named_as_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLES, "t", "x struct<t:struct<d:date>>, d date")
    assert not analysed_over_tables("SELECT x.t.d AS k FROM t").tracks_of(Occurrence(0))


@pytest.mark.parametrize(
    "join",
    [
        "(t a RIGHT JOIN t b ON a.d = b.d)",
        "(t a JOIN t b ON a.d = b.d) x",
        "((t a LEFT JOIN t b ON a.d = b.d))",
        "(t a, t b)",
    ],
)
def test_ambiguous_name_over_a_join_in_parentheses_tracks_nothing(join: str) -> None:
    definition = analysed_over_tables(f"SELECT d AS k FROM {join}")
    assert not definition.tracks_of(Occurrence(0))
    assert not definition.tracks_of(Occurrence(1))
    assert set(definition.obstacles) == {Occurrence(0), Occurrence(1)}


@pytest.mark.parametrize("at", ["TIMESTAMP AS OF 9999999999", "FOR SYSTEM_TIME AS OF 1700000000"])
def test_time_travel_by_number_is_read_as_it_is_written(at: str) -> None:
    definition = analysed_over_tables(f"SELECT d FROM t {at}")
    assert definition.always_full is not None
    assert all(r.pinned for r in definition.references)


@pytest.mark.parametrize(
    "expression",
    [
        "`rand`()",
        "`uuid`()",
        "`current_date`()",
        "TIMESTAMP 'now'",
        "DATE 'today'",
        "DATE'yesterday'",
        "TIMESTAMP_NTZ 'now'",
        "gen_random_uuid()",
        "generate_uuid()",
        "safe_divide(v, 2)",
    ],
)
def test_volatile(expression: str) -> None:
    assert analysed_over_tables(f"SELECT d, {expression} AS r FROM t").always_full is not None


def test_clock_hidden_by_a_column_of_an_outer_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLES, "u", "id bigint, current_date date")
    assert analysed_over_tables("SELECT id, current_date AS c FROM (SELECT id FROM u)").always_full is not None


@pytest.mark.parametrize("aggregate", ["`first`(v)", "max_by(id, v)", "min_by(id, v)", "mode(v)"])
def test_order_dependent(aggregate: str) -> None:
    assert analysed_over_tables(f"SELECT d, {aggregate} AS f FROM t GROUP BY d").depends_on_order is not None


def test_isnull_where_it_is_no_call_is_not_understood() -> None:
    assert isinstance(parse("SELECT d isnull FROM t"), NotParsed)
    assert isinstance(parse("SELECT d FROM t WHERE v notnull"), NotParsed)
    assert isinstance(parse("SELECT isnull(v) AS none, isnotnull(v) AS some FROM t WHERE v IS NOT NULL"), ParsedSql)


def test_parser_that_fails_in_its_own_way() -> None:
    assert analysed_over_tables("SELECT d FROM t |> LIMIT 4").always_full is not None


@pytest.mark.parametrize("hint", ["REPARTITION(3)", "BROADCAST(t), MERGE(t)", "SHUFFLE_HASH(t)"])
def test_hints_are_no_functions(hint: str) -> None:
    assert analysed_over_tables(f"SELECT /*+ {hint} */ d FROM t").always_full is None


@pytest.mark.parametrize("hint", ["BROADCAST(u)", "MAPJOIN(p), REPARTITION(3, id)", "SHUFFLE_HASH(u, p)"])
def test_names_in_hints_are_no_tables(hint: str) -> None:
    select = f"SELECT 'some' AS c, id FROM t UNION ALL SELECT /*+ {hint} */ 'x', u.id FROM u JOIN p ON u.id = p.id"
    parsed = parse(select)
    assert isinstance(parsed, ParsedSql)
    found = find_references(parsed.tree, "ns").tables
    assert [select[r.start : r.end] for r in found] == ["t", "u", "p"]
    places = [(name.name, name.meta) for name in parsed.tree.find_all(exp.Identifier)]
    assert all(select[place["start"] : place["end"] + 1] == name for name, place in places)


@pytest.mark.parametrize("value", [1e300, -1e300, 3.4028235677973366e38])
def test_double_beyond_single_precision(value: float) -> None:
    found = partition_domain(IdentityTransform(), "c", DoubleType(), value)
    assert found is not None
    assert found[1].contains(value)


@pytest.mark.parametrize(
    "digits",
    [
        "12345678901234567890123456789012345670",
        "10000000000000000000000000004",
        "-12345678901234567890123456789012345670",
    ],
)
def test_truncated_decimals_of_more_than_28_digits(digits: str) -> None:
    found = partition_domain(TruncateTransform(10), "c", DecimalType(38, 0), Decimal(digits))
    assert found is not None
    assert all(found[1].contains(Decimal(int(digits) + step)) for step in (0, 5, 9))
    assert not any(found[1].contains(Decimal(int(digits) + step)) for step in (-1, 10))


def test_non_null_doubles_leave_null_out() -> None:
    assert "IS NOT NULL" in _rendered(Domain.between(Range(0.5, None)), "double")


@pytest.mark.parametrize(
    "domain", [Domain.between(Range(2**63, None)), Domain.between(Range(None, -(2**63) - 1)), Domain.of(2**63)]
)
def test_bigint_literals_fit(domain: Domain) -> None:
    numbers = [int(n) for n in re.findall(r"(-?\d+)L", _rendered(domain, "bigint"))]
    assert all(-(2**63) <= n < 2**63 for n in numbers)


@pytest.mark.parametrize("version", ["\u00b2", "\uff19" * 5000, "9" * 5000])
def test_format_version_that_is_no_number(version: str) -> None:
    with pytest.raises(StateUnreadable):
        read_state("v", {"icebergmv.format-version": version})


@pytest.mark.parametrize("unit", ["minute", "second", "millisecond"])
def test_storage_is_no_finer_than_the_base(unit: str) -> None:
    definition = analysed(f"SELECT date_trunc('{unit}', ts) AS k FROM t")
    found = derive_partitioning(definition, [(0, spec(("hour", "ts")), SCHEMA)])
    assert found == (PartitionField("k", "hour"),)


def _rendered(domain: Domain, spark_type: str) -> str:
    return conjunction(TupleDomain.where({ColumnKey("c"): domain}), {"c": spark_type}, Dialect("lake"))


@pytest.mark.parametrize("sql", ["SELECT x.list[0] AS k FROM (SELECT s AS list FROM t) x", "SELECT array[0].b FROM t"])
def test_an_index_of_a_column_named_list_or_array_reads_that_column(sql: str) -> None:
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    assert {c.name for c in parsed.tree.find_all(exp.Column)} >= {"list" if "list" in sql else "array"}


@pytest.mark.parametrize(
    "sql",
    [
        *("SELECT coalesce(all, v) AS k FROM t", "SELECT f(v, all) FROM t", "SELECT greatest(fetch, v) FROM t"),
        *("SELECT array(distinct, v) FROM t", "SELECT all, v FROM t", "SELECT all FROM t"),
        "SELECT trim(both, 'a') FROM t",
    ],
)
def test_a_word_that_is_lost_where_it_is_a_column_is_not_understood(sql: str) -> None:
    found = parse(sql)
    assert isinstance(found, NotParsed)
    assert "for a name here: use backticks" in found.reason


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT q.all, f(`all`, v), trim(both 'a' FROM v), timestampdiff(month, a, b), extract(DATE FROM d) FROM q",
        "SELECT current_date, f(current_user), date, first(v), index, count(distinct v) FROM t GROUP BY ALL",
        "SELECT a IN (null, true, r'x', x'ab'), row, f(comment, view, text, int) FROM t",
    ],
)
def test_words_that_are_no_columns_or_are_kept_are_understood(sql: str) -> None:
    assert isinstance(parse(sql), ParsedSql)


@pytest.mark.parametrize("name", ["strpos", "to_hex", "charindex", "json_object", "arrayagg", "STRPOS"])
def test_functions_that_only_the_parser_knows_are_user_defined(name: str) -> None:
    found = analysed_over_tables(f"SELECT id, {name}(region, 'a') AS p FROM t").always_full
    assert f"{name.lower()}() is a user-defined function with the name of one that other databases have" == found


@pytest.mark.parametrize("name", ["desc", "update", "merge", "use", "begin"])
def test_columns_with_the_name_of_a_statement_are_grouped_by(name: str) -> None:
    below = f"FROM (SELECT region AS {name}, v FROM t) GROUP BY"
    for sql in (
        f"SELECT {name}, {name} || count(*) AS x, count(*) AS c {below} {name}",
        f"SELECT {name}, v, count(*) AS c {below} GROUPING SETS (({name}, v), (v))",
    ):
        assert analysed_over_tables(sql).always_full is None


def test_a_raw_text_may_be_a_clock() -> None:
    assert "may be read as a date" in (analysed_over_tables("SELECT id FROM t WHERE d > r'today'").always_full or "")
