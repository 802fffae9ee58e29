"""A look at a catalog is one: what changes meanwhile is not seen, and nothing is asked twice."""

from __future__ import annotations

from pathlib import Path

from dbt.adapters.icebergmv.maintenance.catalog.one_look import OneLook
from tests.refresh.refreshes import Model, Stage, sell


def test_what_was_seen_once_stays(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.refresh(Model())
    look = OneLook(stage.catalog)
    orders, view = look.table("ns", "orders"), look.view("ns", "sales")
    sell("EU")(stage.tables())
    stage.refresh(Model())
    assert look.table("ns", "orders") is orders
    assert look.view("ns", "sales") is view
    assert stage.catalog.table("ns", "orders") != orders
    assert (look.name, look.namespaces()) == ("lake", ["ns"])
    assert {entry.name for entry in look.entries("ns")} == {"orders", "regions", "sales", "__mv_storage__sales"}
    stage.close()


def test_what_is_absent_stays_absent(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    look = OneLook(stage.catalog)
    assert look.view("ns", "sales") is None
    assert look.table("ns", "nothing") is None
    stage.refresh(Model())
    assert look.view("ns", "sales") is None
    stage.close()
