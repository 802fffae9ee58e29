"""Readers whose word `timestamp` means another type than that of the session in which the view was made."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject


@pytest.mark.parametrize("below", [0, 1_000_000], ids=["stitched", "small"])
def test_timestamps_are_those_of_the_base_table(lake: LakeProject, below: int) -> None:
    table, model = f"lake.{lake.schema}.times_{below}", f"of_times_{below}"
    lake.sql(f"CREATE TABLE {table} (k string, at timestamp) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO {table} VALUES ('a', timestamp'2024-01-01 00:00:00'), ('b', timestamp'2024-01-02 00:00:00')")
    sql = f"select k, max(at) as at from {table} group by k"
    lake.model(model, sql, stale_read_behavior="use_stitching", definition_below_rows=below)
    lake.run("--select", model)
    lake.sql(f"INSERT INTO {table} VALUES ('a', timestamp'2024-02-01 00:00:00')")
    reader = lake.session({"spark.sql.timestampType": "TIMESTAMP_NTZ"})
    found, wanted = reader(f"SELECT * FROM {lake.view(model)}"), reader(sql)
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))
    assert any(str(row[1]).startswith("2024-02-01") for row in found), found
