"""Stitched reads after changes of files of older partition specs: followed where these have the fields of the key."""

from __future__ import annotations

import pytest

from integration.support.following import in_turn
from integration.support.lake import LakeProject
from integration.support.stitched import stale_keys

BY_DAY = "select d, count(*) as n, sum(v) as total from {t} group by d"
BY_MONTH = "select trunc(d, 'MM') as m, count(*) as n, sum(v) as total from {t} group by trunc(d, 'MM')"
FOLLOWED, WHOLE = (1, 0), (0, 1)
EVOLUTIONS = {
    "a field more": (("ADD PARTITION FIELD bucket(4, k)",), BY_DAY, FOLLOWED),
    "a field that came and went": (
        ("ADD PARTITION FIELD bucket(4, k)", "DROP PARTITION FIELD bucket(4, k)"),
        BY_DAY,
        FOLLOWED,
    ),
    "another field": (("REPLACE PARTITION FIELD d WITH months(d)",), BY_MONTH, WHOLE),
}


def test_a_column_that_came_again(lake: LakeProject) -> None:
    """Its former field and its new one have one name, of which the files have the new one."""
    table, name = f"lake.{lake.schema}.base_again", "came_again"
    lake.sql(f"CREATE TABLE {table} (d date, k int, v int) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-05', 1, 1), (date'2024-02-05', 1, 1)")
    for alter in ("DROP PARTITION FIELD d", "DROP COLUMN d", "ADD COLUMN d date", "ADD PARTITION FIELD d"):
        lake.sql(f"ALTER TABLE {table} {alter}")
    lake.sql(f"INSERT INTO {table} (d, k, v) VALUES (date'2024-01-05', 2, 1), (date'2024-03-05', 2, 1), (NULL, 3, 1)")
    lake.model(name, BY_DAY.format(t=table), stale_read_behavior="use_stitching")
    for where, expected in (("d = date'2024-01-05'", FOLLOWED), ("k = 3", FOLLOWED), ("k = 1", WHOLE)):
        lake.run("--select", name)
        lake.sql(f"UPDATE {table} SET v = 9 WHERE {where}")
        assert stale_keys(lake.sql, lake.published(name).sql) == expected
        lake.assert_equals_definition(name)


@pytest.mark.parametrize("version", [2, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("evolution", in_turn(EVOLUTIONS, 2))
def test_a_file_of_an_older_spec(lake: LakeProject, evolution: str, version: int) -> None:
    alters, select, expected = EVOLUTIONS[evolution]
    name = f"{evolution.replace(' ', '_')}_{version}"
    table = f"lake.{lake.schema}.base_{name}"
    lake.sql(
        f"CREATE TABLE {table} (d date, k int, v int) USING iceberg PARTITIONED BY (d)"
        f" TBLPROPERTIES ('format-version' = '{version}')"
    )
    old = ", ".join(f"(date'2024-{month:02}-05', {k}, {k})" for month in (1, 2, 3) for k in range(8))
    lake.sql(f"INSERT INTO {table} VALUES {old}, (NULL, 1, 1)")
    for alter in alters:
        lake.sql(f"ALTER TABLE {table} {alter}")
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-04-05', 1, 1), (date'2024-03-05', 2, 2)")
    lake.model(name, select.format(t=table), stale_read_behavior="use_stitching")
    for change in (
        f"DELETE FROM {table} WHERE d = date'2024-01-05' AND v = 3",
        f"UPDATE {table} SET v = 9 WHERE d IS NULL",
    ):
        lake.run("--select", name)
        lake.sql(change)
        assert stale_keys(lake.sql, lake.published(name).sql) == expected
        lake.assert_equals_definition(name)
