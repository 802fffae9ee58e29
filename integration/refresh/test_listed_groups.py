"""Few groups that a change reaches are asked with what it does to them, and merged as literals."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager
from integration.support.lake import LakeProject

KINDS = "array('it\\'s', 'a,b', '', null, 'x\\\\y', 'é \U0001f600')[id % 6]"
SELECTS = {
    "by_kind": "select k.kind, count(*) as n, sum(f.amount) as total, max(f.day) as last,"
    " min(f.at) as first, count_if(f.is_new) as news from {facts} f join {kinds} k on f.kind = k.id"
    " where f.amount > 3 group by k.kind",
    "by_price": "select price, day, at, is_new, count(*) as n, max(amount) as best from {facts}"
    " where amount > 5 or amount is null group by price, day, at, is_new",
    "means": "select kind, avg(price) as p, avg(amount) as a, count(*) as n from {facts} where amount > 3 group by kind",
    "in_all": "select count(*) as n, sum(price) as total, min(amount) as least from {facts} where kind <> 2",
}
LISTED = "every group of the view stays as it is"
ROUNDS = {
    "a few rows": (
        ["INSERT INTO {facts} SELECT id + 900000, 3, 9, 7.25BD, day, at, is_new FROM {facts} WHERE id < 7"],
        {"by_kind": "merge", "by_price": "merge", "in_all": "merge", "means": "merge"},
    ),
    "other kinds": (
        ["UPDATE {facts} SET kind = kind + 1 WHERE id BETWEEN 100 AND 140"],
        {"by_kind": "merge", "by_price": "none", "in_all": "merge", "means": "merge"},
    ),
    "as many rows in another order": (
        ["UPDATE {facts} SET id = id + 20000 WHERE id BETWEEN 1000 AND 1200"],
        {"by_kind": "none", "by_price": "none", "in_all": "none"},
    ),
    "two rows change their kinds": (
        ["UPDATE {facts} SET kind = 7 - kind WHERE id IN (5, 6)"],
        {"by_kind": "merge", "by_price": "none", "in_all": "merge"},
    ),
    "groups go, and extremes": (
        ["DELETE FROM {facts} WHERE kind = 6 OR (amount IS NULL AND id < 9000)"],
        {"by_kind": "merge"},
    ),
    "and come again": (
        [
            "INSERT INTO {facts} VALUES (999999, 6, null, -0.01BD, null, null, null), (999998, 6, 40, null, null, null, true)"
        ],
        {"by_kind": "merge", "by_price": "merge", "in_all": "merge"},
    ),
    "nothing that passes": (
        ["UPDATE {facts} SET price = price + 1 WHERE amount <= 3 AND id < 500 AND kind = 2"],
        dict.fromkeys(SELECTS, "none"),
    ),
}


@pytest.mark.parametrize(
    ("value", "select", "before", "after"),
    [
        ("x > 0", "sum(x) as s", [5 * 10**18, -5 * 10**18] * 2, "x + 1"),
        ("x is not null", "avg(x) as s", [4 * 10**18] * 3, "-x"),
        ("x is not null", "avg(x) as s", [2**53 + 1, 1], "if(x = 1, 2, x - 1)"),
    ],
)
def test_sums_and_averages_that_are_not_exact(
    lake: LakeProject, value: str, select: str, before: list[int], after: str
) -> None:
    """What came and what went of a group have the same sum, or none, and the group is another one."""
    number = abs(hash((select, tuple(before)))) % 10**6
    facts, ids, name = f"lake.{lake.schema}.exact_{number}", f"lake.{lake.schema}.ids_{number}", f"inexact_{number}"
    rows = ", ".join(f"({n}, 1, {x}L)" for n, x in enumerate(before))
    lake.sql(f"CREATE TABLE {facts} USING iceberg AS SELECT * FROM VALUES {rows} AS t(id, g, x)")
    lake.sql(f"CREATE TABLE {ids} USING iceberg AS SELECT cast(id AS int) AS id FROM range(400)")
    lake.model(
        name,
        f"select u.id, {select}, count(*) as n from {facts} t join {ids} u on t.g = u.id where x <> 7 group by u.id",
    )
    lake.run("--select", name)
    lake.sql(f"UPDATE {facts} SET x = {after} WHERE {value}")
    lake.run("--select", name)
    lake.assert_equals_definition(name)


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    names = {name: f"lake.{lake.schema}.listed_{name}" for name in ("facts", "kinds")}
    lake.sql(
        f"CREATE TABLE {names['facts']} USING iceberg PARTITIONED BY (truncate(10000, id)) TBLPROPERTIES ('write.metadata.metrics.default'='none') AS SELECT"
        " cast(id AS int) AS id, cast(if(id % 7 = 6 AND id > 9000, 0, id % 7) AS int) AS kind, cast(if(id % 97 = 5, null, id % 11) AS int) AS amount,"
        " cast(id % 5 + 0.25 AS decimal(9, 2)) AS price, date_add(date'2024-01-01', cast(id % 3 AS int)) AS day,"
        " timestamp_millis(1700000000000 + id % 2) AS at, id % 4 = 0 AS is_new FROM range(150000)"
    )
    lake.sql(
        f"CREATE TABLE {names['kinds']} USING iceberg AS SELECT cast(id AS int) AS id, {KINDS} AS kind FROM range(7)"
    )
    for name, sql in SELECTS.items():
        lake.model(f"listed_{name}", sql.format(**names))
    lake.run("--select", *(f"listed_{name}" for name in SELECTS))
    return names


@pytest.mark.parametrize("change", ROUNDS)
def test_few_groups_are_merged_as_literals(
    lake: LakeProject, tables: dict[str, str], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements, kinds = ROUNDS[change]
    for statement in statements:
        lake.sql(statement.format(**tables))
    said: dict[str, list[str]] = {}
    add_query = IcebergMVConnectionManager.add_query

    def recorded(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        said.setdefault(str(self.get_thread_connection().name).rpartition(".")[2], []).append(sql)
        return add_query(self, sql, *arguments, **named)

    monkeypatch.setattr(IcebergMVConnectionManager, "add_query", recorded)
    found = lake.run("--select", *(f"listed_{name}" for name in SELECTS))
    for name in SELECTS:
        lake.assert_equals_definition(f"listed_{name}")
    assert {name: found[f"listed_{name}"]["refresh_kind"] for name in kinds} == kinds, found
    for name, kind in kinds.items():
        inserts = [sql for sql in said[f"listed_{name}"] if "INSERT INTO" in sql]
        assert len(inserts) == (kind == "merge")
        assert all(" AS icebergmv_listed(" in sql and "`listed_facts`" not in sql for sql in inserts)
    if "as many" in change:
        assert LISTED in found["listed_by_kind"]["refresh_reason"]
