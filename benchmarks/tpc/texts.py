"""The queries of a benchmark as SELECTs that Spark can make a table of."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import sqlglot
from sqlglot import exp


def selects(folder: Path, benchmark: str, tables: Collection[str]) -> dict[str, str]:
    """Return the SELECT of each query by a name such as `ds07`, over tables in the namespace of the benchmark.

    The outermost ORDER BY and LIMIT are left out, and every column has a name that no other has.
    """
    texts: dict[str, str] = json.loads((folder / "queries.json").read_text())
    short = benchmark.removeprefix("tpc")
    return {f"{short}{int(number):02}": _select(text, benchmark, tables) for number, text in texts.items()}


def _select(text: str, benchmark: str, tables: Collection[str]) -> str:
    query = sqlglot.parse_one(text.strip().rstrip(";"), read="duckdb")
    assert isinstance(query, exp.Query)
    for clause in ("order", "limit"):
        query.set(clause, None)
    for table in query.find_all(exp.Table):
        if table.name.lower() in tables and not table.db:
            table.set("db", exp.to_identifier(benchmark))
            table.set("catalog", exp.to_identifier("lake"))
    # The SELECT that names the columns of a set operation is the leftmost.
    first: exp.Expression = query
    while not isinstance(first, exp.Select):
        first = first.this
    names: set[str] = set()
    first.set("expressions", [_named(column, names) for column in first.expressions])
    return query.sql(dialect="spark", pretty=True)


def _named(column: exp.Expression, names: set[str]) -> exp.Expression:
    if column.is_star:
        return column
    name = plain = column.alias_or_name or "c"
    number = 1
    while name.lower() in names:
        number += 1
        name = f"{plain}_{number}"
    names.add(name.lower())
    value = column.this if isinstance(column, exp.Alias) else column
    return exp.alias_(value, name, quoted=True)
