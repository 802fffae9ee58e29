"""Text that the parser does not understand is no error: Spark may well understand it."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import (
    DIALECT,
    NotParsed,
    ParsedSql,
    cast_type,
    definition_hash,
    parse,
    parse_query,
    single_statement,
    tokens_of,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence
from tests.support.rule_tables import analysed

NOT_UNDERSTOOD = ["SELECT 'open", "SELECT (", "", "SELECT map(d) AS m FROM t", "SELECT " + "(" * 5000]


@pytest.mark.parametrize("sql", NOT_UNDERSTOOD, ids=range(len(NOT_UNDERSTOOD)))
def test_no_text_raises_an_error(sql: str) -> None:
    parsed = parse(sql)
    assert isinstance(parsed, NotParsed)
    assert parsed.reason
    assert parse_query(sql) is None
    reason = analysed(sql).always_full
    assert reason is not None
    assert reason.startswith("its SQL cannot be analysed")


def test_text_without_tokens_is_taken_as_it_is() -> None:
    assert tokens_of("SELECT 'open") is None
    assert single_statement(" SELECT 'open; ") == "SELECT 'open;"
    assert definition_hash("SELECT 'open") != definition_hash("SELECT  'open")


def test_other_statements_are_parsed_but_are_no_query() -> None:
    assert isinstance(parse("DROP TABLE t"), ParsedSql)
    assert parse_query("DROP TABLE t") is None


@pytest.mark.parametrize(
    "sql",
    ["SELECT 1", "SELECT 1;", "SELECT 1; -- behind", "SELECT 1; SELECT 2", "SELECT k FROM t -- c", "ANALYZE TABLE t"],
)
def test_the_tree_is_that_of_sqlglot(sql: str) -> None:
    found = parse(sql)
    assert isinstance(found, ParsedSql)
    assert found.tree == sqlglot.parse_one(sql, dialect=DIALECT)


@pytest.mark.parametrize("sql", ["", ";", "-- nothing"])
def test_no_statement_is_none(sql: str) -> None:
    assert isinstance(parse(sql), NotParsed)


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT o.s.f FROM t AS o", ["o.s"]),
        ("SELECT O.s.f.g FROM t o WHERE o.s.h > 1", ["O.s", "o.s"]),
        ("SELECT t.s.f FROM ns.t", ["t.s"]),
        ("SELECT q.s.f FROM (SELECT s FROM t) AS q", ["q.s", "s"]),
        ("WITH c AS (SELECT s FROM t) SELECT c.s.f FROM c", ["s", "c.s"]),
        ("SELECT o.k FROM t o WHERE EXISTS (SELECT 1 FROM u WHERE u.k = o.s.f)", ["o.k", "u.k", "o.s"]),
    ],
)
def test_the_first_of_three_parts_is_a_relation(sql: str, columns: list[str]) -> None:
    tree = parse_query(sql)
    assert tree is not None
    assert sorted(c.sql() for c in tree.find_all(exp.Column)) == sorted(columns)
    assert analysed(sql).rewritable


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ns.t.k FROM ns.t",
        "SELECT ns.t.k FROM t",
        "SELECT lake.ns.t.k FROM t",
        "SELECT ns.t.s.f FROM t",
        "SELECT t.t.k FROM t.t",
    ],
)
def test_the_first_of_three_parts_may_be_a_schema(sql: str) -> None:
    tree, written = parse_query(sql), sqlglot.parse_one(sql, dialect=DIALECT)
    assert tree == written
    assert not analysed(sql).rewritable


@pytest.mark.parametrize(
    "sql", ["SELECT o.t.k FROM u AS o JOIN t ON o.k = t.k", "SELECT other.s.f FROM t AS o", "SELECT s.f.g FROM t"]
)
def test_the_first_of_three_parts_is_no_schema_that_a_table_has(sql: str) -> None:
    tree, written = parse_query(sql), sqlglot.parse_one(sql, dialect=DIALECT)
    assert tree == written
    assert analysed(sql).rewritable


LONG_COMMENTS = [
    "SELECT d FROM t -- from C:\\\nWHERE v > 1",
    "SELECT d FROM t -- a\\\\\n",
    "SELECT '--\\\n' AS x FROM t",
]


@pytest.mark.parametrize("sql", LONG_COMMENTS)
def test_a_comment_that_ends_in_a_backslash_may_be_longer_for_spark(sql: str) -> None:
    found = parse(sql)
    assert isinstance(found, NotParsed)
    assert "backslash" in found.reason
    assert definition_hash(sql) != definition_hash(sql.replace("\\\n", "\n"))


def test_what_is_no_comment_for_spark_is_a_part_of_the_definition() -> None:
    sql = "SELECT k, v /* a /*+ x */ FROM t WHERE flag --*/ FROM t"
    assert isinstance(parse(sql), NotParsed)
    assert definition_hash(sql) != definition_hash(sql.replace("flag", "other"))


def test_a_comment_at_the_end_swallows_nothing() -> None:
    assert single_statement("SELECT d FROM t -- from C:\\in\\") == "SELECT d FROM t"
    assert single_statement("SELECT d FROM t -- from C:\\in\\\n ") == "SELECT d FROM t"
    assert single_statement("SELECT d FROM t -- from here\n") == "SELECT d FROM t -- from here"


def test_the_hash_knows_a_doubled_quote_from_two_texts() -> None:
    assert definition_hash("SELECT 'it''s' AS c") != definition_hash("SELECT 'it' 's' AS c")
    assert definition_hash("SELECT 'it' 's' AS c") == definition_hash("SELECT 'it'  's' AS c")
    assert definition_hash('SELECT "a""b" AS c') != definition_hash('SELECT "a" "b" AS c')


@pytest.mark.parametrize(
    ("condition", "is_understood"),
    [
        ("a = b IN (1, 2)", False),
        ("a = b NOT IN (SELECT 1)", False),
        ("a <=> b IN (1)", False),
        ("a <=> (b) IN (1)", False),
        ("a <=> f(b) NOT BETWEEN 1 AND 2", False),
        ("a > b LIKE 'x'", False),
        ("a BETWEEN b AND c = d", False),
        ("a LIKE 'x' <> b", False),
        ("a = b LIKE 'x' ESCAPE '!'", False),
        ("a = (b IN (1))", True),
        ("a <=> (b IN (1))", True),
        ("(a <=> b) AND (c IN (1) OR d LIKE 'x')", True),
        ("a <=> b AND c BETWEEN 1 AND 2", True),
        ("a = rlike(b, 'x')", True),
        ("NOT a IN (1) AND a = b", True),
    ],
)
def test_predicates_beside_comparisons(condition: str, *, is_understood: bool) -> None:
    """Of `a = b IN (1)` Spark makes `(a = b) IN (1)`, and the parser `a = (b IN (1))`."""
    found = parse(f"SELECT 1 AS one FROM t WHERE {condition}")
    assert isinstance(found, ParsedSql if is_understood else NotParsed)


def test_a_condition_that_is_true_or_an_error_is_none() -> None:
    view = "SELECT k FROM (SELECT k FROM (SELECT k FROM t) AS `icebergmv_view`{}) s"
    checked, plain = (parse(view.format(w)) for w in (" WHERE IF(k > 1, true, raise_error('x'))", ""))
    other = parse("SELECT k FROM (SELECT k FROM t WHERE IF(k > 1, false, raise_error('x'))) s")
    assert isinstance(plain, ParsedSql)
    assert isinstance(checked, ParsedSql)
    assert isinstance(other, ParsedSql)
    assert plain.tree == checked.tree
    assert other.tree != plain.tree


@pytest.mark.parametrize("condition", ["IF(k > 1, true, false)", "IF(k > 1, k > 2, raise_error('x'))"])
def test_a_condition_of_the_user_under_our_alias_stays(condition: str) -> None:
    found = parse_query(f"SELECT k FROM (SELECT k FROM t) AS icebergmv_view WHERE {condition}")
    assert found is not None
    assert found.args.get("where") is not None


@pytest.mark.parametrize(
    ("sql", "is_understood"),
    [
        ("SELECT k || v - 0.0 AS x FROM t", False),
        ("SELECT (k || v) - 0.0 AS x, k || (v + 1) AS y FROM t", True),
        ("SELECT u.k FROM t AS FULL JOIN u ON v < w", False),
        ("SELECT u.k FROM (SELECT 1 AS v) AS LEFT OUTER JOIN u ON v < w", False),
        ("SELECT u.k AS left FROM t AS a FULL JOIN u ON v < w", True),
        ("SELECT g.primary key FROM g", False),
        ("SELECT k FROM g WHERE g.double precision > 1", False),
        ("SELECT g.order by FROM g", False),
        ("SELECT g.primary AS key, g.`primary key`, CAST(k AS double precision) AS d FROM g ORDER BY k", True),
        ("SELECT k, count(*) AS n FROM g GROUP BY all, k", False),
        ("SELECT k, count(*) AS n FROM g GROUP BY distinct, k", False),
        ("SELECT k, count(*) AS n FROM g GROUP BY `all`, k", True),
        ("SELECT k, count(*) AS n FROM g GROUP BY ALL", True),
    ],
)
def test_words_that_spark_reads_otherwise(sql: str, *, is_understood: bool) -> None:
    assert isinstance(parse(sql), ParsedSql if is_understood else NotParsed)


@pytest.mark.parametrize(
    ("sql", "read"),
    [
        ("SELECT + + k, -+k, k + +k, 2 * +k FROM t", "SELECT p(p(k)), -p(k), k + p(k), 2 * p(k) FROM t"),
        ("SELECT ALL + k, k IS DISTINCT FROM + k FROM t", "SELECT p(k), k IS DISTINCT FROM p(k) FROM t"),
        ("SELECT x DIV + y, x[+1], +~k FROM t", "SELECT x DIV p(y), x[p(1)], p(~k) FROM t"),
        ("SELECT k BETWEEN + 1 AND +2 FROM t WHERE +k = +1", "SELECT k BETWEEN p(1) AND p(2) FROM t WHERE p(k) = p(1)"),
        ("SELECT date + 1, k + 1, (k) + 1, m[1] + 1, 'a' + 1 FROM t", None),
        ("SELECT d + INTERVAL '1' DAY '2' HOUR FROM t", "SELECT d + INTERVAL '1' DAY + INTERVAL '2' HOUR FROM t"),
        ("SELECT list[0], q.array[1], `list`[2], SORT_ARRAY(k)[0], list, array FROM t", None),
    ],
)
def test_signs_and_columns_that_sqlglot_reads_otherwise(sql: str, read: str | None) -> None:
    found = parse(sql)
    assert isinstance(found, ParsedSql)
    assert found.tree.sql(dialect="spark").replace("POSITIVE(", "p(") == (read or sql)


@pytest.mark.parametrize("sql", ["SELECT ~~k FROM t", "SELECT ~+k FROM t", "SELECT k COLLATE + k FROM t"])
def test_signs_that_are_not_understood(sql: str) -> None:
    assert isinstance(parse(sql), NotParsed)


def test_a_plus_makes_a_number_of_a_text() -> None:
    found = parse("SELECT +k AS kk, -k AS mk, 1 + k AS sum FROM t GROUP BY + k")
    assert isinstance(found, ParsedSql)
    assert [call.this for call in found.tree.find_all(exp.Anonymous)] == ["positive", "positive"]
    definition = analysed("SELECT + region AS r, count(*) AS n FROM t GROUP BY + region")
    assert all(track.function for tracks in definition.tracks_of(Occurrence(0)).values() for track in tracks)


@pytest.mark.parametrize(
    ("written", "of"),
    [
        ("DECIMAL(7, 2)", "decimal(7,2)"),
        ("numeric(7)", "decimal(7,0)"),
        ("dec", "decimal(10,0)"),
        ("BIGINT", "bigint"),
        ("timestamp_ntz", "timestamp_ntz"),
    ],
)
def test_the_type_of_a_cast_is_in_the_words_of_spark(written: str, of: str) -> None:
    query = parse_query(f"SELECT CAST(v AS {written}) AS x FROM t")
    assert query is not None
    cast = query.find(exp.Cast)
    assert cast is not None
    assert cast_type(cast.to) == of
