"""Grants: Spark has none for an Iceberg catalog, so a project that configures them is warned before it runs."""

from __future__ import annotations

from collections.abc import Iterable

from dbt.adapters.contracts.relation import RelationConfig

from dbt.adapters.icebergmv.warning import several, warn

BUILDING_COMMANDS = frozenset({"run", "build", "seed", "snapshot", "clone"})


def warn_of_grants(nodes: Iterable[RelationConfig]) -> None:
    """Warn once of all models, seeds and snapshots with `grants`."""
    names = sorted(node.name for node in nodes if getattr(node.config, "grants", None))
    if not names:
        return
    warn(
        f"Cannot apply `grants` of {several(names)}: Spark has no GRANT for an Iceberg catalog. "
        "Give rights in the catalog or in the storage, and leave `grants` out."
    )
