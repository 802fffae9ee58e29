"""Iceberg's own REST catalog server, which Iceberg's tests use: a JDBC catalog on SQLite behind the REST protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyspark
import requests

from dbt.adapters.icebergmv.spark.jars import local_jars, required_jars
from integration.support.servers.artifacts import SPARK_JARS, dependency, fetched
from integration.support.servers.processes import HOST, free_port, running
from integration.support.spark_settings import BRIEF_JVM

ICEBERG = "1.11.0"
JETTY = "12.1.14"
# The newest release whose test fixtures were published.
_DEPENDENCIES = (
    dependency(f"org.apache.iceberg:iceberg-open-api:{ICEBERG}", "test-fixtures", alone=True),
    dependency(f"org.apache.iceberg:iceberg-core:{ICEBERG}", "", "tests"),
    dependency(f"org.eclipse.jetty:jetty-server:{JETTY}"),
    dependency(f"org.eclipse.jetty.ee10:jetty-ee10-servlet:{JETTY}"),
    dependency(f"org.eclipse.jetty.compression:jetty-compression-server:{JETTY}"),
    dependency(f"org.eclipse.jetty.compression:jetty-compression-gzip:{JETTY}"),
)


@contextmanager
def rest_catalog(
    folder: Path, warehouse: str | None = None, settings: Mapping[str, str] | None = None, jars: Sequence[Path] = ()
) -> Iterator[str]:
    """Run the server and give its address.

    Its database is in `folder`, and so are its tables unless `warehouse` is elsewhere. `settings` are more properties
    of its catalog, `jars` what they need.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    uri = f"http://{HOST}:{port}"
    properties = {
        "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "uri": f"jdbc:sqlite:{folder}/rest.db?journal_mode=WAL&busy_timeout=10000",
        "jdbc.schema-version": "V1",
        "warehouse": warehouse or str(folder / "warehouse"),
        "rest.port": str(port),
        **(settings or {}),
    }
    env = {_variable(key): value for key, value in properties.items()}
    command = ["java", *BRIEF_JVM.split(), "-cp", _class_path(jars), "org.apache.iceberg.rest.RESTCatalogServer"]
    with running(command, folder / "rest.log", lambda: _is_ready(uri), env):
        yield uri


def _class_path(jars: Sequence[Path]) -> str:
    sqlite = [jar for jar in local_jars(required_jars(pyspark.__version__, ("sqlite",), [])) if "sqlite-jdbc" in jar]
    hadoop = SPARK_JARS.glob("hadoop-client-*.jar")
    return os.pathsep.join(map(str, [*fetched(*_DEPENDENCIES), *sqlite, *hadoop, *jars]))


def _variable(key: str) -> str:
    """Return the name of the environment variable that sets a property: `-` is written `__`, and `.` is written `_`."""
    return "CATALOG_" + key.replace("-", "__").replace(".", "_").upper()


def _is_ready(uri: str) -> bool:
    try:
        return requests.get(f"{uri}/v1/config", timeout=5).ok
    except requests.RequestException:
        return False
