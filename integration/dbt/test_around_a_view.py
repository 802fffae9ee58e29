"""What is around a refresh: hooks, names that others have, models that become something else."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject

ROWS = "SELECT * FROM VALUES (1, 10), (2, 20) AS t(d, v)"


def _base(lake: LakeProject, name: str) -> str:
    lake.sql(f"CREATE TABLE lake.{lake.schema}.{name} USING iceberg AS {ROWS}")
    return f"lake.{lake.schema}.{name}"


@pytest.mark.parametrize("materialized", ["materialized_view", "table", "incremental", "view"])
def test_hooks_outside_a_transaction_come_first_and_last(lake: LakeProject, materialized: str) -> None:
    base, log = _base(lake, f"hooked_{materialized}"), f"lake.{lake.schema}.log_{materialized}"
    lake.sql(f"CREATE TABLE {log} (n INT, said STRING) USING iceberg")

    def hook(said: str, *, transaction: bool = True) -> dict[str, object]:
        sql = f"insert into {log} select count(*), '{said}' from {log}"
        return {"sql": sql, "transaction": transaction}

    lake.model(
        f"hooks_{materialized}",
        f"select d, v from {base}",
        materialized=materialized,
        pre_hook=[hook("in"), hook("before", transaction=False)],
        post_hook=[hook("after", transaction=False), hook("post")],
    )
    lake.run("--select", f"hooks_{materialized}")
    assert [row[0] for row in lake.sql(f"SELECT said FROM {log} ORDER BY n")] == ["before", "in", "post", "after"]


@pytest.mark.parametrize("materialized", ["table", "incremental", "view"])
def test_a_view_is_not_lost_to_a_select_with_an_error(lake: LakeProject, materialized: str) -> None:
    base = _base(lake, f"kept_{materialized}")
    name = f"becomes_{materialized}"
    lake.model(name, f"select d, v from {base}")
    lake.run("--select", name)
    lake.model(name, f"select d, no_such_column from {base}", materialized=materialized)
    assert "no_such_column" in lake.fail("--select", name)
    assert lake.rows(name) == [(1, 10), (2, 20)]
    lake.model(name, f"select d, v + 1 as v from {base}", materialized=materialized, contract={"enforced": True})
    columns = [{"name": "d", "data_type": "int"}, {"name": "w", "data_type": "int"}]
    lake.properties({"models": [{"name": name, "columns": columns}]})
    assert "contract" in lake.fail("--select", name)
    (lake.folder / "models" / "schema.yml").unlink()
    assert lake.rows(name) == [(1, 10), (2, 20)]
    lake.model(name, f"select d, v + 1 as v from {base}", materialized=materialized)
    lake.run("--select", name)
    assert lake.rows(name) == [(1, 11), (2, 21)]


@pytest.mark.parametrize("layout", ["view", "table"])
@pytest.mark.parametrize("materialized", ["table", "incremental"])
def test_a_view_is_not_lost_to_a_select_that_fails_when_it_runs(
    lake: LakeProject, materialized: str, layout: str
) -> None:
    name = f"runs_{materialized}_{layout}"
    base = _base(lake, f"of_{name}")
    lake.model(name, f"select d, v from {base}", layout=layout)
    lake.run("--select", name)
    failing = f"select d, if(d = 2, cast(raise_error('not today') as int), v) as v from {base}"
    lake.model(name, failing, materialized=materialized, partition_by=["d"])
    assert "not today" in lake.fail("--select", name)
    assert lake.rows(name) == [(1, 10), (2, 20)]
    lake.model(name, f"select d, v + 1 as v from {base};", materialized=materialized, partition_by=["d"])
    lake.run("--select", name)
    assert lake.rows(name) == [(1, 11), (2, 21)]
    table = lake.reader().table(lake.schema, name)
    assert table is not None
    assert [field.name for field in table.spec().fields] == ["d"]
    assert f"{name}__dbt_tmp" not in table.location()
    names = {entry.name for entry in lake.reader().entries(lake.schema)}
    assert not names & {f"{name}__dbt_tmp", f"__mv_storage__{name}"}


@pytest.mark.parametrize("select", ["select d, no_such_column from {}", "select d, v as D from {}"])
def test_a_table_is_not_lost_to_a_view_with_an_error(lake: LakeProject, select: str) -> None:
    name = f"kept_table_{len(select)}"
    base = _base(lake, f"of_{name}")
    lake.model(name, f"select d, v from {base}", materialized="table")
    lake.run("--select", name)
    lake.model(name, select.format(base), materialized="view")
    assert "Database Error" in lake.fail("--select", name)
    assert lake.rows(name) == [(1, 10), (2, 20)]
    lake.model(name, f"select d, v + 1 as v from {base}", materialized="view", contract={"enforced": True})
    columns = [{"name": "d", "data_type": "int"}, {"name": "w", "data_type": "int"}]
    lake.properties({"models": [{"name": name, "columns": columns}]})
    assert "contract" in lake.fail("--select", name)
    (lake.folder / "models" / "schema.yml").unlink()
    assert lake.rows(name) == [(1, 10), (2, 20)]
    lake.model(name, f"select * from {base}", materialized="view")
    lake.run("--select", name)
    lake.sql(f"INSERT INTO {base} VALUES (3, 30)")
    assert lake.rows(name) == [(1, 10), (2, 20), (3, 30)]
    assert f"{name}__dbt_tmp" not in {entry.name for entry in lake.reader().entries(lake.schema)}


@pytest.mark.parametrize("last", ["incremental", "table"])
def test_a_table_that_was_a_materialized_view_is_one_like_any_other(lake: LakeProject, last: str) -> None:
    base, name = _base(lake, f"of_former_{last}"), f"former_{last}"
    lake.model(name, f"select d, v from {base}", layout="table")
    lake.run("--select", name)
    lake.model(name, f"select d, v from {base}", materialized="table", tblproperties={"mine": "1"})
    lake.run("--select", name)
    table = lake.reader().table(lake.schema, name)
    assert table is not None
    assert table.properties["mine"] == "1"
    assert not [key for key in table.properties if key.startswith("icebergmv.")]
    lake.model(name, f"select d, v + 1 as v from {base}", materialized=last)
    lake.run("--select", name)
    # Appended, not dropped and built.
    assert len(lake.rows(name)) == {"incremental": 4, "table": 2}[last]


@pytest.mark.parametrize("materialized", ["table", "view", "incremental"])
def test_files_that_iceberg_may_not_delete_stay(lake: LakeProject, materialized: str) -> None:
    base, name = _base(lake, f"files_{materialized}"), f"files_become_{materialized}"
    lake.model(name, f"select d, v from {base}", tblproperties={"gc.enabled": "false"})
    lake.run("--select", name)
    lake.model(name, f"select d, v from {base}", materialized=materialized)
    lake.run("--select", name)
    assert lake.rows(name) == [(1, 10), (2, 20)]
    assert lake.reader().table(lake.schema, f"__mv_storage__{name}") is None


def test_a_lost_view_is_built_although_changes_are_left(lake: LakeProject) -> None:
    base = _base(lake, "lost_base")
    lake.model("lost", f"select d, v from {base}", on_configuration_change="continue")
    lake.run("--select", "lost")
    lake.sql(f"DROP TABLE lake.{lake.schema}.`__mv_storage__lost`")
    lake.model("lost", f"select d, v * 2 as v from {base}", on_configuration_change="continue")
    assert lake.run("--select", "lost")["lost"]["refresh_kind"] == "full"
    assert lake.rows("lost") == [(1, 20), (2, 40)]


def test_names_that_spark_replaces_are_refused(lake: LakeProject) -> None:
    lake.model("replaced", f"select d, v from {_base(lake, 'named_base')}", alias="pay${env}")
    message = lake.fail("--select", "replaced")
    lake.remove_model("replaced")
    assert "`pay${env}` holds ${...}, which Spark replaces in every statement" in message


def test_a_view_in_place_of_the_storage_table_is_refused(lake: LakeProject) -> None:
    base = _base(lake, "way_base")
    lake.sql(f"CREATE VIEW lake.{lake.schema}.`__mv_storage__inway` AS SELECT * FROM {base}")
    lake.model("inway", f"select d, v from {base}")
    message = lake.fail("--select", "inway")
    lake.remove_model("inway")
    assert "is in the way of its storage table. Set storage_table_prefix or storage_schema" in message


def test_a_model_with_the_name_of_a_storage_table_is_refused(lake: LakeProject) -> None:
    base = _base(lake, "shared_base")
    lake.model("shared", f"select d, v from {base}", storage_table_prefix="mv_")
    lake.model("mv_shared", f"select d from {base}", materialized="table")
    message = lake.fail("--select", "mv_shared")
    lake.remove_model("mv_shared")
    assert "has a name that mv_shared uses too" in message


@pytest.mark.parametrize("layout", ["table", "view"])
@pytest.mark.parametrize("setting", ["spark.wap.id", "spark.wap.branch"])
def test_rows_that_would_go_aside_are_refused_before_the_table_is_made(
    lake: LakeProject, layout: str, setting: str
) -> None:
    name = f"aside_{layout}_{setting[-2:]}"
    base, config = _base(lake, f"of_{name}"), {"layout": layout, "tblproperties": {"write.wap.enabled": "true"}}
    lake.model(name, f"select d, v from {base}", **config)
    lake.run("--select", name)
    lake.model(name, f"select d, v + 1 as v from {base}", pre_hook=f"set {setting} = audit", **config)
    try:
        assert f"{setting} is set, and write.wap.enabled is true" in lake.fail("--select", name, "--full-refresh")
    finally:
        lake.model(name, f"select d, v + 1 as v from {base}", pre_hook=f"reset {setting}", **config)
    assert lake.rows(name) == [(1, 10), (2, 20)]
    lake.run("--select", name)
    assert lake.rows(name) == [(1, 11), (2, 21)]
