"""Base tables: columns with awkward values, and every way to partition them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random


@dataclass(frozen=True)
class KeyColumn:
    """A column that a history is about: its values as SQL, the transforms that can partition it, keys made of it.

    A flavour is an expression over `{}`. The first one is the column itself; `followed` are those that the rules follow
    through a partition value of any of the transforms in `ranges`, `computed` those that they compute from the single
    value of an identity partition. `equates`: equal values are one value, as they are not among doubles.
    """

    name: str
    type: str
    literals: tuple[str, ...]
    transforms: tuple[str, ...]
    flavours: tuple[str, ...]
    followed: frozenset[str] = frozenset()
    ranges: frozenset[str] = frozenset()
    computed: frozenset[str] = frozenset()
    equates: bool = True


_INSTANTS = (
    "2024-01-01 00:00:00",
    "2024-01-01 23:59:59.999999",
    "2024-01-02 05:00:00",
    "2024-01-02 05:30:00",
    "2024-02-29 12:34:56.123456",
    "2023-12-31 23:59:59",
    "1969-12-31 23:00:00",
    "1970-01-01 00:00:00",
)
_DAYS = ("2024-01-01", "2024-01-02", "2024-02-29", "2023-12-31", "1969-12-31", "1970-01-01")
_TIME = ("identity", "years", "months", "days", "hours", "bucket")
_RANGES = frozenset({"identity", "years", "months", "days", "hours"})
_TIME_FLAVOURS = ("date({})", "cast({} as date)", "date_trunc('month', {})", "year({})")

KEYS = (
    KeyColumn(
        "ts",
        "timestamp",
        tuple(f"timestamp'{i}Z'" for i in _INSTANTS),
        _TIME,
        ("{}", *_TIME_FLAVOURS, "date_format({}, 'yyyy-MM')", "coalesce({}, timestamp'2024-01-02 05:00:00Z')"),
        frozenset(_TIME_FLAVOURS),
        _RANGES,
        frozenset({"date_format({}, 'yyyy-MM')"}),
    ),
    KeyColumn(
        "tn",
        "timestamp_ntz",
        tuple(f"timestamp_ntz'{i}'" for i in _INSTANTS),
        _TIME,
        ("{}", *_TIME_FLAVOURS, "hour({})"),
        frozenset({"date({})", "cast({} as date)"}),
        _RANGES,
    ),
    KeyColumn(
        "d",
        "date",
        tuple(f"date'{i}'" for i in _DAYS),
        ("identity", "years", "months", "days", "bucket"),
        ("{}", "date_trunc('month', {})", "trunc({}, 'MM')", "year({})", "date_add({}, 1)"),
        frozenset({"year({})"}),
        frozenset({"identity", "years", "months", "days"}),
        frozenset({"trunc({}, 'MM')", "date_add({}, 1)"}),
    ),
    KeyColumn(
        "r",
        "string",
        ("'EU'", "'eu '", "'US'", "''", "'ü\\u4e2d'", "'O\\'x \\\\ `y`'", "'EUROPE'"),
        ("identity", "truncate", "bucket"),
        (
            "{}",
            "substr({}, 1, 1)",
            "upper({})",
            "coalesce({}, 'none')",
            "CASE WHEN {} IN ('EU', 'eu ') THEN 'E' ELSE 'other' END",
            "concat({}, '!')",
        ),
        computed=frozenset({"substr({}, 1, 1)", "upper({})", "coalesce({}, 'none')", "concat({}, '!')"}),
    ),
    KeyColumn(
        "k",
        "int",
        ("-11", "-1", "0", "3", "9", "10", "2147483640"),
        ("identity", "truncate", "bucket"),
        ("{}", "{} % 3", "coalesce({}, 3)", "cast({} as string)", "if({} > 2, 1, NULL)"),
        computed=frozenset({"{} % 3", "coalesce({}, 3)", "cast({} as string)"}),
    ),
    KeyColumn(
        "x",
        "double",
        ("1.5D", "-0.1D", "double('NaN')", "double('Infinity')", "0.0D"),
        ("identity",),
        ("{}", "coalesce({}, 1.5D)", "isnan({})"),
        equates=False,
    ),
    KeyColumn(
        "m",
        "decimal(10,2)",
        ("1.20BD", "-0.01BD", "0.00BD", "0.50BD", "99999999.99BD"),
        ("identity", "truncate", "bucket"),
        ("{}", "cast({} as int)", "coalesce({}, 1.20)"),
    ),
)
COLUMNS = ("id", "v", *(key.name for key in KEYS))
COLUMN_LIST = ", ".join(COLUMNS)
DDL = ", ".join(["id bigint", "v int", *(f"{key.name} {key.type}" for key in KEYS)])
VALUES = tuple(str(v) for v in range(6))
TABLES = ("a", "b", "c")
_WIDTHS = {"k": "10", "m": "50", "r": "1"}


@dataclass(frozen=True)
class Table:
    """A base table as it is created. `partition_by` are Spark DDL transforms; rows are SQL tuples."""

    name: str
    partition_by: tuple[str, ...]
    version: int
    mode: str
    rows: tuple[str, ...]
    dropped_field: str | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the fields of the first spec."""
        return (self.dropped_field, *self.partition_by) if self.dropped_field else self.partition_by

    def create(self, how: str = "CREATE TABLE") -> list[str]:
        """Return the statements that make the table; a field dropped in format 1 stays in the spec as `void`."""
        version = 1 if self.dropped_field else self.version
        modes = ", ".join(f"'write.{what}.mode'='{self.mode}'" for what in ("delete", "update", "merge"))
        statements = [
            f"{how} {{t}} ({DDL}) USING iceberg{partitioned(self.fields)} TBLPROPERTIES ('format-version'='{version}', {modes})"
        ]
        if self.dropped_field:
            statements += [
                f"ALTER TABLE {{t}} DROP PARTITION FIELD {self.dropped_field}",
                f"ALTER TABLE {{t}} SET TBLPROPERTIES ('format-version'='{self.version}')",
            ]
        return statements

    def without_row(self, index: int) -> Table:
        return replace(self, rows=self.rows[:index] + self.rows[index + 1 :])


def partitioned(fields: tuple[str, ...]) -> str:
    return f" PARTITIONED BY ({', '.join(fields)})" if fields else ""


def partition_field(key: KeyColumn, transform: str, column: str = "") -> str:
    """Return Spark's DDL for a transform of the key column, or of another one that holds the same values."""
    name = column or key.name
    match transform:
        case "identity":
            return name
        case "bucket":
            return f"bucket(3, {name})"
        case "truncate":
            return f"truncate({_WIDTHS[key.name]}, {name})"
        case _:
            return f"{transform}({name})"


def transform_of(field: str) -> tuple[str, str]:
    """Return (transform, column) of a DDL partition field."""
    name, _, rest = field.partition("(")
    return (name, rest.rstrip(")").rpartition(",")[2].strip()) if rest else ("identity", name)


def make_row(random: Random, key: KeyColumn, null: float = 0.2) -> str:
    """Return a row as a SQL tuple; the key column takes all its values and NULL, the others a few."""
    values = [str(random.randrange(8)), "NULL" if random.random() < 0.1 else random.choice(VALUES)]
    for column in KEYS:
        few = column.literals if column is key else column.literals[:3]
        values.append("NULL" if random.random() < null else random.choice(few))
    return f"({', '.join(values)})"


def make_partitioning(random: Random, key: KeyColumn) -> tuple[str, ...]:
    """Return how to partition a table: mostly by the key column, at times by more, by something else, or not."""
    field = partition_field(key, random.choice(key.transforms))
    dice = random.random()
    if dice < 0.60:
        return (field,)
    other = random.choice([c for c in KEYS if c is not key])
    second = random.choice(["v", "bucket(2, id)", partition_field(other, random.choice(other.transforms))])
    if dice < 0.82:
        return (field, second) if random.random() < 0.5 else (second, field)
    return (second,) if dice < 0.91 else ()


def make_table(random: Random, name: str, key: KeyColumn, rows: int) -> Table:
    partition_by = make_partitioning(random, key)
    others = [f for f in ("v", "r", "bucket(2, id)") if transform_of(f)[1] not in map(_column, partition_by)]
    return Table(
        name=name,
        partition_by=partition_by,
        version=random.choice([2, 2, 3]),
        mode=random.choice(["copy-on-write", "merge-on-read"]),
        rows=tuple(make_row(random, key) for _ in range(rows)),
        dropped_field=random.choice(others) if random.random() < 0.1 else None,
    )


def _column(field: str) -> str:
    return transform_of(field)[1]
