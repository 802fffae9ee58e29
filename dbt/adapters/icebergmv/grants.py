"""Grants: Spark has none for an Iceberg catalog, so a project that configures them is warned before it runs."""

from __future__ import annotations

from collections.abc import Iterable

from dbt.adapters.contracts.relation import RelationConfig
from dbt.adapters.events.types import AdapterEventWarning
from dbt_common.events.functions import warn_or_error

BUILDING_COMMANDS = frozenset({"run", "build", "seed", "snapshot", "clone"})
NAMES_SHOWN = 3


def warn_of_grants(nodes: Iterable[RelationConfig]) -> None:
    """Warn once of all models, seeds and snapshots with `grants`."""
    names = sorted(node.name for node in nodes if getattr(node.config, "grants", None))
    if not names:
        return
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    message = (
        f"Cannot apply `grants` of {', '.join(names[:NAMES_SHOWN])}{more}: Spark has no GRANT for an Iceberg catalog. "
        "Give rights in the catalog or in the storage, and leave `grants` out."
    )
    warn_or_error(AdapterEventWarning(base_msg=message))
