"""Few groups that a change reaches are asked with what it does to them, and merged as literals."""

from __future__ import annotations

import pytest

from integration.support.following import assert_follows, built, in_turn
from integration.support.lake import LakeProject
from integration.support.said import recorded

KINDS = "array('it\\'s', 'a,b', '', null, 'x\\\\y', 'é \U0001f600')[id % 6]"
SELECTS = {
    "listed_by_kind": "select k.kind, count(*) as n, sum(f.amount) as total, max(f.day) as last,"
    " min(f.at) as first, count_if(f.is_new) as news from {facts} f join {kinds} k on f.kind = k.id"
    " where f.amount > 3 group by k.kind",
    "listed_by_price": "select price, day, at, is_new, count(*) as n, max(amount) as best from {facts}"
    " where amount > 5 or amount is null group by price, day, at, is_new",
    "listed_means": "select kind, avg(price) as p, avg(amount) as a, count(*) as n from {facts} where amount > 3 group by kind",
    "listed_in_all": "select count(*) as n, sum(price) as total, min(amount) as least from {facts} where kind <> 2",
}
TABLES = {
    "facts": "PARTITIONED BY (truncate(10000, id)) TBLPROPERTIES ('write.metadata.metrics.default'='none') AS SELECT"
    " cast(id AS int) AS id, cast(if(id % 7 = 6 AND id > 9000, 0, id % 7) AS int) AS kind,"
    " cast(if(id % 97 = 5, null, id % 11) AS int) AS amount, cast(id % 5 + 0.25 AS decimal(9, 2)) AS price,"
    " date_add(date'2024-01-01', cast(id % 3 AS int)) AS day, timestamp_millis(1700000000000 + id % 2) AS at,"
    " id % 4 = 0 AS is_new FROM range(150000)",
    "kinds": f"AS SELECT cast(id AS int) AS id, {KINDS} AS kind FROM range(7)",
}
LISTED = "every group of the view stays as it is"
ROUNDS = {
    "a few rows": (
        ["INSERT INTO {facts} SELECT id + 900000, 3, 9, 7.25BD, day, at, is_new FROM {facts} WHERE id < 7"],
        {"listed_by_kind": "merge", "listed_by_price": "merge", "listed_in_all": "merge", "listed_means": "merge"},
    ),
    "other kinds": (
        ["UPDATE {facts} SET kind = kind + 1 WHERE id BETWEEN 100 AND 140"],
        {"listed_by_kind": "merge", "listed_by_price": "none", "listed_in_all": "merge", "listed_means": "merge"},
    ),
    "as many rows in another order": (
        ["UPDATE {facts} SET id = id + 20000 WHERE id BETWEEN 1000 AND 1200"],
        {"listed_by_kind": "none", "listed_by_price": "none", "listed_in_all": "none"},
    ),
    "two rows change their kinds": (
        ["UPDATE {facts} SET kind = 7 - kind WHERE id IN (5, 6)"],
        {"listed_by_kind": "merge", "listed_by_price": "none", "listed_in_all": "merge"},
    ),
    "groups go, and extremes": (
        ["DELETE FROM {facts} WHERE kind = 6 OR (amount IS NULL AND id < 9000)"],
        {"listed_by_kind": "merge"},
    ),
    "and come again": (
        [
            "INSERT INTO {facts} VALUES (999999, 6, null, -0.01BD, null, null, null), (999998, 6, 40, null, null, null, true)"
        ],
        {"listed_by_kind": "merge", "listed_by_price": "merge", "listed_in_all": "merge"},
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
    return built(lake, "listed_", TABLES, SELECTS, SELECTS)


@pytest.mark.parametrize("change", in_turn(ROUNDS, 2))
def test_few_groups_are_merged_as_literals(
    lake: LakeProject, tables: dict[str, str], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = recorded(monkeypatch)
    found = assert_follows(lake, tables, ROUNDS[change], SELECTS)
    for name, kind in ROUNDS[change][1].items():
        inserts = [sql for _, model, sql in said if model.endswith(f".{name}") and "INSERT INTO" in sql]
        assert len(inserts) == (kind == "merge")
        assert all(" AS icebergmv_listed(" in sql and "`listed_facts`" not in sql for sql in inserts)
    if "as many" in change:
        assert LISTED in found["listed_by_kind"]["refresh_reason"]
