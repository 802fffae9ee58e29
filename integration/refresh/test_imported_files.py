"""Files that were imported have no field ids: they are read by the names that the columns of today have."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.support.lake import LakeProject


@pytest.fixture
def files(lake: LakeProject, tmp_path: Path) -> str:
    """Return a folder with files of id, k, v and w."""
    columns = "cast(id as int) as id, cast(id % 2 as int) as k, cast(id as int) as v, cast(id * 10 as int) as w"
    lake.sql(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/files' USING parquet SELECT {columns} FROM range(1, 5)")
    return f"{tmp_path}/files"


def import_into(lake: LakeProject, name: str, files: str) -> str:
    """Make a table of id, k and v, and import files into it."""
    table = f"lake.{lake.schema}.{name}"
    lake.sql(f"CREATE TABLE {table} (id int, k int, v int) USING iceberg")
    lake.sql(f"CALL lake.system.add_files(table => '{lake.schema}.{name}', source_table => '`parquet`.`{files}`')")
    return table


def test_a_new_column_that_imported_files_have(lake: LakeProject, files: str) -> None:
    table = import_into(lake, "imported", files)
    lake.model("no_w", f"select k, sum(v) as v, count(*) as n from {table} group by k")
    lake.run("--select", "no_w")
    lake.sql(f"ALTER TABLE {table} ADD COLUMN w int")
    assert lake.run("--select", "no_w")["no_w"]["refresh_kind"] == "none"
    lake.model("all_of_it", f"select * from {table}")
    lake.model("with_w", f"select k, sum(w) as w from {table} group by k")
    views = ("no_w", "all_of_it", "with_w")
    lake.run("--select", *views)
    lake.assert_equals_definition(*views)
    lake.sql(f"INSERT INTO {table} VALUES (9, 1, 9, 90)")
    lake.run("--select", *views)
    lake.assert_equals_definition(*views)
    lake.sql(f"DELETE FROM {table} WHERE id = 2")
    kinds = {name: answer["refresh_kind"] for name, answer in lake.run("--select", *views).items()}
    lake.assert_equals_definition(*views)
    assert "full" not in kinds.values()


def test_a_column_that_takes_a_name_of_imported_files(lake: LakeProject, files: str) -> None:
    table = import_into(lake, "imported_names", files)
    lake.model("by_name", f"select k, sum(v) as v from {table} group by k")
    lake.run("--select", "by_name")
    lake.sql(f"ALTER TABLE {table} RENAME COLUMN v TO old_v")
    lake.sql(f"ALTER TABLE {table} ADD COLUMN v int")
    lake.run("--select", "by_name")
    lake.assert_equals_definition("by_name")
    lake.sql(f"INSERT INTO {table} VALUES (9, 1, 9, 90)")
    lake.run("--select", "by_name")
    lake.assert_equals_definition("by_name")
