"""A Python model over Spark Connect, and a materialized view over it."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.adapters.factory import reset_adapters

from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from integration.support.life_cycle import Project
from integration.support.servers.processes import HOST
from integration.support.servers.spark import connect_server, thrift_server

ORDERS = """
def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    days = dbt.ref("days")
    orders = days.withColumn("amount", days.day * 2)
    return orders.where("day = 3") if dbt.is_incremental else orders
"""


def project_of(folder: Path, method: str, port: int) -> Project:
    target = {"type": "icebergmv", "method": method, "host": HOST, "port": port, "catalog": "lake", "threads": 2}
    project = Project(folder / "project", {**target, "schema": "python", "warehouse": str(folder / "warehouse")})
    project.model("days", "select id as day from range(4)", materialized="table")
    (project.folder / "models" / "orders.py").write_text(ORDERS)
    project.model("total", "select day, sum(amount) as amount from {{ ref('orders') }} group by day")
    return project


@pytest.mark.long
def test_over_connect(tmp_path: Path) -> None:
    settings = catalog_settings("lake", str(tmp_path / "warehouse"), {}, str(tmp_path))
    with connect_server(tmp_path / "server", settings) as server:
        project = project_of(tmp_path, "connect", server.port)
        assert project.run()["total"]["refresh_kind"] == "full"
        assert project.rows("total") == [(0, 0), (1, 2), (2, 4), (3, 6)]
        assert project.run()["total"]["refresh_kind"] != "none"
        assert project.rows("total") == [(0, 0), (1, 2), (2, 4), (3, 12)]
    reset_adapters()  # type: ignore[no-untyped-call]


@pytest.mark.long
def test_thrift_says_what_it_cannot_do(tmp_path: Path) -> None:
    settings = catalog_settings("lake", str(tmp_path / "warehouse"), {}, str(tmp_path))
    with thrift_server(tmp_path / "server", settings) as server:
        message = project_of(tmp_path, "thrift", server.port).fail()
        assert (
            "Cannot run the Python model orders: `method: thrift` carries SQL alone. Use `method: session`" in message
        )
    reset_adapters()  # type: ignore[no-untyped-call]
