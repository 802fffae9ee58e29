"""A column may have almost any word for its name: the tree has it then, or the text is not understood."""

from __future__ import annotations

import pytest
from sqlglot import exp
from sqlglot.dialects.spark import Spark

from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from tests.support.shares import one_of

PLACES = (
    *("f(?, v)", "f(v, ?)", "f(?)", "coalesce(?, v)", "coalesce(v, ?)", "array(?, v)", "struct(?, v)", "nullif(v, ?)"),
    *("? + v", "v + ?", "? * v", "v % ?", "? || 'a'", "v || ?", "(?)", "cast(? AS int)", "?::int", "?.a", "?[0]"),
    *("q.?", "q.?[0]", "q.?.a", "? = 1", "v = ?", "v <=> ?", "? IN (1, 2)", "v IN (?, 2)", "? IS NULL"),
    *("? BETWEEN 1 AND 2", "v BETWEEN 1 AND ?", "? LIKE 'a'", "v LIKE ?", "if(?, v, ?)", "CASE WHEN ? THEN ? END"),
    *("CASE ? WHEN 1 THEN v ELSE ? END", "sum(?)", "count(?)", "max(?) FILTER (WHERE ? > 1)", "substr(?, 1, 2)"),
    *("sum(v) OVER (PARTITION BY ? ORDER BY v)", "date_add(d, ?)", "date_trunc('month', ?)", "extract(year FROM ?)"),
    *("transform(xs, x -> x + ?)", "q.? + v", "v - + ?", "f(+ ?)"),
    *("coalesce(v, ? - 1)", "f(?[0])", "v BETWEEN ? - 1 AND w", "(? * 2)"),
)
NAME = "zzq"
VALUES = {"null", "true", "false", *(word.name.lower() for word in Spark.Parser.NO_PAREN_FUNCTIONS)}
NO_COLUMNS = {
    *("anti", "cross", "except", "full", "inner", "intersect", "join", "lateral", "left", "minus", "natural", "on"),
    *("right", "semi", "union", "using", "any", "connect_by_root", "exists", "not", "prior"),
}
"""Words that are no columns for Spark where they are alone, or nobody knows. In backticks they are names."""

KNOWN = (
    Spark.Tokenizer.KEYWORDS,
    Spark.Parser.FUNCTIONS,
    Spark.Parser.FUNCTION_PARSERS,
    Spark.Parser.NO_PAREN_FUNCTION_PARSERS,
)
WORDS = sorted({w.lower() for words in KNOWN for w in words if w.isidentifier()} - VALUES - NO_COLUMNS)


@pytest.mark.slow
@pytest.mark.parametrize("place", one_of(27, PLACES))
def test_no_word_is_lost(place: str) -> None:
    sql = f"SELECT id, {place} AS x FROM q"
    plain = parse(sql.replace("?", NAME))
    assert isinstance(plain, ParsedSql)
    assert len(WORDS) > 500
    lost = {
        word: found for word in WORDS if (found := _otherwise(sql.replace("?", word), plain.tree, word)) is not None
    }
    assert lost == {}


def _otherwise(sql: str, plain: exp.Expr, word: str) -> str | None:
    """Return the text of a tree that is not that of another name; None where it is, or the text is not understood."""
    found = parse(sql)
    if not isinstance(found, ParsedSql):
        return None
    wanted = plain.copy()
    for name in wanted.find_all(exp.Identifier):
        if name.name == NAME:
            name.set("this", word)
    return None if found.tree == wanted else found.tree.sql(dialect="spark")
