"""A materialized view on S3 behind a REST catalog, read without Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from integration.support.living import live
from integration.support.servers.gate import CLIENT, SCOPE, SECRET
from integration.support.servers.rest_on_s3 import rest_catalog_on_s3
from integration.support.spark_settings import SPARK

# What any program does that has PyIceberg and knows the names of the view's properties.
READER = """
import json, sys
from pyiceberg.catalog import load_catalog
catalog = load_catalog("lake", **json.loads(sys.argv[1]))
view = catalog.load_view(("analytics", "by_day")).metadata.properties
storage = catalog.load_table(tuple(view["icebergmv.storage-table"].split(".")[-2:]))
rows = storage.scan(snapshot_id=int(view["icebergmv.storage-snapshot-id"])).to_arrow()
assert "pyspark" not in sys.modules
print(json.dumps({"rows": sum(rows["n"].to_pylist()), "location": storage.location()}))
"""


@pytest.mark.long
def test_rows_are_read_without_spark(tmp_path: Path) -> None:
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
        nobody = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
        live(target, tmp_path / "project", steps=("begin", "first_build", "new_rows"))
        answer = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", READER, json.dumps(catalog)],
            env=nobody,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert answer.returncode == 0, answer.stderr
        assert json.loads(answer.stdout) == {
            "rows": 61,
            "location": f"s3://{store.bucket}/warehouse/analytics/__mv_storage__by_day",
        }
        assert made.refused == []
