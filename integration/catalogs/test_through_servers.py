"""The whole life of materialized views behind a Spark server, in catalogs other than the default."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from integration.support.catalogs import CATALOGS, METASTORE_WITHOUT_LOCKS
from integration.support.living import live
from integration.support.servers.processes import HOST
from integration.support.servers.spark import SERVERS


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "catalog"),
    [("connect", "rest"), ("connect", "hive"), ("thrift", "rest"), ("thrift", "hive"), ("thrift", "postgresql")],
)
def test_life_cycle(method: str, catalog: str, tmp_path: Path) -> None:
    with CATALOGS[catalog](tmp_path / "catalog") as properties:
        settings = catalog_settings("lake", None, properties, str(tmp_path))
        with SERVERS[method](tmp_path / "server", settings, METASTORE_WITHOUT_LOCKS) as started:
            target = {"type": "icebergmv", "method": method, "host": HOST, "port": started.port, "threads": 4}
            place = {"catalog": "lake", "schema": "analytics", "catalog_properties": properties}
            live({**target, **place}, tmp_path / "project")
