"""Text that the parser does not understand is no error: Spark may well understand it."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.parsing import (
    DIALECT,
    NotParsed,
    ParsedSql,
    definition_hash,
    parse,
    parse_query,
    single_statement,
    tokens_of,
)
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
        "SELECT o.t.k FROM u AS o JOIN t ON o.k = t.k",
        "SELECT other.s.f FROM t AS o",
        "SELECT s.f.g FROM t",
    ],
)
def test_the_first_of_three_parts_may_be_a_schema(sql: str) -> None:
    tree, written = parse_query(sql), sqlglot.parse_one(sql, dialect=DIALECT)
    assert tree == written
    assert not analysed(sql).rewritable
