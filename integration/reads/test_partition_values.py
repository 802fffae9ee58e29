"""A stitched read of partition values of many types, with Spark as its users run it.

Other tests turn code generation off, for speed. Iceberg then shows partition values of timestamp_ntz as NULL.
"""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject
from integration.support.stitched import TableSize, stale_keys, take_tables_for

COLUMNS = "o boolean, n bigint, m decimal(10,2), s string, b binary, d date, t timestamp, tn timestamp_ntz"
NAMES = "o, n, m, s, b, d, t, tn"
STAYS = (
    "true, 1L, 1.20, 'EU', X'00', date'2024-02-29', timestamp'2024-01-01 00:00:00Z', timestamp_ntz'2024-01-01 00:00:00'"
)
CHANGES = (
    "false, -1L, -0.01, 'O\\'x `y`', X'FF80', date'1969-12-31', timestamp'1969-12-31 23:59:59.999999Z',"
    " timestamp_ntz'1969-12-31 23:59:59.999999'"
)
IS_NEW = "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"


@pytest.mark.parametrize("size", ["small", "large"])
def test_changed_values_of_every_type_are_found(
    users_lake: LakeProject, size: TableSize, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_tables_for(size, monkeypatch)
    lake, table = users_lake, f"lake.{users_lake.schema}.{size}"
    lake.sql(f"CREATE TABLE {table} ({COLUMNS}, v int) USING iceberg PARTITIONED BY ({NAMES})")
    lake.sql(f"INSERT INTO {table} VALUES ({STAYS}, 1), ({CHANGES}, 2)")
    view = f"by_all_of_{size}"
    select = f"select {NAMES}, sum(v) as total from {table} group by {NAMES}"
    lake.model(view, select, stale_read_behavior="use_stitching")
    lake.run("--select", view)
    lake.sql(f"INSERT INTO {table} VALUES ({CHANGES}, 3), ({IS_NEW}, 4)")

    lake.assert_equals_definition(view)
    # Each type gives the keys of a track of its own; each has found the value that changed, the new NULL, and no other.
    *found, whole = stale_keys(lake.sql, lake.published(view).sql)
    assert found
    assert (found, whole) == ([2] * len(found), 0)
