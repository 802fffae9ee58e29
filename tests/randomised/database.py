"""DuckDB in place of Spark: it holds the base tables and evaluates both sides of the comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb

from tests.engine.duck import to_duckdb

from .tables import COLUMNS, POOLS, TABLES, ZONES, Row, bucket

_DUCKDB_TYPES = {"int": "INTEGER", "timestamp": "TIMESTAMPTZ", "string": "VARCHAR", "bigint": "BIGINT"}
_SPARK_OF = {
    "TIMESTAMP WITH TIME ZONE": "timestamp",
    "TIMESTAMP": "timestamp_ntz",
    "DATE": "date",
    "VARCHAR": "string",
    "INTEGER": "int",
    "DOUBLE": "double",
    "BOOLEAN": "boolean",
}
Bag = list[str]


class Database:
    """One connection for all cases. SQL is given in Spark's words."""

    def __init__(self) -> None:
        self._connection = duckdb.connect()
        self._zone = ""
        self.in_zone(ZONES[0])
        self._connection.execute("SET threads = 1")
        self._texts: dict[tuple[str, str], str] = {}
        columns = ", ".join(f"{n} {_DUCKDB_TYPES.get(spark, spark)}" for n, (_, spark) in COLUMNS.items())
        for table in TABLES:
            self._connection.execute(f"CREATE TABLE {table} ({columns})")
        self._define_functions()

    def in_zone(self, zone: str) -> None:
        """Set the time zone of the session."""
        if zone != self._zone:
            self._connection.execute(f"SET TimeZone = '{zone}'")
            self._zone = zone

    def load(self, table: str, rows: Iterable[Row]) -> None:
        """Replace the rows of a table."""
        self._connection.execute(f"TRUNCATE {table}")
        texts = [f"({', '.join(map(self._text, COLUMNS, row))})" for row in rows]
        if texts:
            self._connection.execute(f"INSERT INTO {table} VALUES {', '.join(texts)}")

    def store(self, query: str) -> dict[str, str]:
        """Put what the query gives in the table `stored`; return its columns with their Spark types."""
        self._connection.execute(f"CREATE OR REPLACE TABLE stored AS {to_duckdb(query)}")
        described = self._connection.execute("SELECT * FROM stored LIMIT 0").description or []
        return {name: _SPARK_OF.get(str(kind), "bigint") for name, kind, *_ in described}

    def rows(self, query: str) -> Bag:
        """Return the rows of a query as a bag."""
        return sorted(map(repr, self._connection.execute(to_duckdb(query)).fetchall()))

    def run(self, statement: str) -> list[tuple[object, ...]]:
        """Answer what the engine asks Spark: a query, or DESCRIBE QUERY."""
        query = statement.removeprefix("DESCRIBE QUERY ")
        found = self._connection.execute(to_duckdb(query))
        if query is statement:
            return found.fetchall()
        return [(name, _SPARK_OF.get(str(kind), "bigint")) for name, kind, *_ in found.description or []]

    def _text(self, column: str, value: Any) -> str:
        key = (column, repr(value))
        if key not in self._texts:
            self._texts[key] = _literal(COLUMNS[column][1], value) if column != "w" else str(value)
        return self._texts[key]

    def _define_functions(self) -> None:
        """Give DuckDB what Spark has; the bucket transform by a list of the values that PyIceberg computed."""
        self._connection.execute("CREATE MACRO unix_date(c) AS c - DATE '1970-01-01'")
        self._connection.execute("CREATE MACRO unix_micros(c) AS epoch_us(c)")
        self._connection.execute("CREATE MACRO timestamp_micros(c) AS make_timestamptz(c)")
        known: dict[str, int | None] = {}
        values: Mapping[str, Sequence[Any]] = {**POOLS, "v": range(-50, 200)}
        for column in ("ts", "d", "region", "v"):
            for value in values[column]:
                if value is not None:
                    for text in self._texts_of(_literal(COLUMNS[column][1], value)):
                        known |= {f"{width}:{text}": bucket(width, column, value) for width in (2, 3)}
        entries = ", ".join(f"{_literal('string', k)}: {v}" for k, v in known.items())
        self._connection.execute(
            f"CREATE MACRO bucket(n, c) AS CASE WHEN c IS NOT NULL THEN coalesce("
            f"MAP {{{entries}}}[n || ':' || CAST(c AS VARCHAR)], error('no bucket of ' || CAST(c AS VARCHAR))) END"
        )

    def _texts_of(self, literal: str) -> set[str]:
        """Return a value cast to text in every zone."""
        found = set()
        for zone in ZONES:
            self.in_zone(zone)
            found.add(str(self._connection.execute(f"SELECT CAST({literal} AS VARCHAR)").fetchall()[0][0]))
        return found


def _literal(spark_type: str, value: Any) -> str:
    if value is None:
        return "NULL"
    match spark_type:
        case "timestamp":
            return f"make_timestamptz({value})"
        case "date":
            return f"DATE '1970-01-01' + {value}"
        case "string":
            return "'" + str(value).replace("'", "''") + "'"
        case "double":
            return "'NaN'::DOUBLE" if math.isnan(value) else f"{value!r}::DOUBLE"
        case _:
            return str(value)
