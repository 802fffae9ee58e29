"""Engines without Spark read a model of layout table by its name, as any other table."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from integration.support.duckdb_elsewhere import duckdb_rows
from integration.support.lake import LakeProject

PYICEBERG = """
import json, sys
from pyiceberg.catalog import load_catalog
table = load_catalog("lake", **json.loads(sys.argv[1])).load_table(sys.argv[2])
rows = table.scan().to_arrow().to_pylist()
assert not {"pyspark", "dbt"} & {module.split(".")[0] for module in sys.modules}
print(json.dumps([list(row.values()) for row in rows], default=str))
"""


@pytest.mark.long
def test_every_refresh_is_read(lake: LakeProject) -> None:
    base = f"lake.{lake.schema}.base"
    lake.sql(
        f"CREATE TABLE {base} USING iceberg PARTITIONED BY (d) AS SELECT * FROM "
        "VALUES (date'2024-01-01', 1), (date'2024-01-02', 2), (NULL, 3) AS v(d, v)"
    )
    select = f"select d, sum(v) as v, avg(v) as mean from {base} group by d"
    lake.model("daily", select, layout="table", refresh_policy="incremental")
    changes = (
        ("full", None),
        ("overwrite", f"INSERT INTO {base} VALUES (date'2024-01-02', 10), (NULL, 1)"),
        ("overwrite", f"DELETE FROM {base} WHERE d IS NULL"),
    )
    for kind, change in changes:
        if change:
            lake.sql(change)
        assert lake.run("--select", "daily")["daily"]["refresh_kind"] == kind
        wanted = _texts(lake.sql(select))
        assert _texts(_read_by_pyiceberg(lake, "daily")) == wanted
        table = lake.reader().table(lake.schema, "daily")
        assert table is not None
        location = table.metadata_location.removeprefix("file:").replace("'", "''")
        assert _texts(duckdb_rows(f"SELECT d, v, mean FROM iceberg_scan('{location}')")) == wanted


def _read_by_pyiceberg(lake: LakeProject, name: str) -> list[list[object]]:
    properties = json.dumps(dict(lake.credentials().catalog_settings("lake").pyiceberg))
    command = [sys.executable, "-I", "-W", "ignore", "-c", PYICEBERG, properties, f"{lake.schema}.{name}"]
    found: list[list[object]] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found


def _texts(rows: object) -> list[list[str]]:
    assert isinstance(rows, list)
    return sorted([str(value) for value in row] for row in rows)
