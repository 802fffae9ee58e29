"""Views that show the definition although the analysis does not see which tables it reads, or cannot pin them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from integration.support.lake import LakeProject


@pytest.mark.parametrize("behavior", ["use_view_query", "use_stitching"])
def test_readers_get_the_definition(lake: LakeProject, behavior: str) -> None:
    table = f"lake.{lake.schema}.unseen_{behavior}"
    lake.sql(f"CREATE TABLE {table} (id int, p string) USING iceberg PARTITIONED BY (p)")
    lake.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
    views = {
        f"piped_{behavior}": f"from {table} |> where id > 0 |> aggregate count(*) as n",
        f"named_{behavior}": f"select count(*) as n from identifier('{table}')",
        f"files_{behavior}": f"select count(*) as n, sum(record_count) as r from {table}.files",
    }
    for name, sql in views.items():
        lake.model(name, sql, stale_read_behavior=behavior)
    lake.model(f"above_{behavior}", f"select n from {{{{ ref('piped_{behavior}') }}}}", stale_read_behavior=behavior)
    lake.run("--select", *views, f"above_{behavior}")
    lake.sql(f"INSERT INTO {table} VALUES (3, 'c')")
    lake.assert_equals_definition(*views, f"above_{behavior}")


def test_readers_get_the_stored_rows_over_files_that_are_read_by_their_path(lake: LakeProject, tmp_path: Path) -> None:
    """In a view Iceberg takes the path for the name of a table of its own catalog."""
    table = f"lake.{lake.schema}.beside_files"
    lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT 1 AS id")
    SparkSession.active().range(5).write.parquet(f"{tmp_path}/files")
    select = f"select t.id from {table} t join parquet.`{tmp_path}/files` f on f.id = t.id"
    lake.model("over_files", select, stale_read_behavior="use_view_query")
    assert lake.behaviors("over_files") == {"over_files": "use_data_table"}
    assert any("is a path, which in a view" in warning for warning in lake.warnings)
    assert lake.rows("over_files") == [(1,)]
    lake.sql(f"INSERT INTO {table} VALUES (2)")
    assert lake.rows("over_files") == [(1,)]
    lake.run("--select", "over_files")
    assert lake.warnings == []
    assert lake.rows("over_files") == [(1,), (2,)]


def test_runs_stitch_nothing_that_cannot_be_pinned(lake: LakeProject) -> None:
    """Of one table there would be two states in one row."""
    table = f"lake.{lake.schema}.unpinned"
    lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT 1 AS id")
    lake.sql(f"CREATE VIEW {table}_view AS SELECT {lake.schema}.unpinned.id FROM {table}")
    select = f"select count(*) as n, (select count(*) from {table}) as m from {table}_view"
    lake.model("unpinned_rows", select, stale_read_behavior="use_stitching", refresh_on_run=False)
    lake.run("--select", "unpinned_rows")
    for _ in range(2):
        lake.sql(f"INSERT INTO {table} VALUES (7)")
        assert lake.rows("unpinned_rows") == [(1, 1)]
        found = lake.run("--select", "unpinned_rows")["unpinned_rows"]
        assert found["refresh_kind"] == "none"
        assert "nor stitched" in found["refresh_reason"]


def test_a_table_that_was_never_written_gets_a_column(lake: LakeProject) -> None:
    written, empty = (f"lake.{lake.schema}.never_{name}" for name in ("written", "empty"))
    lake.sql(f"CREATE TABLE {written} USING iceberg AS SELECT 1 AS id, 'a' AS p")
    lake.sql(f"CREATE TABLE {empty} (id int, p string) USING iceberg")
    select = f"select id, p from (select * from {written} union all select * from {empty})"
    lake.model("never_stitched", select, stale_read_behavior="use_stitching", refresh_on_run=False)
    lake.run("--select", "never_stitched")
    lake.sql(f"INSERT INTO {written} VALUES (2, 'b')")
    lake.run("--select", "never_stitched")
    lake.sql(f"ALTER TABLE {empty} ADD COLUMN x int FIRST")
    assert sorted(lake.rows("never_stitched")) == [(1, "a"), (2, "b")]
