"""Why no view reads appended rows by themselves: what Spark and Iceberg make of such a read in the text of a view."""

from __future__ import annotations

from integration.support.lake import LakeProject


def test_an_incremental_read_in_a_view_is_an_error_where_nothing_was_appended(lake: LakeProject) -> None:
    """If this fails, Iceberg has learnt it, and docs/stale-reads.md is no longer true."""
    table, view = f"lake.{lake.schema}.appended", f"lake.{lake.schema}.new_rows"
    lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT 1 AS id")
    then = lake.sql(f"SELECT snapshot_id FROM {table}.refs WHERE name = 'main'")[0][0]
    lake.sql(f"CREATE VIEW {view} AS SELECT * FROM {table} WITH (`start-snapshot-id` = '{then}')")
    moved = f"(SELECT count(*) FROM {table}.refs WHERE name = 'main' AND snapshot_id <> {then})"

    def is_refused(query: str) -> bool:
        try:
            lake.sql(query)
        except Exception as error:
            assert "is not a parent ancestor" in str(error), error
            return True
        return False

    gated = f"SELECT * FROM {view} WHERE {moved} > 0"
    assert is_refused(f"SELECT * FROM {view}") and is_refused(gated)
    lake.sql(f"INSERT INTO {table} VALUES (2)")
    assert [tuple(row) for row in lake.sql(gated)] == [(2,)]
    lake.sql(f"CALL lake.system.rollback_to_snapshot('{lake.schema}.appended', {then})")
    assert is_refused(gated)
    lake.sql(f"CREATE OR REPLACE TABLE {table} USING iceberg AS SELECT 1 AS id")
    assert is_refused(gated)
