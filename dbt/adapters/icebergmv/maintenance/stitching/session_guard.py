"""Do stored rows mean in a reader's session what they meant where they were computed?

A view has no session settings of its own: what it recomputes, it computes under the reader's. Where these could give
other values without an error, stored rows are not mixed with recomputed ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import known_of
from dbt.adapters.icebergmv.maintenance.sql.rendering import string_literal
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import TIME_ZONE, UTC_ZONES, is_ansi, is_utc
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import IcebergSource

_READS_THE_ZONE = (
    *("timestamp", "unix", "utc", "zone", "now", "current_", "localtime", "date_", "dateadd", "datediff"),
    *("extract", "hour", "minute", "second", "interval", "window"),
)
"""Parts of words of types and of grammar, also inside a text, that make an instant or show one."""


def session_guard(
    definition: ViewDefinition,
    sources: Iterable[IcebergSource | None],
    settings: Mapping[str, str],
    keys_fail: bool = False,
) -> str | None:
    """Return a condition on the reader's session under which it computes the same; None when there is none to ask.

    `sources` are those of all references, pinned ones too; None for a table whose columns are not known.
    `keys_fail`: in ANSI mode the keys may, on rows that the SELECT never sees.
    """
    conditions = []
    if definition.calls_user_functions or _reads_the_zone(definition, list(sources)):
        zones = sorted(UTC_ZONES) if is_utc(settings) else [settings.get(TIME_ZONE, "")]
        conditions.append(f"current_timezone() IN ({', '.join(string_literal(z) for z in zones)})")
    if definition.calls_user_functions or definition.ansi_matters or keys_fail:
        # A number and a text add up to another type in each mode.
        expected = "bigint" if is_ansi(settings) else "double"
        conditions.append(f"typeof(1 + '1') = '{expected}'")
    return " AND ".join(conditions) or None


def _reads_the_zone(definition: ViewDefinition, sources: Sequence[IcebergSource | None]) -> bool:
    """Return whether the definition touches an instant, or a word that makes one.

    A pinned table may be read under any of its schemas. Columns may be read without being named.
    """
    if any(known_of(w).reads_zone or any(part in w for part in _READS_THE_ZONE) for w in definition.mentions):
        return True
    ever = [c for s in sources if s is not None for c in s.columns_ever()]
    instants = {c.name.lower() for c in ever if "timestamp" in c.type}
    if None in sources or (instants and (definition.reads_unnamed or "*" in definition.mentions)):
        return True
    return bool(instants & definition.mentions)
