"""Do stored rows mean in a reader's session what they meant where they were computed?

A view has no session settings of its own: what it recomputes, it computes under the reader's. Where these could give
other values without an error, stored rows are not mixed with recomputed ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dbt.adapters.icebergmv.maintenance.bases import IcebergSource
from dbt.adapters.icebergmv.maintenance.catalog import schema_columns
from dbt.adapters.icebergmv.maintenance.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.settings import TIME_ZONE, UTC_ZONES, is_utc
from dbt.adapters.icebergmv.maintenance.sql import string_literal

_ANSI = "spark.sql.ansi.enabled"
_READS_THE_ZONE = (
    "timestamp",
    "unix",
    "utc",
    "zone",
    "now",
    "current_",
    "localtime",
    "date_trunc",
    "interval",
    "window",
)
_READS_ANSI = frozenset({"size", "cardinality"})
"""The length of a missing array is -1 or NULL; other functions differ by an error alone."""


def session_guard(
    definition: ViewDefinition, sources: Iterable[IcebergSource], settings: Mapping[str, str]
) -> str | None:
    """Return a condition on the reader's session under which it computes the same; None when there is none to ask."""
    conditions = []
    if _reads_the_zone(definition, sources):
        zones = sorted(UTC_ZONES) if is_utc(settings) else [settings.get(TIME_ZONE, "")]
        conditions.append(f"current_timezone() IN ({', '.join(string_literal(z) for z in zones)})")
    if definition.mentions & _READS_ANSI:
        # A number and a text add up to another type in each mode.
        expected = "bigint" if settings.get(_ANSI, "true").lower() == "true" else "double"
        conditions.append(f"typeof(1 + '1') = '{expected}'")
    return " AND ".join(conditions) or None


def _reads_the_zone(definition: ViewDefinition, sources: Iterable[IcebergSource]) -> bool:
    """Return whether the definition touches an instant, or a word that makes one."""
    if any(part in word for word in definition.mentions for part in _READS_THE_ZONE):
        return True
    instants = {c.name.lower() for s in sources for c in schema_columns(s.table_schema) if "timestamp" in c.type}
    return bool(instants & definition.mentions) or (bool(instants) and "*" in definition.mentions)
