"""DuckDB in place of Spark: it holds the base tables and evaluates both sides of the comparison."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from typing import Any

import duckdb

from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import days_from_civil
from dbt.adapters.icebergmv.maintenance.sql.queries import column_list
from tests.randomised.tables import COLUMNS, TABLES, ZONES, Row, bucket
from tests.support.duck import to_duckdb, to_duckdb_statements

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
Judge = Callable[[Bag], str | None]
"""Says how rows differ from those expected; None where they do not."""
BEFORE, NOW = 1, 2
"""The snapshot of a base table that the last refresh read, and the one that this refresh reads."""
STORED = 0
"""The snapshot of the storage table that a refresh starts from."""
BRANCH = "refreshed"
"""The branch of the storage table that a refresh writes."""

OWN_FUNCTIONS = {
    "own_text": "CASE WHEN x IS NULL THEN 'b' WHEN x <> 'a' THEN upper(x) END",
    "own_int": "CASE WHEN x IS NULL THEN 3 WHEN x <> 0 THEN x % 3 END",
    "own_date": "CASE WHEN x IS NULL THEN DATE '2024-02-29' WHEN x <> DATE '2024-01-01' THEN last_day(x) END",
}
"""Functions of x of which the engine knows only that they are deterministic. None keeps NULL, or an order."""

_UNKNOWN_BUCKET = re.compile(r"no bucket of (\d+:.*)\.' to INT32", re.DOTALL)


class Database:
    """One connection for all cases. SQL is given in Spark's words."""

    def __init__(self) -> None:
        self._connection = duckdb.connect()
        self._zone = ""
        self.in_zone(ZONES[0])
        self._connection.execute("SET threads = 1")
        self._buckets: dict[str, int | None] = {"0:": 0}
        self._texts: dict[tuple[str, str], str] = {}
        columns = ", ".join(f"{n} {_DUCKDB_TYPES.get(spark, spark)}" for n, (_, spark) in COLUMNS.items())
        for schema in (f"@{STORED}", f"@{BEFORE}", f"@{BEFORE}..{NOW}", f"@{NOW}", f"@{BRANCH}"):
            self._connection.execute(f'CREATE SCHEMA "{schema}"')
        for table in TABLES:
            self._connection.execute(f"CREATE TABLE {table} ({columns})")
            self._connection.execute(f'CREATE VIEW "@{NOW}".{table} AS SELECT * FROM main.{table}')
            self._connection.execute(f'CREATE TABLE "@{BEFORE}".{table} ({columns})')
            self._connection.execute(f'CREATE TABLE "@{BEFORE}..{NOW}".{table} ({columns})')
        self._define_functions()

    def in_zone(self, zone: str) -> None:
        """Set the time zone of the session."""
        if zone != self._zone:
            self._connection.execute(f"SET TimeZone = '{zone}'")
            self._zone = zone

    def begin(self, history: str) -> None:
        """Begin a history, which is given as a text. What is at random in the database may follow from it."""

    def load(self, table: str, rows: Iterable[Row]) -> None:
        """Replace the rows of a table, which its snapshot NOW shows."""
        self._load(table, rows)

    def load_before(self, table: str, before: Iterable[Row], added: Iterable[Row]) -> None:
        """Set what the snapshot BEFORE of a table holds, and the rows that came since."""
        self._load(f'"@{BEFORE}".{table}', before)
        self._load(f'"@{BEFORE}..{NOW}".{table}', added)

    def _load(self, table: str, rows: Iterable[Row]) -> None:
        self._connection.execute(f"TRUNCATE {table}")
        texts = [f"({', '.join(map(self._text, COLUMNS, row))})" for row in rows]
        if texts:
            self._connection.execute(f"INSERT INTO {table} VALUES {', '.join(texts)}")

    def store(self, query: str) -> dict[str, str]:
        """Put what the query gives in the table `stored`; return its columns with their Spark types."""
        self._execute(f"CREATE OR REPLACE TABLE stored AS {to_duckdb(query)}")
        self._connection.execute(f'CREATE OR REPLACE VIEW "@{STORED}".stored AS SELECT * FROM main.stored')
        described = self._connection.execute("SELECT * FROM stored LIMIT 0").description or []
        return {name: _spark_type(str(kind)) for name, kind, *_ in described}

    def rows(self, query: str) -> Bag:
        """Return the rows of a query as a bag.

        Of equal zeros DuckDB puts any in place of a group. Spark puts 0.0.
        """
        return sorted(repr(tuple(map(_positive_zero, row))) for row in self._execute(to_duckdb(query)))

    def judge(self, query: str) -> Judge:
        """Return the judge of stored rows that should be what the query gives."""
        expected = self.rows(query)
        return lambda found: None if found == expected else difference(found, expected)

    def written(self, statements: Iterable[str], columns: Iterable[str]) -> Bag:
        """Return these columns of the storage table's branch after the statements; the stored rows stay as they are."""
        self._connection.execute(f'CREATE OR REPLACE TABLE "@{BRANCH}".stored AS SELECT * FROM stored')
        for statement in statements:
            for translated in to_duckdb_statements(statement):
                self._execute(translated)
        return self.rows(f'SELECT {column_list([*columns])} FROM "@{BRANCH}".stored')

    def adopt(self) -> None:
        """Let what the branch of the storage table holds be what is stored."""
        self._connection.execute(f'CREATE OR REPLACE TABLE stored AS SELECT * FROM "@{BRANCH}".stored')

    def run(self, statement: str) -> list[tuple[object, ...]]:
        """Answer what the engine asks Spark: a query, or DESCRIBE QUERY."""
        query = statement.removeprefix("DESCRIBE QUERY ")
        found = self._execute(to_duckdb(query))
        if query is statement:
            return found
        return [(name, _spark_type(str(kind))) for name, kind, *_ in self._connection.description or []]

    def _text(self, column: str, value: Any) -> str:
        key = (column, repr(value))
        if key not in self._texts:
            self._texts[key] = _literal(COLUMNS[column][1], value) if column != "w" else str(value)
        return self._texts[key]

    def _define_functions(self) -> None:
        """Give DuckDB what Spark has; the bucket transform by a list of values that PyIceberg computes."""
        self._connection.execute("CREATE MACRO raise_error(message) AS error(message)")
        self._connection.execute("CREATE MACRO unix_date(c) AS c - DATE '1970-01-01'")
        self._connection.execute("CREATE MACRO unix_micros(c) AS epoch_us(c)")
        self._connection.execute("CREATE MACRO timestamp_micros(c) AS make_timestamptz(c)")
        for name, text in OWN_FUNCTIONS.items():
            self._connection.execute(f"CREATE MACRO {name}(x) AS {text}")
        self._define_bucket()

    def _define_bucket(self) -> None:
        entries = ", ".join(f"{_literal('string', k)}: {v}" for k, v in self._buckets.items())
        self._connection.execute(
            "CREATE OR REPLACE MACRO bucket(n, c) AS CASE WHEN c IS NOT NULL THEN coalesce("
            f"MAP {{{entries}}}[n || ':' || typeof(c) || ':' || CAST(c AS VARCHAR)], "
            # error() may not be below PARTITION BY.
            "CAST('no bucket of ' || n || ':' || typeof(c) || ':' || CAST(c AS VARCHAR) || '.' AS int)) END"
        )

    def _execute(self, query: str) -> list[tuple[object, ...]]:
        """Return the rows of a query; where it asks for a bucket that is not known yet, learn it and try again."""
        while True:
            try:
                return self._connection.execute(query).fetchall()
            except duckdb.Error as error:
                missing = _UNKNOWN_BUCKET.search(str(error))
                if missing is None:
                    raise
                self._buckets[missing[1]] = _bucket_of(*missing[1].split(":", 2))
                self._define_bucket()


def difference(found: Bag, expected: Bag) -> str:
    """Return which rows are missing and which are too many."""
    missing, extra = list(expected), []
    for row in found:
        if row in missing:
            missing.remove(row)
        else:
            extra.append(row)
    return f"missing {missing}, too many {extra}"


def _positive_zero(value: object) -> object:
    return value + 0.0 if isinstance(value, float) else value


def _spark_type(duckdb_type: str) -> str:
    """Return the type that Spark would give. Sums of whole numbers are of a larger type here."""
    if duckdb_type.endswith("[]"):
        return f"array<{_spark_type(duckdb_type.removesuffix('[]'))}>"
    return duckdb_type.lower() if duckdb_type.startswith("DECIMAL(") else _SPARK_OF.get(duckdb_type, "bigint")


def _bucket_of(width: str, duckdb_type: str, text: str) -> int | None:
    """Return the bucket of a value that DuckDB shows as text."""
    match _SPARK_OF.get(duckdb_type, "bigint"):
        case "string":
            return bucket(int(width), "region", text)
        case "int" | "bigint":
            return bucket(int(width), "w", int(text))
        case "date":
            return bucket(int(width), "d", days_from_civil(*map(int, text.split("-"))))
        case _:
            # "+00" is an offset only to newer versions of Python.
            moment = datetime.fromisoformat(re.sub(r"([+-]\d\d)$", r"\1:00", text))
            since = moment.replace(tzinfo=moment.tzinfo or timezone.utc) - datetime(1970, 1, 1, tzinfo=timezone.utc)
            return bucket(int(width), "ts", since // timedelta(microseconds=1))


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
