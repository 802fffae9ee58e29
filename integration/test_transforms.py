"""Every partition transform and type, through the changes that people make: the rows, the plan and the partition count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from integration.lake import Lake

TABLES_AT_ONCE = 7


@dataclass(frozen=True)
class Base:
    """A base table `(id, k, v)` partitioned by `partition`; `keys` are SQL literals in different partitions."""

    name: str
    type: str
    partition: str
    keys: tuple[str, str, str, str]
    view_key: str = "k"

    def literal(self, index: int) -> str:
        return f"CAST({self.keys[index]} AS {self.type})"


BASES = [
    Base("id_string", "string", "k", ("'a'", "'O\\'Brien \\\\ ü'", "'x\ny'", "'${z} {{ q }}'")),
    Base("id_int", "int", "k", ("1", "-5", "2147483647", "0")),
    Base("id_bigint", "bigint", "k", ("1", "-9223372036854775808", "9223372036854775807", "0")),
    Base("id_boolean", "boolean", "k", ("true", "true", "true", "false")),
    Base("id_date", "date", "k", ("'2024-02-29'", "'1969-12-31'", "'0001-01-01'", "'9999-12-31'")),
    Base("id_decimal", "decimal(10,2)", "k", ("1.20", "-0.01", "99999999.99", "0")),
    Base("id_float", "float", "k", ("1.5", "-0.1", "'NaN'", "'Infinity'")),
    Base("id_double", "double", "k", ("1.5", "-0.1", "'NaN'", "'-Infinity'")),
    Base("id_binary", "binary", "k", ("X'00FF'", "X'27'", "X'5C'", "X''")),
    Base("id_timestamp", "timestamp", "k", ("'2024-02-29 12:34:56.123456Z'", "'1969-12-31 23:59:59.999999Z'", "'2024-03-10 02:30:00Z'", "'1600-01-01 00:00:00Z'")),
    Base("id_ntz", "timestamp_ntz", "k", ("'2024-02-29 12:34:56.123456'", "'1969-12-31 23:59:59.999999'", "'2024-03-10 02:30:00'", "'1600-01-01 00:00:00'")),
    Base("years_ts", "timestamp", "years(k)", ("'2024-12-31 23:59:59Z'", "'2025-01-01 00:00:00Z'", "'1969-06-01 00:00:00Z'", "'1970-01-01 00:00:00Z'")),
    Base("months_ts", "timestamp", "months(k)", ("'2024-02-29 23:59:59Z'", "'2024-03-01 00:00:00Z'", "'1969-12-31 00:00:00Z'", "'1970-01-01 00:00:00Z'")),
    Base("days_ts", "timestamp", "days(k)", ("'2024-02-29 23:59:59.999999Z'", "'2024-03-01 00:00:00Z'", "'1969-12-31 00:00:00Z'", "'1970-01-01 00:00:00Z'")),
    Base("hours_ts", "timestamp", "hours(k)", ("'2024-02-29 23:59:59Z'", "'2024-03-01 00:00:00Z'", "'1969-12-31 23:00:00Z'", "'1970-01-01 00:00:00Z'")),
    Base("years_ntz", "timestamp_ntz", "years(k)", ("'2024-12-31 23:59:59'", "'2025-01-01 00:00:00'", "'1969-06-01 00:00:00'", "'1970-01-01 00:00:00'")),
    Base("months_ntz", "timestamp_ntz", "months(k)", ("'2024-02-29 23:59:59'", "'2024-03-01 00:00:00'", "'1969-12-31 00:00:00'", "'1970-01-01 00:00:00'")),
    Base("days_ntz", "timestamp_ntz", "days(k)", ("'2024-02-29 23:59:59'", "'2024-03-01 00:00:00'", "'1969-12-31 00:00:00'", "'1970-01-01 00:00:00'")),
    Base("hours_ntz", "timestamp_ntz", "hours(k)", ("'2024-02-29 23:59:59'", "'2024-03-01 00:00:00'", "'1969-12-31 23:00:00'", "'1970-01-01 00:00:00'")),
    Base("years_date", "date", "years(k)", ("'2024-12-31'", "'2025-01-01'", "'1969-06-01'", "'1970-01-01'")),
    Base("months_date", "date", "months(k)", ("'2024-02-29'", "'2024-03-01'", "'1969-12-31'", "'1970-01-01'")),
    Base("days_date", "date", "days(k)", ("'2024-02-29'", "'2024-03-01'", "'1969-12-31'", "'1970-01-01'")),
    Base("truncate_int", "int", "truncate(10, k)", ("5", "-1", "2147483647", "-2147483640")),
    Base("truncate_bigint", "bigint", "truncate(100, k)", ("5", "-1", "9223372036854775807", "-200")),
    Base("truncate_decimal", "decimal(9,2)", "truncate(50, k)", ("1.00", "-0.01", "9999999.99", "0.50")),
    Base("truncate_string", "string", "truncate(2, k)", ("'abc'", "'héllo'", "'%_x'", "''")),
    Base("truncate_binary", "binary", "truncate(1, k)", ("X'0102'", "X'FF00'", "X'27'", "X''")),
    Base("bucket_int", "int", "bucket(16, k)", ("1", "2", "3", "-4")),
    Base("bucket_bigint", "bigint", "bucket(16, k)", ("1", "2", "3", "-4")),
    Base("bucket_string", "string", "bucket(16, k)", ("'a'", "'b\\'c'", "'d'", "'é'")),
    Base("bucket_date", "date", "bucket(16, k)", ("'2024-01-01'", "'2024-01-02'", "'1969-01-03'", "'2024-01-04'")),
    Base("bucket_ts", "timestamp", "bucket(16, k)", ("'2024-01-01 00:00:00Z'", "'2024-01-02 01:00:00Z'", "'1969-01-03 00:00:00Z'", "'2024-01-04 05:00:00Z'")),
    Base("bucket_decimal", "decimal(10,2)", "bucket(16, k)", ("1.20", "3.40", "-5.60", "0")),
    Base("bucket_binary", "binary", "bucket(16, k)", ("X'01'", "X'02'", "X'03'", "X''")),
    Base("day_by_date", "timestamp", "days(k)", ("'2024-02-29 23:59:59Z'", "'2024-03-01 00:00:00Z'", "'1969-12-31 00:00:00Z'", "'1970-01-01 00:00:00Z'"), "date(k)"),
    Base("day_by_cast", "timestamp", "days(k)", ("'2024-02-29 23:59:59Z'", "'2024-03-01 00:00:00Z'", "'1969-12-31 00:00:00Z'", "'1970-01-01 00:00:00Z'"), "cast(k as date)"),
    Base("day_by_month", "timestamp", "days(k)", ("'2024-02-29 23:59:59Z'", "'2024-03-01 00:00:00Z'", "'1969-12-31 00:00:00Z'", "'1970-01-01 00:00:00Z'"), "date_trunc('month', k)"),
    Base("month_by_date", "timestamp", "months(k)", ("'2024-02-29 23:59:59Z'", "'2024-03-01 00:00:00Z'", "'1969-12-31 00:00:00Z'", "'1970-01-01 00:00:00Z'"), "date(k)"),
    Base("hour_by_day", "timestamp_ntz", "hours(k)", ("'2024-02-29 23:59:59'", "'2024-03-01 00:00:00'", "'1969-12-31 23:00:00'", "'1970-01-01 00:00:00'"), "cast(k as date)"),
    Base("two_fields", "string", "k, bucket(4, id)", ("'a'", "'b'", "'c'", "'d'")),
]  # fmt: skip


def _groups() -> Iterator[Any]:
    for start in range(0, len(BASES), TABLES_AT_ONCE):
        group = BASES[start : start + TABLES_AT_ONCE]
        yield pytest.param(group, id="-".join(b.name for b in group))


@pytest.mark.parametrize("group", list(_groups()))
def test_refresh_is_incremental_and_right(lake: Lake, group: list[Base]) -> None:
    names = [b.name for b in group]
    for base in group:
        table = f"lake.{lake.schema}.base_{base.name}"
        lake.sql(
            f"CREATE TABLE {table} (id bigint, k {base.type}, v int) USING iceberg PARTITIONED BY ({base.partition})"
        )
        lake.sql(
            f"INSERT INTO {table} SELECT id, {base.literal(0)}, 1 FROM range(3) UNION ALL SELECT id, {base.literal(1)}, 2 FROM range(2)"
        )
        lake.sql(
            f"INSERT INTO {table} SELECT id, {base.literal(2)}, 3 FROM range(2) UNION ALL SELECT id, NULL, 4 FROM range(2)"
        )
        lake.model(base.name, f"select {base.view_key} as k, count(*) as n, sum(v) as s from {table} group by 1")
    run = ["--select", *names]
    assert {r["refresh_kind"] for r in lake.run(*run).values()} == {"full"}
    _check(lake, group, "none", lake.run(*run))

    for base in group:  # into an existing and a new partition
        table = f"lake.{lake.schema}.base_{base.name}"
        lake.sql(f"INSERT INTO {table} VALUES (1, {base.literal(0)}, 7), (1, {base.literal(3)}, 8)")
    _check(lake, group, "overwrite", lake.run(*run), most={b.name: 2 for b in group})

    for base in group:  # a partition is emptied, and the NULL partition grows
        table = f"lake.{lake.schema}.base_{base.name}"
        lake.sql(f"DELETE FROM {table} WHERE k <=> {base.literal(3)}")
        lake.sql(f"INSERT INTO {table} VALUES (9, NULL, 9)")
    _check(lake, group, "overwrite", lake.run(*run), most={b.name: 2 for b in group})

    for base in group:  # rows move from one partition to another, merge-on-read
        table = f"lake.{lake.schema}.base_{base.name}"
        lake.sql(
            f"ALTER TABLE {table} SET TBLPROPERTIES ('write.update.mode'='merge-on-read', 'write.delete.mode'='merge-on-read')"
        )
        lake.sql(f"UPDATE {table} SET k = {base.literal(1)}, v = 100 WHERE k <=> {base.literal(0)} AND id = 1")
        lake.sql(f"DELETE FROM {table} WHERE k IS NULL AND id = 0")
    _check(lake, group, "overwrite", lake.run(*run), most={b.name: 3 for b in group})

    for base in group:  # compaction changes no row
        table = f"{lake.schema}.base_{base.name}"
        lake.sql(f"CALL lake.system.rewrite_data_files(table => '{table}', options => map('rewrite-all', 'true'))")
    before = {n: lake.state(n)["icebergmv.storage-snapshot-id"] for n in names}
    _check(lake, group, "none", lake.run(*run))
    assert {n: lake.state(n)["icebergmv.storage-snapshot-id"] for n in names} == before


def _check(
    lake: Lake, group: list[Base], kind: str, responses: dict[str, dict[str, Any]], most: dict[str, int] | None = None
) -> None:
    for base in group:
        lake.assert_equals_definition(base.name)
        response = responses[base.name]
        assert response["refresh_kind"] == kind, (base.name, response)
        if most is not None:
            fields = 4 if base.name == "two_fields" else 1
            assert 1 <= response["stale_partitions"] <= most[base.name] * fields, (base.name, response)


@pytest.mark.parametrize("key_type", ["int", "decimal(10,2)"])
def test_bucket_of_one_side_of_a_join(lake: Lake, key_type: str) -> None:
    """Spark infers the predicate on the buckets of one side for the other, which is not partitioned so."""
    name = f"bucket_join_{key_type[:3]}"
    for side, partition in (("left", "k"), ("right", "bucket(3, k)")):
        lake.sql(
            f"CREATE TABLE lake.{lake.schema}.{name}_{side} (k {key_type}, v int) USING iceberg PARTITIONED BY ({partition})"
        )
        lake.sql(f"INSERT INTO lake.{lake.schema}.{name}_{side} VALUES (1, 1), (2, 2), (3, 3), (4, 4), (NULL, 5)")
    tables = f"lake.{lake.schema}.{name}_left l JOIN lake.{lake.schema}.{name}_right o ON l.k = o.k"
    lake.model(name, f"select l.k, l.v, o.v as w from {tables}", partition_by=[])
    lake.run("--select", name)
    lake.sql(f"UPDATE lake.{lake.schema}.{name}_right SET v = v + 10 WHERE k IN (1, 4)")
    assert lake.run("--select", name)[name]["refresh_kind"] == "overwrite"
    lake.assert_equals_definition(name)
