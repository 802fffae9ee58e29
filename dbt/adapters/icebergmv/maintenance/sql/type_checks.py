"""Conditions on the type that a column has when a query is planned, and on what a cast would make of its values.

Outside ANSI mode a cast wraps, truncates or gives NULL, and in any mode it takes the fields of a struct by position.
Spark answers questions for types when it plans, so a condition is gone where the type is the one that is expected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dbt.adapters.icebergmv.maintenance.sql.rendering import string_literal

SOURCES = {
    "int": ("tinyint", "smallint", "bigint"),
    "bigint": ("tinyint", "smallint", "int"),
    "float": ("double",),
    "double": ("float",),
}
"""Types whose values are taken where they fit. Iceberg stores the short ones as int; it widens int and float."""

NO_TEXT = "^(array|map|struct|binary|variant)"
_SHORT = "(?<=[:<,])(tinyint|smallint)(?=[,>])"
"""The types of parts that are stored as int, as `typeof` shows them; the name of a field has a colon behind it."""

_UP: Mapping[str, tuple[str, ...]] = {
    "int": ("tinyint", "smallint"),
    "bigint": ("tinyint", "smallint", "int"),
    "float": ("tinyint", "smallint", "int", "bigint"),
    "double": ("tinyint", "smallint", "int", "bigint", "float"),
    "timestamp": ("date", "timestamp_ntz"),
    "timestamp_ntz": ("date", "timestamp"),
}
"""Types from which a cast keeps every value: Spark makes it of the columns of a view by itself."""

_WHERE_IT_FITS: Mapping[str, tuple[str, ...]] = {"int": ("bigint",), "float": ("double",)}
_WHOLE = ("tinyint", "smallint", "int", "bigint")


def has_type(value: str, ddl: str) -> str:
    """Return the condition that a value has a type, short numbers counted as int."""
    is_nested = re.match("(array|map|struct)<", ddl, re.IGNORECASE)
    shown = f"regexp_replace(typeof({value}), '{_SHORT}', 'int')" if is_nested else f"typeof({value})"
    return f"{shown} = typeof(CAST(NULL AS {ddl}))"


def keeps_its_value(value: str, ddl: str) -> str:
    """Return the condition that a cast to a type keeps a value, by the type that the value has or by what it is."""
    kind, decimal = ddl.lower(), ddl.lower().startswith("decimal")
    if kind == "string":
        return f"NOT typeof({value}) RLIKE '{NO_TEXT}'"
    up, fits = _UP.get(kind, ()), _WHOLE if decimal else _WHERE_IT_FITS.get(kind, ())
    always = [has_type(value, ddl), *([has_one_of(value, up)] if up else [])]
    perhaps = [has_one_of(value, fits)] if fits else []
    if decimal:
        perhaps.append(f"typeof({value}) LIKE 'decimal(%'")
    kept = f"({value} IS NULL OR try_cast({value} AS {ddl}) = {value})"
    return f"({' OR '.join([*always, *(f'({of_type} AND {kept})' for of_type in perhaps)])})"


def has_one_of(value: str, types: Sequence[str]) -> str:
    """Return the condition that a value has one of some types."""
    return f"typeof({value}) IN ({', '.join(map(string_literal, types))})"


def all_or_error(conditions: Sequence[str], message: str) -> str:
    """Return the condition that is true where all of some are, and else an error."""
    return f"IF({' AND '.join(conditions)}, true, raise_error({string_literal(message)}))"
