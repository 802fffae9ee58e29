"""Every partition transform and type, through the changes that people make: the rows, the plan and the partition count."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from integration.support.lake import LakeProject
from integration.support.rounds import Group, Outcomes, Step, Table, View, cases, judge, play


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


def _group(base: Base) -> Group:
    """Return a view of the groups of a base, and what happens to the base; of few rows, each in a file of its own kind."""
    t = f"{{base_{base.name}}}"
    first, second, third, fourth = (base.literal(i) for i in range(4))
    few = 4 if base.name == "two_fields" else 1
    # The fourth key of these is the first moment of 1970, in whose partition some writers put times before it.
    of_1970 = base.partition.split("(")[0] in ("years", "months", "days", "hours") and base.name != "days_date"
    most = 2 * few + of_1970
    rows = [(0, first, 1), (1, first, 1), (2, first, 1), (0, second, 2), (1, second, 2), (0, third, 3), (1, third, 3)]
    rows += [(0, "NULL", 4), (1, "NULL", 4)]
    return Group(
        tables={
            f"base_{base.name}": Table(
                "id, k, v",
                base.partition,
                ", ".join(f"({id_}L, {k}, {v})" for id_, k, v in rows),
                properties="'write.merge.mode' = 'merge-on-read'",
            )
        },
        rounds=(
            [],
            [f"INSERT INTO {t} VALUES (1, {first}, 7), (1, {fourth}, 8)"],
            [f"DELETE FROM {t} WHERE k <=> {fourth}", f"INSERT INTO {t} VALUES (9, NULL, 9)"],
            [
                f"MERGE INTO {t} t USING (SELECT 0 AS id UNION ALL SELECT 1) s "
                f"ON t.id = s.id AND ((s.id = 0 AND t.k IS NULL) OR (s.id = 1 AND t.k <=> {first})) "
                f"WHEN MATCHED AND s.id = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET k = {second}, v = 100"
            ],
            [
                f"CALL lake.system.rewrite_data_files(table => '{{base_{base.name}}}', "
                "options => map('rewrite-all', 'true'))"
            ],
        ),
        views=(
            View(
                base.name,
                f"select {base.view_key} as k, count(*) as n, sum(v) as s from {t} group by 1",
                (
                    Step("first build", "full", None),
                    Step("nothing happened", "none", None),
                    Step("rows of an old and a new partition", "overwrite", None, most=most),
                    Step("a partition is emptied and that of NULL grows", "overwrite", None, most=most),
                    Step("rows move and go by delete files", "overwrite", None, most=3 * few),
                    Step("compaction", "none", None),
                ),
            ),
        ),
    )


IN_EVERY_RUN = [
    "id_string",
    "months_ntz",
    "days_ts",
    "truncate_string",
    "bucket_ts",
]
"""Transforms on types that are read wrongly easily; `years` and `hours` are of one kind with these."""
GROUPS = [_group(base) for base in BASES if base.name in IN_EVERY_RUN]
OTHERS = [_group(base) for base in BASES if base.name not in IN_EVERY_RUN]


@pytest.fixture(scope="module")
def outcomes(lake: LakeProject) -> Outcomes:
    return play(lake, GROUPS)


@pytest.fixture(scope="module")
def other_outcomes(lake: LakeProject) -> Outcomes:
    return play(lake, OTHERS)


@pytest.mark.parametrize(("view", "number"), cases(GROUPS))
def test_refresh_is_incremental_and_right(outcomes: Outcomes, view: View, number: int) -> None:
    judge(outcomes, view, number)


@pytest.mark.parametrize(("view", "number"), cases(OTHERS, pytest.mark.long))
def test_other_types(other_outcomes: Outcomes, view: View, number: int) -> None:
    judge(other_outcomes, view, number)


def test_months_before_1970_without_metrics(lake: LakeProject) -> None:
    """Iceberg doubts its months before 1970, and without metrics it does not know that whole files are in one."""
    base = f"lake.{lake.schema}.base_of_old_months"
    rows = "VALUES (1, 'ab1', '1969-11-05'), (2, 'ab2', '1969-12-31'), (3, 'ac', '1969-12-01'), (4, NULL, NULL), (5, 'b', '1970-01-01')"
    lake.sql(
        f"CREATE TABLE {base} USING iceberg PARTITIONED BY (truncate(2, k), months(ts)) TBLPROPERTIES ("
        f"'write.metadata.metrics.default' = 'none') AS SELECT id, k, CAST(ts AS timestamp) AS ts FROM {rows} AS v(id, k, ts)"
    )
    lake.model("old_months", f"select * from {base}", tblproperties={"write.metadata.metrics.default": "none"})
    lake.run("--select", "old_months")
    lake.sql(f"UPDATE {base} SET id = id + 100 WHERE id IN (2, 4)")
    assert lake.run("--select", "old_months")["old_months"]["refresh_kind"] == "overwrite"
    lake.assert_equals_definition("old_months")


@pytest.mark.long
def test_bucket_of_one_side_of_a_join(lake: LakeProject) -> None:
    """Spark infers the predicate on the buckets of one side for the other, which is not partitioned so."""
    names = {"bucket_join_int": "int", "bucket_join_dec": "decimal(10,2)"}
    rows = "VALUES (1, 1), (2, 2), (3, 3), (4, 4), (NULL, 5) AS v(k, v)"
    for name, key_type in names.items():
        left, right = (f"lake.{lake.schema}.{name}_{side}" for side in ("left", "right"))
        for table, partition in ((left, "k"), (right, "bucket(3, k)")):
            lake.sql(
                f"CREATE TABLE {table} USING iceberg PARTITIONED BY ({partition}) "
                f"AS SELECT CAST(k AS {key_type}) AS k, v FROM {rows}"
            )
        lake.model(name, f"select l.k, l.v, o.v as w from {left} l JOIN {right} o ON l.k = o.k", partition_by=[])
    lake.run("--select", *names)
    lake.at_once(f"UPDATE lake.{lake.schema}.{name}_right SET v = v + 10 WHERE k IN (1, 4)" for name in names)
    assert {r["refresh_kind"] for r in lake.run("--select", *names).values()} == {"overwrite"}
    lake.assert_equals_definition(*names)
