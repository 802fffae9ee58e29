"""Columns that no select list shows of rows of before: a struct with another field, a new column with a default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from integration.support.lake import LakeProject

Alter = Callable[[LakeProject, str], None]


def a_field(lake: LakeProject, table: str) -> None:
    lake.sql(f"ALTER TABLE lake.{table} ADD COLUMN s.zip string")


def a_default(lake: LakeProject, table: str) -> None:
    iceberg = getattr(SparkSession.active(), "_jvm").org.apache.iceberg  # noqa: B009
    five: Any = iceberg.expressions.Literal.of(5)
    kind = iceberg.types.Types.IntegerType.get()
    lake.java_table(table).updateSchema().addColumn("z", kind, None, five).commit()


@pytest.mark.parametrize(
    ("alter", "reading", "row"),
    [
        pytest.param(
            a_field,
            "select s.city, count(*) as n from {t} group by s.city",
            "named_struct('city', 'x', 'zip', 'y')",
            marks=pytest.mark.long,
        ),
        (a_default, "select z, count(*) as n, sum(v) as v from {t} group by z", "named_struct('city', 'x'), 7"),
    ],
    ids=["a field", "a default"],
)
def test_those_who_do_not_read_it_are_not_refreshed_in_full(
    lake: LakeProject, alter: Alter, reading: str, row: str
) -> None:
    name = f"unshown_{alter.__name__}"
    table = f"lake.{lake.schema}.{name}"
    lake.sql(
        f"CREATE TABLE {table} (id int, k int, v int, s struct<city: string>) USING iceberg PARTITIONED BY (k) "
        "TBLPROPERTIES ('format-version' = '3')"
    )
    lake.sql(f"INSERT INTO {table} SELECT int(id), int(id % 3), int(id), named_struct('city', 'c') FROM range(12)")
    views = {f"{name}_{n}": sql.format(t=table) for n, sql in {**OTHERS, "reads": reading}.items()}
    others = [view for view in views if not view.endswith("_reads")]
    for view in others:
        lake.model(view, views[view], stale_read_behavior="use_stitching" if view.endswith("group") else "fail")
    lake.run("--select", *others)
    alter(lake, f"{lake.schema}.{name}")
    assert {r["refresh_kind"] for r in lake.run("--select", *others).values()} == {"none"}
    lake.model(f"{name}_reads", views[f"{name}_reads"])
    lake.run("--select", *views)
    lake.assert_equals_definition(*views)
    lake.sql(f"UPDATE {table} SET v = 100 WHERE id = 4")
    assert "full" not in {lake.run("--select", *others)[view]["refresh_kind"] for view in others}
    lake.sql(f"INSERT INTO {table} VALUES (90, 1, 9, {row})")
    lake.run("--select", f"{name}_reads")
    lake.assert_equals_definition(f"{name}_group", f"{name}_reads")
    answers = lake.run("--select", *views)
    lake.assert_equals_definition(*views)
    lake.sql(f"DELETE FROM {table} WHERE id = 5")
    answers = lake.run("--select", *views)
    lake.assert_equals_definition(*views)
    assert "full" not in {answer["refresh_kind"] for answer in answers.values()}


OTHERS = {
    "rows": "select id, v from {t} where v >= 0",
    "group": "select k, sum(v) as v, count(*) as n from {t} group by k",
    "window": "select id, k, row_number() over (partition by k order by id) as place from {t}",
    "below": "select k, v from (select * from {t}) q where v > 2",
}
