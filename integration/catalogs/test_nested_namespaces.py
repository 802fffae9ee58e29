"""Namespaces of several levels in Iceberg's own REST catalog."""

from __future__ import annotations

from pathlib import Path

from pyiceberg.catalog import load_catalog

from dbt.adapters.icebergmv.maintenance.catalog.opening import open_catalog
from integration.support.servers.rest import rest_catalog


def test_namespaces_of_every_level_are_listed(tmp_path: Path) -> None:
    with rest_catalog(tmp_path / "server") as uri:
        properties = {"type": "rest", "uri": uri}
        catalog = load_catalog("lake", **properties)
        for name in (("team",), ("team", "sub"), ("team", "sub", "most"), ("empty",)):
            catalog.create_namespace(name)
        assert open_catalog("lake", properties).namespaces() == ["empty", "team", "team.sub", "team.sub.most"]
