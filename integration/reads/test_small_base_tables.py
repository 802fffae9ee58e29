"""Stitched reads of small base tables: the rows that stale keys need come out of one read, those of NULL keys too."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject
from integration.support.stitched import stale_keys, take_tables_for

COLUMNS = "id BIGINT, region STRING, at TIMESTAMP, amount INT"
ROWS = """
VALUES (1, 'EU', timestamp'2024-01-01 10:00:00', 10), (2, NULL, timestamp'2024-01-01 11:00:00', 20),
    (3, 'US', timestamp'2024-01-02 10:00:00', 30), (4, NULL, NULL, 40), (5, 'EU', NULL, 50)
"""
# How often each view compares the rows of a base table with keys, NULL among them.
VIEWS = {
    "by_region": ("SELECT region, sum(amount) AS n FROM {a} GROUP BY region", 1),
    "by_both": ("SELECT region, date(at) AS d, max(id) AS n FROM {a} GROUP BY region, date(at)", 1),
    "joined": ("SELECT a.region, a.id, b.amount FROM {a} a JOIN {b} b ON a.region <=> b.region", 2),
    # For a NULL key any row of {b} may matter, so these are read apart.
    "null_side": ("SELECT b.region, a.id, b.amount FROM {a} a LEFT JOIN {b} b ON a.region = b.region", 0),
}
CHANGES = (
    ["INSERT INTO {a} VALUES (6, NULL, timestamp'2024-01-02 10:00:00', 60)"],
    [
        "INSERT INTO {b} VALUES (7, 'EU', timestamp'2024-01-03 10:00:00', 70), (8, NULL, NULL, 80)",
        "DELETE FROM {a} WHERE region IS NULL AND at IS NULL",
        "UPDATE {b} SET region = NULL WHERE region = 'US'",
    ],
)


@pytest.mark.long
def test_every_key_finds_its_rows(users_lake: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    take_tables_for("small", monkeypatch)
    lake, names = users_lake, {name: f"lake.{users_lake.schema}.few_{name}" for name in "ab"}
    for table in names.values():
        lake.sql(f"CREATE TABLE {table} ({COLUMNS}) USING iceberg PARTITIONED BY (region, days(at))")
        lake.sql(f"INSERT INTO {table} {ROWS}")
    for view, (sql, _) in VIEWS.items():
        lake.model(view, sql.format_map(names), stale_read_behavior="use_stitching")
    assert {r["stale_read_behavior"] for r in lake.run("--select", *VIEWS).values()} == {"use_stitching"}
    texts = {view: lake.published(view).sql for view in VIEWS}
    for view, (_, reads) in VIEWS.items():
        assert texts[view].count(" <=> k.k0") == reads, view
        assert "hash(k" not in texts[view]
    found = []
    for change in CHANGES:
        for statement in change:
            lake.sql(statement.format_map(names))
        lake.assert_equals_definition(*VIEWS)
        found.append([stale_keys(lake.sql, texts[view]) for view in VIEWS])
    assert not any(keys[-1] for step in found for keys in step), "no read computed everything"
    assert found[0] == [(1, 0)] * len(VIEWS)
    # One table is altered and the other one moved: no key beside everything.
    lake.at_once([f"ALTER TABLE {names['b']} ADD COLUMN more INT", CHANGES[0][0].format_map(names)])
    lake.assert_equals_definition(*VIEWS)
    keys = {view: stale_keys(lake.sql, texts[view]) for view in VIEWS}
    assert (keys["joined"], keys["by_region"][1]) == ((0, 1), 0)
