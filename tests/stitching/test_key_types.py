"""Of which types the keys of stale rows are, and how stored rows are compared with them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyiceberg.types import DateType, IcebergType, IntegerType, LongType, StringType, TimestamptzType

from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence
from dbt.adapters.icebergmv.maintenance.sql.spark_types import spark_type
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.stitching import time_ranges
from dbt.adapters.icebergmv.maintenance.stitching.key_groups import (
    KeyColumn,
    KeyGroup,
    NotStitched,
    PartitionValue,
    StaleSource,
    key_groups,
)
from dbt.adapters.icebergmv.maintenance.stitching.key_sql import IDENTITY
from dbt.adapters.icebergmv.maintenance.stitching.reader_sql import Reader, without_keys
from tests.support.analysis import analysed_in
from tests.support.bare_tables import bare_table
from tests.support.bases import COLUMNS, analysed
from tests.support.stub_catalog import StubCatalog

PLAIN = "v.`k` = icebergmv_keys_0.k0"


@pytest.mark.parametrize(
    ("stored", "types", "join"),
    [
        (DateType(), ["date", "date"], "unix_date(v.`k`) = unix_date(icebergmv_keys_0.k0)"),
        (TimestamptzType(), ["timestamp"], "unix_micros(v.`k`) = unix_micros(icebergmv_keys_0.k0)"),
        (StringType(), ["string"], PLAIN),
        # A day and a moment are compared as moments.
        (DateType(), ["date", "timestamp"], PLAIN),
        (DateType(), ["timestamp"], PLAIN),
        (DateType(), [None], PLAIN),
    ],
)
def test_times_are_looked_up_as_numbers(stored: IcebergType, types: list[str | None], join: str) -> None:
    plain = PartitionValue("p", IDENTITY, adds_null=False, is_computed=False, fails_in_ansi_mode=False)
    values = [replace(plain, type=of) for of in types]
    sources = tuple(StaleSource(Occurrence(n), (value,)) for n, value in enumerate(values))
    group = KeyGroup((KeyColumn("k", IDENTITY),), sources, {})
    storage, shown = ("lake", "ns", "s"), {"k": spark_type(stored)}
    reader = Reader(("lake", "ns", "v"), storage, 1, (("k", stored),), "now", None, shown, frozenset(["k"]))
    assert without_keys(reader, group, 0) == f" LEFT ANTI JOIN icebergmv_keys_0 ON {join}"


TYPES: dict[str, tuple[tuple[str, str], str | None]] = {
    "SELECT d, count(*) AS n FROM t GROUP BY d": (("identity", "d"), "date"),
    "SELECT date(ts) AS day, count(*) AS n FROM t GROUP BY date(ts)": (("day", "ts"), "date"),
    "SELECT trunc(d, 'MONTH') AS m, count(*) AS n FROM t GROUP BY trunc(d, 'MONTH')": (("month", "d"), "date"),
    "SELECT ts, count(*) AS n FROM t GROUP BY ts": (("identity", "ts"), "timestamp"),
    "SELECT region, count(*) AS n FROM t GROUP BY region": (("identity", "region"), "string"),
    "SELECT u.d, count(*) AS n FROM u LEFT JOIN t ON u.d = t.d GROUP BY u.d": (("identity", "d"), "date"),
    # Read off the row of the view by an expression, whose type the column does not say.
    "SELECT ts AS t0, count(*) AS n FROM t GROUP BY ts": (("day", "ts"), None),
}


@pytest.mark.parametrize("sql", TYPES)
def test_types_of_keys(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_ranges, "manifests_of", lambda *_: ())
    field, expected = TYPES[sql]
    types = {name: kind for name, (kind, _) in COLUMNS.items()}
    tables = {f"ns.{name}": bare_table(name, types, (field,), (1, 2)) for name in "tu"}
    groups = key_groups(analysed(sql), BaseTables(StubCatalog({}, tables)), session_is_utc=True)
    assert not isinstance(groups, NotStitched)
    assert groups[0].type_of(0) == expected


NUMBERS: dict[str, dict[str, IcebergType]] = {"t": {"k": IntegerType(), "w": LongType()}, "u": {"k": IntegerType()}}


@pytest.mark.parametrize(("on", "fails"), [("k", False), ("w", True)])
def test_a_value_of_another_type_is_cast_which_may_fail_in_ansi_mode(on: str, fails: bool) -> None:
    tables = {f"ns.{n}": bare_table(n, c, (("identity", on if n == "t" else "k"),), (1, 2)) for n, c in NUMBERS.items()}
    bases = BaseTables(StubCatalog({}, tables))
    sql = f"SELECT u.k % 10 AS m, count(*) AS n FROM t JOIN u ON t.{on} = u.k GROUP BY u.k % 10"
    groups = key_groups(analysed_in(sql, "ns", bases.columns_of, session_is_utc=True), bases, session_is_utc=True)
    assert not isinstance(groups, NotStitched)
    assert [group.fails_in_ansi_mode for group in groups] == [fails]


@pytest.mark.parametrize(
    ("field", "item", "is_named"),
    [
        (("day", "ts"), "date(ts) AS day", True),
        (("day", "ts"), "count(*) AS n", False),
        (("identity", "region"), "date(ts) AS day", False),
    ],
)
def test_a_time_zone_that_is_in_the_way_is_named(field: tuple[str, str], item: str, is_named: bool) -> None:
    types = {name: kind for name, (kind, _) in COLUMNS.items()}
    bases = BaseTables(StubCatalog({}, {"ns.t": bare_table("t", types, (field,), (1, 2))}))
    definition = analysed_in(f"SELECT {item} FROM t", "ns", bases.columns_of, session_is_utc=False)
    found = key_groups(definition, bases, session_is_utc=False)
    assert isinstance(found, NotStitched)
    assert ("outside of UTC readers follow no hours" in found.reason) == is_named
