"""Which tables a SELECT reads, and where their names are."""

from __future__ import annotations

import pytest
import sqlglot

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import splice
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference, find_references


def references(sql: str) -> tuple[TableReference, ...]:
    found = find_references(sqlglot.parse_one(sql, dialect="spark"), "here")
    assert found.opaque is None
    assert [r.index for r in found.tables] == list(range(len(found.tables)))
    return found.tables


def opaque(sql: str) -> str | None:
    return find_references(sqlglot.parse_one(sql, dialect="spark"), "here").opaque


# SQL -> names in the order of the text, as the SQL writes them
TEXTS = [
    ("SELECT * FROM t", ["t"]),
    ("SELECT * FROM lake.ns.t", ["lake.ns.t"]),
    ("SELECT * FROM `la``ke` . `a.b`/* x */.`t t` AS u", ["`la``ke` . `a.b`/* x */.`t t`"]),
    ("SELECT 'FROM t', `t`.a /* FROM t */ FROM\n  t -- t\n", ["t"]),
    ("SELECT '\U0001f600é' AS x FROM é_1 JOIN `\U0001f600` b ON true", None),
    ("SELECT * FROM t a JOIN t b ON a.x = b.x", ["t", "t"]),
    ("SELECT * FROM (SELECT * FROM (SELECT * FROM a.t))", ["a.t"]),
    ("SELECT (SELECT max(x) FROM u) FROM t WHERE EXISTS (SELECT 1 FROM v)", ["u", "t", "v"]),
    ("SELECT x FROM t UNION ALL SELECT x FROM u INTERSECT SELECT x FROM v", ["t", "u", "v"]),
    ("SELECT * FROM range(10), VALUES (1) AS t(a)", []),
    ("SELECT * FROM t LATERAL VIEW explode(t.xs) u AS v", ["t"]),
    ("SELECT * FROM t VERSION AS OF 12, u FOR VERSION AS OF 7", ["t", "u"]),
    # names of CTEs are no tables
    ("WITH c AS (SELECT * FROM t) SELECT * FROM c", ["t"]),
    ("WITH t AS (SELECT * FROM t) SELECT * FROM t", ["t"]),
    ("WITH C AS (SELECT 1 AS x) SELECT * FROM c JOIN ns.c ON true", ["ns.c"]),
    ("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM t) SELECT * FROM a, b", ["b", "t"]),
    ("WITH a AS (WITH b AS (SELECT * FROM t) SELECT * FROM b) SELECT * FROM a, b", ["t", "b"]),
    ("SELECT * FROM (WITH c AS (SELECT * FROM t) SELECT * FROM c) JOIN c ON true", ["t", "c"]),
    ("WITH c AS (SELECT 1) SELECT (SELECT 1 FROM c), (WITH c AS (SELECT * FROM u) SELECT 1 FROM c) FROM c", ["u"]),
    ("WITH c AS (SELECT * FROM (WITH c AS (SELECT * FROM c) SELECT * FROM c)) SELECT * FROM c", ["c"]),
    ("WITH c AS (SELECT 1 AS x) SELECT * FROM c UNION ALL SELECT * FROM c", []),
    ("WITH RECURSIVE c AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM c) SELECT * FROM c JOIN d ON true", ["d"]),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "names"), TEXTS)
def test_names_and_spans(sql: str, names: list[str] | None) -> None:
    found = sorted(references(sql), key=lambda r: r.start)
    if names is None:
        names = ["é_1", "`\U0001f600`"]
    assert [sql[r.start : r.end] for r in found] == names


@pytest.mark.parametrize(("sql", "_names"), TEXTS)
def test_splice_changes_names_only(sql: str, _names: object) -> None:
    found = references(sql)
    assert splice(sql, {}) == sql
    assert splice(sql, {r: sql[r.start : r.end] for r in found}) == sql
    spliced = splice(sql, {r: f"<{r.index}>" for r in found})
    for r in found:
        assert spliced.count(f"<{r.index}>") == 1
        spliced = spliced.replace(f"<{r.index}>", sql[r.start : r.end])
    assert spliced == sql


def test_parts_are_unquoted() -> None:
    (found,) = references("SELECT * FROM `la``ke`.`a.b`.`t t` AS u")
    assert (found.catalog, found.namespace, found.name, found.has_alias) == ("la`ke", "a.b", "t t", True)
    (found,) = references("SELECT * FROM t")
    assert (found.catalog, found.namespace, found.name, found.has_alias) == (None, "here", "t", False)


@pytest.mark.parametrize(
    ("sql", "pinned"),
    [
        ("SELECT * FROM t VERSION AS OF 12", [True]),
        ("SELECT * FROM t FOR VERSION AS OF 12 AS x", [True]),
        ("SELECT * FROM t JOIN t VERSION AS OF 12 AS x ON true", [False, True]),
    ],
)
def test_a_snapshot_that_the_user_names_is_pinned(sql: str, pinned: list[bool]) -> None:
    assert [r.pinned for r in references(sql)] == pinned


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM t VERSION AS OF 'branch'",
        "SELECT * FROM t VERSION AS OF '12'",
        "SELECT * FROM t TIMESTAMP AS OF '2024-01-01'",
        "SELECT * FROM t TIMESTAMP AS OF current_timestamp()",
        "SELECT * FROM lake.ns.t.branch_b",
        "SELECT * FROM lake.ns.t.snapshots",
    ],
)
def test_what_cannot_be_known_is_said(sql: str) -> None:
    assert opaque(sql) is not None
