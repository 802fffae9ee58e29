"""Materialized views on S3 behind a REST catalog, read without Spark by programs that have no login of S3."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from integration.support.duckdb_elsewhere import duckdb_rows
from integration.support.living import live
from integration.support.servers.gate import CLIENT, SCOPE, SECRET, Gate
from integration.support.servers.rest_on_s3 import rest_catalog_on_s3
from integration.support.servers.s3 import ObjectStore
from integration.support.spark_settings import SPARK

# What any program does that has PyIceberg: of a view it must know the names of the properties, a table is a table.
READERS = {
    "view": """
view = catalog.load_view(("analytics", "by_day")).metadata.properties
table = catalog.load_table(tuple(view["icebergmv.storage-table"].split(".")[-2:]))
rows = table.scan(snapshot_id=int(view["icebergmv.storage-snapshot-id"])).to_arrow()
""",
    "table": """
table = catalog.load_table(("analytics", "by_day"))
rows = table.scan().to_arrow()
""",
}
READER = """
import json, sys
from pyiceberg.catalog import load_catalog
catalog = load_catalog("lake", **json.loads(sys.argv[1]))
{read}
assert "pyspark" not in sys.modules
print(json.dumps({{"rows": sum(rows["n"].to_pylist()), "location": table.location()}}))
"""


@pytest.mark.long
@pytest.mark.parametrize("layout", READERS)
def test_rows_are_read_without_spark(tmp_path: Path, layout: str) -> None:
    with rest_catalog_on_s3(tmp_path / "server") as (made, store):
        catalog = {
            "type": "rest",
            "uri": made.uri,
            "warehouse": "prod",
            "credential": f"{CLIENT}:{SECRET}",
            "scope": SCOPE,
            "header.X-Iceberg-Access-Delegation": "vended-credentials",
        }
        target = {
            "type": "icebergmv",
            "method": "session",
            "catalog": "lake",
            "schema": "analytics",
            "threads": 4,
            # The login of S3 is not among them.
            "catalog_properties": {**catalog, "client.region": store.region},
            "server_side_parameters": SPARK,
        }
        live(target, tmp_path / "project", steps=("begin", "first_build", "new_rows"), layout=layout)
        name = {"view": "__mv_storage__by_day", "table": "by_day"}[layout]
        assert _read_by_pyiceberg(catalog, layout) == {
            "rows": 61,
            "location": f"s3://{store.bucket}/warehouse/analytics/{name}",
        }
        if layout == "table":
            assert _read_by_duckdb(made, store) == [["2024-01-01", 15], ["2024-01-02", 16]]
        assert made.refused == []


def _read_by_pyiceberg(catalog: dict[str, str], layout: str) -> object:
    nobody = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    program = READER.format(read=READERS[layout])
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, json.dumps(catalog)],
        env=nobody,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def _read_by_duckdb(made: Gate, store: ObjectStore) -> object:
    """The catalog gives DuckDB the login of S3, too."""
    return duckdb_rows(
        f"CREATE SECRET analyst (TYPE iceberg, CLIENT_ID '{CLIENT}', CLIENT_SECRET '{SECRET}', "
        f"OAUTH2_SCOPE '{SCOPE}', OAUTH2_SERVER_URI '{made.uri}/v1/oauth/tokens')",
        f"ATTACH 'prod' AS lake (TYPE iceberg, ENDPOINT '{made.uri}', SECRET analyst, "
        "ACCESS_DELEGATION_MODE 'vended_credentials')",
        "SELECT day, n FROM lake.analytics.by_day WHERE day < DATE '2024-01-03' ORDER BY day",
    )
