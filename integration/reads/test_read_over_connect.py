"""read_materialized_view over Spark Connect: a server in a process of its own, a client that starts no JVM and no dbt."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.support.lake import LakeProject
from integration.support.servers.processes import HOST
from integration.support.servers.spark import connect_server

pytest.importorskip(
    "grpc", reason="Spark Connect's client needs grpcio, grpcio-status, googleapis-common-protos, pandas"
)

CLIENT = """
import json, sys
from pyspark.sql.connect.session import SparkSession
from dbt.adapters.icebergmv.maintenance.errors import NotReadable
from dbt.adapters.icebergmv import reading
from dbt.adapters.icebergmv.reading import read_materialized_view
original, seen = reading.current_query, []
reading.current_query = lambda *given, **named: seen.append(original(*given, **named)) or seen[-1]
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
rows = sorted(map(repr, read_materialized_view(spark, sys.argv[2]).collect()))
spark.conf.set("spark.sql.ansi.enabled", "true")
try:
    read_materialized_view(spark, sys.argv[2])
except NotReadable as error:
    refused = str(error)
loaded = [m for m in ("dbt.adapters.base", "dbt.cli") if m in sys.modules]
print(json.dumps({"rows": rows, "query": seen[0], "refused": refused, "loaded": loaded}))
"""


@pytest.fixture
def server(lake: LakeProject, tmp_path: Path) -> Iterator[str]:
    """A Spark Connect server with the lake's catalog; its address."""
    conf = {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.catalog.lake.cache-enabled": "true",
        # The server does not show a client what sounds secret.
        "spark.sql.catalog.lake.s3.secret-access-key": "hidden",
    }
    with connect_server(tmp_path / "server", lake.credentials().catalog_settings("lake"), conf) as started:
        yield f"sc://{HOST}:{started.port}"


@pytest.mark.long
def test_read_over_connect(lake: LakeProject, server: str) -> None:
    table, model = lake.view("t"), f"lake.{lake.schema}.mv"
    lake.sql(f"CREATE TABLE {table} (region string, v int) USING iceberg PARTITIONED BY (region)")
    lake.sql(f"INSERT INTO {table} VALUES ('a', 1), ('b', 2), (NULL, 3)")
    lake.model("mv", f"select upper(region) as region, sum(v) as v from {table} group by upper(region)")
    lake.run("--select", "mv")
    lake.sql(f"INSERT INTO {table} VALUES ('b', 5)")
    done = subprocess.run([sys.executable, "-c", CLIENT, server, model], capture_output=True, text=True, check=False)
    assert done.returncode == 0, "\n".join(line for line in done.stderr.splitlines() if "\tat " not in line)
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["rows"] == sorted(map(repr, lake.sql(lake.definition("mv"))))
    assert "UNION ALL" in answer["query"]
    assert "spark.sql.ansi.enabled" in answer["refused"]
    assert answer["loaded"] == []
