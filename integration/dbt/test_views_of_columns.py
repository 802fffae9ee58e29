"""A view with `*` shows values under their own names, also when a table below is made anew in another column order."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject

DOCS = {"persist_docs": {"relation": True, "columns": True}}
MADE_ANEW = "CREATE OR REPLACE TABLE {} USING iceberg PARTITIONED BY (d) AS SELECT w, v, d FROM {}"


def base_of(lake: LakeProject, name: str) -> str:
    base = f"lake.{lake.schema}.{name}"
    lake.sql(f"CREATE TABLE {base} (d INT, v INT, w INT) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO {base} VALUES (1, 10, 100), (2, 20, 200), (3, 30, 300)")
    return base


def shown(lake: LakeProject, name: str) -> list[tuple[int, ...]]:
    return [tuple(row) for row in lake.sql(f"SELECT d, v, w FROM {lake.view(name)} ORDER BY d")]


@pytest.mark.parametrize(
    ("case", "select"),
    [
        ("plain", "select * from {base}"),
        ("ended", "select * from {base} -- all\n;"),
        ("nested", "with a as (select * from {base}) select a.* from a order by w -- the last"),
        ("joined", "select b.*, n from {base} b join (select 1 as n) on true"),
        ("plain_documented", "select * from {base}"),
    ],
)
def test_a_table_made_anew(lake: LakeProject, case: str, select: str) -> None:
    base = base_of(lake, f"of_{case}")
    config = DOCS if case.endswith("documented") else {}
    lake.model(case, select.format(base=base), materialized="view", **config)
    lake.properties({"models": [{"name": case, "columns": [{"name": "w", "description": "it's w"}]}]})
    lake.run("--select", case)
    before = shown(lake, case)
    assert before == [(1, 10, 100), (2, 20, 200), (3, 30, 300)]
    lake.sql(MADE_ANEW.format(base, base))
    assert shown(lake, case) == before
    lake.run("--select", case)
    assert shown(lake, case) == before
    comments = {column.name: column.comment for column in lake.published(case).columns}
    assert comments["w"] == ("it's w" if config else None)


def test_a_view_that_names_its_columns_stays_as_it_is_written(lake: LakeProject) -> None:
    select = f"with a as (select * from {base_of(lake, 'of_named')}) select d, v, count(*) as w from a group by d, v"
    lake.model("named", select, materialized="view")
    lake.run("--select", "named")
    assert lake.published("named").sql.strip() == select


def test_two_columns_of_one_name_are_spark_s_own_error(lake: LakeProject) -> None:
    base = base_of(lake, "of_twice")
    lake.model("twice", f"select a.*, b.* from {base} a join {base} b on a.d = b.d", materialized="view")
    message = lake.fail("--select", "twice")
    lake.remove_model("twice")
    assert "COLUMN_ALREADY_EXISTS" in message


def test_a_materialized_view_over_it(lake: LakeProject) -> None:
    base = base_of(lake, "of_below")
    lake.model("below", f"select * from {base}", materialized="view")
    lake.model("above", "select d, sum(v) as v, max(w) as w from {{ ref('below') }} group by d", partition_by=["d"])
    lake.model("all_of_it", "select * from {{ ref('below') }}", partition_by=["d"])
    views = ("above", "all_of_it")
    lake.run("--select", "below", *views)
    lake.sql(f"INSERT INTO {base} VALUES (2, 5, 50)")
    # The view below is made anew at every run, with the same text.
    responses = lake.run("--select", "below", *views)
    assert {name: responses[name]["refresh_kind"] for name in views} == {"above": "overwrite", "all_of_it": "append"}
    lake.assert_equals_definition(*views)
    lake.sql(MADE_ANEW.format(base, base))
    assert shown(lake, "above") == [(1, 10, 100), (2, 25, 200), (3, 30, 300)]
    lake.run("--select", *views)
    lake.assert_equals_definition("above")
    assert shown(lake, "above") == [(1, 10, 100), (2, 25, 200), (3, 30, 300)]
    assert len(shown(lake, "all_of_it")) == 4 and shown(lake, "all_of_it")[0] == (1, 10, 100)
    # Made anew, the view below has its columns in another order, and another text.
    lake.run("--select", "below", *views)
    lake.assert_equals_definition(*views)
    lake.sql(f"INSERT INTO {base} VALUES (400, 40, 4)")
    assert lake.run("--select", "below", *views)["above"]["refresh_kind"] == "overwrite"
    lake.assert_equals_definition(*views)
    assert shown(lake, "above")[-1] == (4, 40, 400)


def test_a_column_more_refreshes_only_what_reads_it(lake: LakeProject) -> None:
    base = base_of(lake, "of_wider")
    lake.model("wider", f"select * from {base}", materialized="view")
    lake.model("over_wider", "select d, sum(v) as v from {{ ref('wider') }} group by d", partition_by=["d"])
    lake.run("--select", "wider", "over_wider")
    lake.sql(f"ALTER TABLE {base} ADD COLUMN x INT AFTER d")
    assert lake.run("--select", "wider", "over_wider")["over_wider"]["refresh_kind"] == "none"
    assert [column.name for column in lake.published("wider").columns] == ["d", "x", "v", "w"]
    lake.sql(f"INSERT INTO {base} VALUES (2, 1, 5, 50)")
    assert lake.run("--select", "wider", "over_wider")["over_wider"]["refresh_kind"] == "overwrite"
    lake.assert_equals_definition("over_wider")
