"""Session settings that change what a SELECT means."""

from __future__ import annotations

from collections.abc import Mapping

TIME_ZONE = "spark.sql.session.timeZone"
ESCAPED_LITERALS = "spark.sql.parser.escapedStringLiterals"
_PREFIXES = (
    "spark.sql.ansi.",
    "spark.sql.decimalOperations.",
    "spark.sql.function.",
    "spark.sql.legacy.",
    "spark.sql.parser.",
)
_KEYS = frozenset(
    [
        TIME_ZONE,
        "spark.sql.caseSensitive",
        "spark.sql.groupByAliases",
        "spark.sql.groupByOrdinal",
        "spark.sql.mapKeyDedupPolicy",
        "spark.sql.orderByOrdinal",
        "spark.sql.timestampType",
    ]
)
_UNDERSTOOD = frozenset([TIME_ZONE, "spark.sql.ansi.enabled"])
UTC_ZONES = frozenset(["UTC", "Etc/UTC", "Z", "GMT", "Etc/GMT", "+00:00", "Zulu"])


def meaning_settings(conf: Mapping[str, str]) -> dict[str, str]:
    """Return the part of a Spark configuration that changes what a SELECT means."""
    return {k: v for k, v in conf.items() if k in _KEYS or k.startswith(_PREFIXES)}


def is_utc(settings: Mapping[str, str]) -> bool:
    """Return whether dates and times are read in UTC, whose days are those of Iceberg's transforms."""
    return settings.get(TIME_ZONE) in UTC_ZONES


def not_understood(settings: Mapping[str, str]) -> str | None:
    """Return a setting under which the analysis of the SQL is not proven, or None."""
    return next((key for key in sorted(settings) if key not in _UNDERSTOOD), None)
