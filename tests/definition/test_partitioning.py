"""Partitioning of the storage: parsed, derived, and whether a region is made of whole partitions."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from pyiceberg.schema import Schema
from pyiceberg.types import DateType, DoubleType, FloatType, IcebergType, NestedField, TimestamptzType

from dbt.adapters.icebergmv.maintenance.definition.partitioning import (
    PartitionField,
    derive_partitioning,
    has_times_before_1970,
    is_whole_partitions,
    parse_partition_by,
    partition_by_texts,
    spec_fields,
)
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_DAY, MICROS_PER_HOUR
from tests.support.bases import analysed, partition_of
from tests.support.specs import SCHEMA, spec

COLUMNS = ["y", "y_year", "y_month", "Y_DAY", "y_bucket", "y_trunc", "y_trunc_4"]


@pytest.mark.parametrize(
    ("text", "field", "ddl"),
    [
        ("d", PartitionField("d"), "`d`"),
        ("D", PartitionField("d"), "`d`"),
        (" `we``ird, col` ", PartitionField("we`ird, col"), "`we``ird, col`"),
        ("identity(d)", PartitionField("d"), "`d`"),
        ("days(ts)", PartitionField("ts", "day"), "days(`ts`)"),
        ("DAY( TS )", PartitionField("ts", "day"), "days(`ts`)"),
        ("months(ts)", PartitionField("ts", "month"), "months(`ts`)"),
        ("year(ts)", PartitionField("ts", "year"), "years(`ts`)"),
        ("hours(ts)", PartitionField("ts", "hour"), "hours(`ts`)"),
        ("bucket(16, id)", PartitionField("id", "bucket[16]"), "bucket(16, `id`)"),
        ("Truncate( 04 ,`id`)", PartitionField("id", "truncate[4]"), "truncate(4, `id`)"),
    ],
)
def test_parse_partition_by(text: str, field: PartitionField, ddl: str) -> None:
    assert parse_partition_by([text], ["ts", "d", "id", "we`ird, col"]) == (field,)
    assert field.ddl() == ddl


def test_the_exact_name_wins_over_another_case() -> None:
    assert parse_partition_by(["a"], ["A", "a"]) == (PartitionField("a"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a column or a transform"),
        ("days(ts", "is not a column or a transform"),
        ("days(ts) desc", "is not a column or a transform"),
        ("days(ts, d)", "is not a column or a transform"),
        ("days('ts')", "is not a column or a transform"),
        ("ns.ts", "is not a column or a transform"),
        ("weeks(ts)", "Iceberg has years, months, days, hours"),
        ("days(2, ts)", "Iceberg has years"),
        ("bucket(id)", "Iceberg has years"),
        ("bucket(0, id)", "Iceberg has years"),
        ("identity(2, id)", "Iceberg has years"),
        ("days(nope)", "the view has no column nope. It has ts, d, id."),
        ("nope", "the view has no column nope"),
    ],
)
def test_parse_partition_by_errors(text: str, message: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        parse_partition_by([text], ["ts", "d", "id"])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [("years(y)", "y_year"), ("months(y)", "y_month"), ("bucket(4, Y)", "y_bucket"), ("truncate(4, y)", "y_trunc")],
)
def test_partitions_with_the_name_of_a_column(text: str, name: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        parse_partition_by([text], COLUMNS)
    assert str(caught.value) == (
        f"partition_by is {text!r}, whose partitions Iceberg calls {name}, which is a column of the view. "
        "Rename that column, or name it in partition_by instead."
    )


def test_a_column_that_is_named_as_other_partitions_are() -> None:
    """Iceberg compares exactly, and a column may have the name of its own partitions."""
    fields = (PartitionField("y", "day"), PartitionField("y", "hour"), PartitionField("y_year"))
    assert parse_partition_by(["days(y)", "hours(y)", "y_year"], COLUMNS) == fields


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("days(ts)", ("days(ts)",)),
        ("bucket(16, id), d", ("bucket(16, id)", "d")),
        (["d", "truncate(2, region), v"], ("d", "truncate(2, region)", "v")),
        ("`a,b`, `c``,`", ("`a,b`", "`c``,`")),
        ([], ()),
    ],
)
def test_partition_by_texts(value: object, texts: tuple[str, ...]) -> None:
    assert partition_by_texts(value) == texts


@pytest.mark.parametrize("value", [None, 3, {"a": "b"}, ["a", 1]])
def test_partition_by_of_another_type(value: object) -> None:
    with pytest.raises(InvalidConfig, match="Give a transform such as"):
        partition_by_texts(value)


@pytest.mark.parametrize(
    ("sql", "base", "derived"),
    [
        ("SELECT ts AS k FROM t", [("day", "ts")], [("k", "day")]),
        ("SELECT CAST(ts AS date) AS k FROM t", [("day", "ts")], [("k", "identity")]),
        ("SELECT CAST(ts AS date) AS k FROM t", [("hour", "ts")], [("k", "identity")]),
        ("SELECT CAST(ts AS date) AS k FROM t", [("month", "ts")], [("k", "month")]),
        ("SELECT date_trunc('month', ts) AS k FROM t", [("day", "ts")], [("k", "identity")]),
        ("SELECT date_trunc('week', ts) AS k FROM t", [("month", "ts")], [("k", "month")]),
        ("SELECT year(ts) AS k FROM t", [("year", "ts")], [("k", "identity")]),
        ("SELECT id, d AS r FROM t", [("bucket[8]", "id"), ("month", "d")], [("id", "bucket[8]"), ("r", "month")]),
        ("SELECT region AS r FROM t", [("day", "ts"), ("truncate[2]", "region")], [("r", "truncate[2]")]),
        ("SELECT ts, max(v) OVER (PARTITION BY date_trunc('month', ts)) AS m FROM t", [("day", "ts")], [("ts", "day")]),
        ("SELECT d, max(v) OVER (PARTITION BY year(d)) AS m FROM t", [("identity", "d")], [("d", "identity")]),
        ("SELECT count(*) AS c FROM t", [("day", "ts")], []),
        ("SELECT ts FROM t", [("void", "ts")], []),
        ("SELECT ts FROM t", [], []),
        # Iceberg takes no partition field with the name of a column.
        ("SELECT ts, CAST(ts AS date) AS ts_day FROM t", [("day", "ts")], [("ts_day", "identity")]),
        ("SELECT ts, date_trunc('hour', ts) AS ts_hour FROM t", [("hour", "ts")], [("ts_hour", "identity")]),
        ("SELECT ts, date_trunc('month', ts) AS ts_month FROM t", [("month", "ts")], [("ts_month", "identity")]),
        ("SELECT ts, year(ts) AS ts_year FROM t", [("year", "ts")], [("ts_year", "identity")]),
        ("SELECT ts, v AS ts_day FROM t", [("day", "ts")], []),
        ("SELECT ts, v AS ts_day, ts AS k FROM t", [("day", "ts")], [("k", "day")]),
        ("SELECT ts, v AS TS_DAY FROM t", [("day", "ts")], [("ts", "day")]),
        ("SELECT id, v AS id_bucket, d FROM t", [("bucket[8]", "id"), ("month", "d")], [("d", "month")]),
        ("SELECT region, v AS region_trunc FROM t", [("truncate[2]", "region")], []),
    ],
)  # fmt: skip
def test_derive_partitioning(sql: str, base: list[tuple[str, str]], derived: list[tuple[str, str]]) -> None:
    found = derive_partitioning(analysed(sql), [(0, spec(*base), SCHEMA)])
    assert found == tuple(PartitionField(c, t) for c, t in derived)


@pytest.mark.parametrize("kind", [FloatType(), DoubleType()])
def test_floats_are_not_taken_over(kind: IcebergType) -> None:
    fields = [NestedField(f.field_id, f.name, kind, required=False) if f.name == "region" else f for f in SCHEMA.fields]
    specs = [(0, spec(("identity", "region"), ("identity", "d")), Schema(*fields))]
    assert derive_partitioning(analysed("SELECT region, d FROM t"), specs) == (PartitionField("d"),)


def test_a_field_of_a_column_that_is_gone_is_not_taken_over() -> None:
    schema = Schema(*(f for f in SCHEMA.fields if f.name != "region"))
    specs = [(0, spec(("void", "region"), ("identity", "d")), schema)]
    assert derive_partitioning(analysed("SELECT id, d FROM t"), specs) == (PartitionField("d"),)


def test_the_first_base_that_maps_decides() -> None:
    definition = analysed("SELECT region FROM t WHERE v IN (SELECT v FROM u)")
    specs = [(1, spec(("identity", "region")), SCHEMA), (0, spec(("truncate[3]", "region")), SCHEMA)]
    assert derive_partitioning(definition, specs) == (PartitionField("region", "truncate[3]"),)


def test_spec_fields_leave_out_void() -> None:
    assert spec_fields(spec(("day", "ts"), ("void", "id"), ("bucket[4]", "v")), SCHEMA) == (
        PartitionField("ts", "day"),
        PartitionField("v", "bucket[4]"),
    )


HOURS = [h * MICROS_PER_HOUR + o for h in (-25, -24, -1, 0, 1, 23, 24, 48, 744, 8760) for o in (-1, 0, 1)]
VALUES: dict[str, list[Any]] = {
    "id": [None, *range(-12, 22)],
    "d": [None, *range(-33, 64), *range(363, 368)],
    "ts": [None, *HOURS, *(d * MICROS_PER_DAY for d in range(-2, 33))],
}
TRANSFORMS = {
    "id": ["identity", "truncate[10]", "truncate[3]", "bucket[3]"],
    "d": ["identity", "day", "month", "year", "bucket[3]"],
    "ts": ["identity", "hour", "day", "month", "year"],
}


@st.composite
def constraints(draw: st.DrawFn, column: str) -> tuple[ColumnKey, Domain]:
    if column == "id" and draw(st.booleans()):
        transform = draw(st.sampled_from(["bucket[3]", "bucket[2]"]))
        return ColumnKey("id", transform), Domain.of(*draw(st.sets(st.integers(0, 2) | st.none(), min_size=1)))
    widths = {"id": [10, 3], "d": [1, 31], "ts": [MICROS_PER_HOUR, MICROS_PER_DAY]}[column]
    plain = [v for v in VALUES[column] if v is not None]
    aligned = st.builds(lambda w, i: w * i, st.sampled_from(widths), st.integers(-2, 3))
    end = st.none() | aligned | st.sampled_from(plain)
    ranges = draw(st.lists(st.builds(Range, end, end, st.booleans(), st.booleans()), max_size=2))
    return ColumnKey(column), Domain(Domain.between(*ranges).ranges, null=draw(st.booleans()))


@st.composite
def regions(draw: st.DrawFn) -> tuple[list[TupleDomain], list[PartitionField]]:
    columns = draw(st.lists(st.sampled_from(["id", "d", "ts"]), min_size=1, max_size=2, unique=True))
    fields = [PartitionField(c, draw(st.sampled_from(TRANSFORMS[c]))) for c in columns]
    disjuncts = draw(
        st.lists(st.sampled_from(columns).flatmap(constraints).map(lambda kd: [kd]), min_size=1, max_size=2)
    )
    return [TupleDomain.where(dict(d)) for d in disjuncts], fields


@settings(max_examples=200)
@given(regions())
def test_whole_partitions_hold_no_row_on_the_other_side(given_: tuple[list[TupleDomain], list[PartitionField]]) -> None:
    region, fields = given_
    whole = is_whole_partitions(region, fields, SCHEMA)
    event(f"whole: {whole}")
    if not whole:
        return
    names = [f.column for f in fields]
    sides: dict[tuple[Any, ...], set[bool]] = {}
    for values in itertools.product(*(VALUES[c][:: 1 if len(names) == 1 else 3] for c in names)):
        row = dict(zip(names, values, strict=True))
        partition = partition_of(row, [(f.transform, f.column) for f in fields])
        sides.setdefault(partition, set()).add(any(inside(d, row) for d in region))
    assert all(len(s) == 1 for s in sides.values())


def inside(rows: TupleDomain, row: dict[str, Any]) -> bool:
    if rows.is_none:
        return False
    for key, domain in rows.constraints:
        (value,) = partition_of(row, [(key.transform or "identity", key.column)])
        if not domain.contains(value):
            return False
    return True


@pytest.mark.parametrize(
    ("field", "domain", "whole"),
    [
        (PartitionField("ts", "day"), Range(0, MICROS_PER_DAY, True, False), True),
        (PartitionField("ts", "day"), Range(0, MICROS_PER_DAY - 1), True),
        (PartitionField("ts", "day"), Range(0, MICROS_PER_DAY), False),
        (PartitionField("ts", "month"), Range(0, MICROS_PER_DAY, True, False), False),
        (PartitionField("ts", "hour"), Range(None, -MICROS_PER_DAY, False, False), True),
        (PartitionField("d", "month"), Range(0, 30), True),
        (PartitionField("d", "year"), Range(0, 30), False),
        (PartitionField("d", "day"), Range(5, 5), True),
        (PartitionField("id", "truncate[10]"), Range(-10, 9), True),
        (PartitionField("id", "truncate[10]"), Range(-10, 10), False),
        (PartitionField("id", "bucket[4]"), Range(1, 1), False),
        (PartitionField("id"), Range(1, 1), True),
    ],
)
def test_whole_partitions(field: PartitionField, domain: Range, whole: bool) -> None:
    region = [TupleDomain.where({ColumnKey(field.column): Domain.between(domain)})]
    assert is_whole_partitions(region, [field], SCHEMA) is whole


def test_columns_that_do_not_partition_are_not_whole() -> None:
    region = [TupleDomain.where({ColumnKey("id"): Domain.of(1)})]
    assert not is_whole_partitions(region, [PartitionField("d")], SCHEMA)
    assert not is_whole_partitions(region, [], SCHEMA)
    assert is_whole_partitions([], [], SCHEMA)
    assert is_whole_partitions([TupleDomain.all()], [], SCHEMA)


@pytest.mark.parametrize(
    ("field", "domain", "has"),
    [
        (PartitionField("ts", "month"), Range(-MICROS_PER_DAY, -1), True),
        (PartitionField("ts", "month"), Range(0, 31 * MICROS_PER_DAY, True, False), True),
        (PartitionField("ts", "month"), Range(31 * MICROS_PER_DAY, 59 * MICROS_PER_DAY, True, False), False),
        (PartitionField("d", "year"), Range(-365, 0, True, False), True),
        (PartitionField("ts"), Range(-5, -5), False),
        (PartitionField("id", "truncate[10]"), Range(-10, 9), False),
    ],
)
def test_times_that_iceberg_does_not_trust(field: PartitionField, domain: Range, has: bool) -> None:
    region = [TupleDomain.where({ColumnKey(field.column): Domain.between(domain)})]
    assert has_times_before_1970(region, [PartitionField("k"), field]) is has


def test_types_of_the_schema_are_those_of_the_columns() -> None:
    assert (SCHEMA.find_type("d"), SCHEMA.find_type("ts")) == (DateType(), TimestamptzType())
