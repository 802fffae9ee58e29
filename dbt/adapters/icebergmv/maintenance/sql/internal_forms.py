"""Values in the form that Domains hold them in, as Spark gives them."""

from __future__ import annotations

_AS_STORED = {
    "string": "{}",
    "int": "{}",
    "bigint": "{}",
    "smallint": "CAST({} AS int)",
    "tinyint": "CAST({} AS int)",
    "boolean": "{}",
    "date": "unix_date({})",
    "timestamp": "unix_micros({})",
}


def internal_form(spark_type: str, value: str) -> str | None:
    """Return the SQL that makes of a value what a Domain holds of it; None for a type that no Domain holds exactly."""
    form = _AS_STORED.get(spark_type)
    return None if form is None else form.format(value)
