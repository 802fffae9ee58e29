"""Session settings that change what a SELECT means."""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, NotReadable
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.sql.queries import SHOW_SETTINGS
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier

TIME_ZONE = "spark.sql.session.timeZone"
ANSI = "spark.sql.ansi.enabled"
ESCAPED_LITERALS = "spark.sql.parser.escapedStringLiterals"
_VALUES = (
    "spark.sql.avro.",
    "spark.sql.chunkBase64String.",
    "spark.sql.columnNameOfCorruptRecord",
    "spark.sql.execution.pythonUDF.",
    "spark.sql.fromJsonForceNullableSchema",
    "spark.sql.icu.",
    "spark.sql.json.",
    "spark.sql.jsonGenerator.",
    "spark.sql.variant.",
)
"""What changes the values of some functions, and nothing that the analysis of the SQL knows of them."""

_PREFIXES = (
    *_VALUES,
    "spark.sql.ansi.",
    "spark.sql.collation.",
    "spark.sql.decimalOperations.",
    "spark.sql.function.",
    "spark.sql.legacy.",
    "spark.sql.parser.",
)
_KEYS = frozenset(
    [
        TIME_ZONE,
        "spark.sql.analyzer.preferColumnOverLcaInArrayIndex",
        "spark.sql.caseSensitive",
        "spark.sql.charAsVarchar",
        "spark.sql.enforceTypeCoercionBeforeUnionDeduplication.enabled",
        "spark.sql.groupByAliases",
        "spark.sql.groupByOrdinal",
        "spark.sql.lateralColumnAlias.enableImplicitResolution",
        "spark.sql.mapKeyDedupPolicy",
        "spark.sql.mapZipWithUsesJavaCollections",
        "spark.sql.mergeNestedTypeCoercion.enabled",
        "spark.sql.orderByOrdinal",
        "spark.sql.preserveCharVarcharTypeInfo",
        "spark.sql.prioritizeOrdinalResolutionInSort.enabled",
        "spark.sql.readSideCharPadding",
        "spark.sql.runCollationTypeCastsBeforeAliasAssignment.enabled",
        "spark.sql.timestampType",
    ]
)
_UNDERSTOOD = frozenset([TIME_ZONE, ANSI])
UTC_ZONES = frozenset(["UTC", "Etc/UTC", "Z", "GMT", "Etc/GMT", "+00:00", "Zulu"])


def meaning_settings(conf: Mapping[str, str]) -> dict[str, str]:
    """Return the part of a Spark configuration that changes what a SELECT means."""
    return {k: v for k, v in conf.items() if k in _KEYS or k.startswith(_PREFIXES)}


def is_utc(settings: Mapping[str, str]) -> bool:
    """Return whether dates and times are read in UTC, whose days are those of Iceberg's transforms."""
    return settings.get(TIME_ZONE) in UTC_ZONES


def is_ansi(settings: Mapping[str, str]) -> bool:
    """Return whether the settings of a session say ANSI mode, Spark's default."""
    return settings.get(ANSI, "true").lower() == "true"


def not_understood(settings: Mapping[str, str]) -> str | None:
    """Return a setting under which the analysis of the SQL is not proven, or None."""
    return next((key for key in sorted(settings) if key not in _UNDERSTOOD and not key.startswith(_VALUES)), None)


def check_session(lake: Lake, settings: Mapping[str, str]) -> None:
    """Refuse to compute under other session settings than the profile's, which the state records.

    Raises InvalidConfig for the first setting that differs.
    """
    actual = meaning_settings(_session(lake))
    for key in sorted(actual.keys() | settings.keys()):
        if actual.get(key) != settings.get(key):
            raise InvalidConfig(
                f"the Spark session has {key} = {actual.get(key, 'its default')} and the profile "
                f"{settings.get(key, 'its default')}. Set it in server_side_parameters, not in a hook or a notebook."
            )


def lets_rows_aside(properties: Mapping[str, str]) -> bool:
    """Return whether a session may write the rows of a table with such properties elsewhere than to main."""
    return properties.get("write.wap.enabled", "false").lower() == "true"


def rows_go_aside(settings: Mapping[str, str]) -> str | None:
    """Return the setting by which rows of some tables are written elsewhere than to the main branch, or None."""
    return next((key for key in ("spark.wap.id", "spark.wap.branch") if settings.get(key)), None)


def refuse_rows_aside(lake: Lake, *properties: Mapping[str, str]) -> None:
    """Refuse to make a table with such properties in a session whose rows go aside, or to a branch.

    Its main branch would have no rows then. Raises InvalidConfig.
    """
    if not any(map(lets_rows_aside, properties)):
        return
    session = _session(lake)
    setting = rows_go_aside(session)
    if setting is not None:
        raise InvalidConfig(
            f"rows of the table that is made would not come into it: {setting} is set, and write.wap.enabled is true. "
            "Unset one of the two."
        )


def check_reader(lake: Lake, settings: Mapping[str, str]) -> None:
    """Refuse a session in which the SELECT may mean something else than in the one that refreshed the view.

    A setting that the refresh had is compared with what this session has for it, be it a default; any other setting is
    compared only if it is set here. Raises NotReadable for the first one that differs.
    """
    known = _session(lake)
    for key in sorted(meaning_settings(known).keys() | settings.keys()):
        actual = known[key] if key in known else str(lake.spark(f"SET {identifier(key)}")[0][1])
        if key not in settings:
            raise NotReadable(
                f"it was refreshed without {key} and this session has {actual}. Unset it: spark.conf.unset({key!r})."
            )
        if not _same(key, actual, settings[key]):
            raise NotReadable(
                f"it was refreshed with {key} = {settings[key]} and this session has {actual}. "
                f"Set it: spark.conf.set({key!r}, {settings[key]!r})."
            )


def _session(lake: Lake) -> dict[str, str]:
    return {str(row[0]): str(row[1]) for row in lake.spark(SHOW_SETTINGS)}


def _same(key: str, actual: str, wanted: str) -> bool:
    return actual == wanted or (key == TIME_ZONE and {actual, wanted} <= UTC_ZONES)
