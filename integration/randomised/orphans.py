"""Storage tables that nobody reads are dropped, and no other one."""

from __future__ import annotations

from datetime import datetime, timezone

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.orphans import drop_orphans, loose_storage
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import STORAGE_OF
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import STATE_KEY
from integration.randomised.subject import World, WrongResult

_LEFT, _READ, _READER = "__mv_storage__left", "__mv_storage__read", "reads_it"


def sweep(world: World) -> str:
    """Make two storage tables whose view is gone, the second read by another view; drop orphans; return what happened.

    Raises WrongResult where anything but the first is gone.
    """
    tables = [_READ, _LEFT] if world.reader.has_views else [_LEFT]
    for table in tables:
        owner = f"TBLPROPERTIES ('{STORAGE_OF}' = '{world.name('gone')}')"
        world.spark(f"CREATE TABLE {world.name(table)} (n int) USING iceberg {owner}")
        # Rows without the state of a refresh are somebody else's.
        world.spark(f"INSERT INTO {world.name(table)} WITH (`snapshot-property.{STATE_KEY}` = 'some') SELECT 1")
    if world.reader.has_views:
        world.spark(f"CREATE VIEW {world.name(_READER)} AS SELECT n FROM {world.name(_READ)}")
    before = _tables(world)
    found = loose_storage(world.reader, [world.namespace], 0, datetime.now(timezone.utc))
    others = [f.kept for f in found if f.kept and "cannot be read" in f.kept and world.namespace not in f.kept]
    drop_orphans(Lake(world.reader, world.spark), found)
    gone = before - _tables(world)
    # What is not known of the views elsewhere keeps all; refreshes that died leave tables under a name of their own.
    needless = {name for name in gone if not name.endswith("__next")} - {_LEFT}
    if needless or (_LEFT not in gone and not others):
        raise WrongResult("orphans", "all", f"dropped {sorted(gone)}; found {found}")
    for statement in (
        f"DROP VIEW IF EXISTS {world.name(_READER)}",
        *(f"DROP TABLE IF EXISTS {world.name(t)}" for t in tables),
    ):
        world.spark(statement)
    return "orphan dropped" if _LEFT in gone else "orphan kept, as a view elsewhere cannot be read"


def _tables(world: World) -> set[str]:
    return {entry.name for entry in world.reader.entries(world.namespace) if entry.kind == "table"}
