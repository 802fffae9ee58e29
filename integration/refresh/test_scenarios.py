"""What `dbt run` does in each situation of a materialized view's life."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from integration.support.lake import LakeProject
from integration.support.requests import names_of_tests
from tests.support.shares import one_of

_numbers = itertools.count()


class Daily:
    """One view over one base of its own."""

    def __init__(self, lake: LakeProject) -> None:
        self.lake = lake
        self.name = f"daily_{next(_numbers)}"
        self.base = f"lake.{lake.schema}.{self.name}_base"
        self.storage = f"__mv_storage__{self.name}"
        self.select = f"select d, count(*) as n from {self.base} group by d"

    def creation(self) -> str:
        rows = "(date'2024-01-01', 'EU', 1), (date'2024-01-02', 'EU', 1), (date'2024-01-03', 'EU', 1)"
        return f"CREATE TABLE {self.base} USING iceberg PARTITIONED BY (d) AS SELECT * FROM VALUES {rows} AS v(d, r, v)"

    def insert(self, *days: str) -> None:
        self.lake.sql(f"INSERT INTO {self.base} VALUES " + ", ".join(f"(date'{day}', 'EU', 1)" for day in days))

    def model(self, sql: str | None = None, **config: Any) -> None:
        self.lake.model(self.name, sql or self.select, **config)

    def run(self, *arguments: str) -> dict[str, Any]:
        response = self.lake.run("--select", self.name, *arguments)[self.name]
        self.lake.assert_equals_definition(self.name)
        return response

    def fail(self, *arguments: str) -> str:
        return self.lake.fail("--select", self.name, *arguments)

    def rows(self) -> list[Any]:
        return sorted(self.lake.sql(f"SELECT * FROM {self.lake.view(self.name)}"))

    def entries(self) -> set[str]:
        return {e.name for e in self.lake.reader().entries(self.lake.schema) if self.name in e.name}


@pytest.fixture(scope="module")
def built(lake: LakeProject, request: pytest.FixtureRequest) -> dict[str, Daily]:
    """A base for all tests that ask for one; the views of those that ask for `daily` are built by one run."""
    made = {name: Daily(lake) for name in names_of_tests(request, "base")}
    lake.at_once(daily.creation() for daily in made.values())
    views = [made[name] for name in names_of_tests(request, "daily")]
    for daily in views:
        daily.model()
    if views:
        names = [daily.name for daily in views]
        responses = lake.run("--select", *names)
        assert {responses[name]["refresh_kind"] for name in names} == {"full"}
        lake.assert_equals_definition(*names)
    return made


@pytest.fixture
def base(built: dict[str, Daily], request: pytest.FixtureRequest) -> Daily:
    """A base table of the test's own, without a view."""
    return built[request.node.name]


@pytest.fixture
def daily(base: Daily) -> Daily:
    """A base table of the test's own and a view on it, built and checked."""
    return base


def test_full_refresh(daily: Daily) -> None:
    response = daily.run("--full-refresh")
    assert (response["refresh_kind"], response["refresh_reason"]) == ("full", "--full-refresh")
    assert response["rows_affected"] == 3


def test_changed_select_leaves_fresh_data(daily: Daily) -> None:
    daily.model(f"select d, r, sum(v) as total from {daily.base} group by d, r")
    response = daily.run()
    assert (response["refresh_kind"], response["refresh_reason"]) == ("full", "the SELECT changed")
    daily.insert("2024-01-09")
    assert daily.run()["refresh_kind"] == "overwrite"


@pytest.mark.long
def test_layout_and_comments_of_the_sql_do_not_matter(daily: Daily) -> None:
    daily.model(f"-- counts per day\nselect d,\n   count(*) as n\nfrom {daily.base} /* all of it */ group by d;\n")
    assert daily.run()["refresh_kind"] == "none"


@pytest.mark.long
def test_changed_partitioning(daily: Daily) -> None:
    daily.model(partition_by="months(d)")
    response = daily.run()
    assert (response["refresh_kind"], response["refresh_reason"]) == (
        "full",
        "partition_by is months(d), and was derived",
    )
    daily.insert("2024-01-02")
    assert daily.run()["refresh_kind"] == "overwrite"


@pytest.mark.long
def test_changed_table_properties_are_altered(daily: Daily) -> None:
    daily.model(tblproperties={"write.format.default": "orc", "note": "it's"})
    response = daily.run()
    assert response["refresh_kind"] == "none"
    assert "tblproperties changed" in response["refresh_reason"]
    storage = daily.lake.reader().table(daily.lake.schema, daily.storage)
    assert storage is not None
    assert storage.properties["note"] == "it's"
    daily.insert("2024-01-02")
    daily.model(tblproperties={"note": "x"})
    assert daily.run()["refresh_kind"] == "overwrite"
    storage = daily.lake.reader().table(daily.lake.schema, daily.storage)
    assert storage is not None
    assert "write.format.default" not in storage.properties
    assert daily.run()["refresh_kind"] == "none"


def test_on_configuration_change_continue(daily: Daily) -> None:
    before = daily.rows()
    daily.insert("2024-01-09")
    daily.model(f"select d, 1 as n from {daily.base}", on_configuration_change="continue")
    result = daily.lake.dbt("run", "--select", daily.name)
    assert result.success
    response = daily.lake.responses()[daily.name]
    assert (response["refresh_kind"], response["refresh_reason"]) == (
        "none",
        "on_configuration_change is continue, and the SELECT changed",
    )
    assert daily.rows() == before


def test_on_configuration_change_fail(daily: Daily) -> None:
    before = daily.rows()
    daily.model(f"select d, 1 as n from {daily.base}", on_configuration_change="fail")
    daily.fail()
    assert daily.rows() == before


@pytest.mark.parametrize("kind", one_of(3, ["table", "view", "incremental"]))
def test_relation_of_that_name_in_the_way(lake: LakeProject, base: Daily, kind: str) -> None:
    daily = base
    daily.model(materialized=kind)
    lake.run("--select", daily.name)
    daily.model()
    assert daily.run()["refresh_kind"] == "full"
    assert daily.entries() == {daily.name, daily.storage, f"{daily.name}_base"}
    daily.model(materialized=kind)
    lake.run("--select", daily.name)
    assert daily.entries() == {daily.name, f"{daily.name}_base"}
    lake.assert_equals_definition(daily.name)
    daily.model()
    assert daily.run()["refresh_kind"] == "full"


def test_storage_dropped_by_hand(daily: Daily) -> None:
    daily.lake.sql(f"DROP TABLE lake.{daily.lake.schema}.{daily.storage}")
    response = daily.run()
    assert (response["refresh_kind"], response["refresh_reason"]) == ("full", "its storage table was dropped")


@pytest.mark.parametrize(
    "change",
    one_of(
        3,
        [
            "ALTER TABLE {s} ADD COLUMN x int",
            "ALTER TABLE {s} RENAME COLUMN n TO m",
            "ALTER TABLE {s} DROP COLUMN n",
            "ALTER TABLE {s} REPLACE PARTITION FIELD d WITH months(d)",
            "INSERT INTO {s} VALUES (date'1999-01-01', 99)",
            "DELETE FROM {s} WHERE d = date'2024-01-01'",
            "CREATE OR REPLACE TABLE {s} (a int) USING iceberg TBLPROPERTIES ('icebergmv.storage-of' = 'x')",
        ],
    ),
)
def test_storage_altered_by_hand(daily: Daily, change: str) -> None:
    before = daily.rows()
    daily.lake.sql(change.format(s=f"lake.{daily.lake.schema}.{daily.storage}"))
    assert daily.rows() == before
    daily.insert("2024-01-02")
    daily.run()
    assert daily.run()["refresh_kind"] == "none"
    daily.insert("2024-01-03")
    daily.run()


def test_view_redefined_by_hand(daily: Daily) -> None:
    daily.lake.sql(f"CREATE OR REPLACE VIEW {daily.lake.view(daily.name)} AS SELECT date'2024-01-01' AS d, 1L AS n")
    response = daily.run()
    assert (response["refresh_kind"], response["refresh_reason"]) == ("full", "the view was redefined by hand")


def test_drop_takes_the_storage_along(daily: Daily) -> None:
    daily.model(materialized="table")
    daily.lake.run("--select", daily.name)
    assert daily.storage not in daily.entries()


@pytest.mark.long
def test_renamed_model(daily: Daily) -> None:
    lake, old = daily.lake, daily.name
    lake.remove_model(old)
    daily.name = f"renamed_{old}"
    daily.model()
    assert daily.run()["refresh_kind"] == "full"
    assert daily.run()["refresh_kind"] == "none"
    lake.sql(f"SELECT * FROM {lake.view(old)}")


@pytest.mark.long
def test_storage_schema_and_prefix(lake: LakeProject, base: Daily) -> None:
    daily = base
    daily.model(storage_schema=f"{lake.schema}_storage", storage_table_prefix="$materialized_view_storage$")
    response = daily.run()
    assert response["storage_table"] == f"lake.{lake.schema}_storage.`$materialized_view_storage${daily.name}`"
    daily.insert("2024-01-02")
    assert daily.run()["refresh_kind"] == "overwrite"
    daily.model()
    assert daily.run()["refresh_reason"].startswith("the storage table is to be lake.")
    reader = lake.reader()
    assert reader.table(f"{lake.schema}_storage", f"$materialized_view_storage${daily.name}") is None


@pytest.mark.long
def test_empty_run_is_never_recorded(daily: Daily) -> None:
    lake = daily.lake
    other = f"over_{daily.name}"
    lake.model(other, f"select d, count(*) as n from {{{{ ref('{daily.name}') }}}} group by d")
    lake.run("--select", other)
    lake.run("--select", other, "--empty")
    assert lake.sql(f"SELECT * FROM {lake.view(other)}") == []
    response = lake.run("--select", other)[other]
    assert (response["refresh_kind"], response["refresh_reason"]) == ("full", "the last run was built with --empty")
    lake.assert_equals_definition(other)


def test_refresh_on_run_false(daily: Daily) -> None:
    before = daily.rows()
    daily.insert("2024-01-09")
    daily.model(refresh_on_run=False)
    response = daily.lake.run("--select", daily.name)[daily.name]
    assert (response["refresh_kind"], response["refresh_reason"]) == ("none", "refresh_on_run is false")
    assert daily.rows() == before
    daily.model()
    assert daily.run()["refresh_kind"] == "overwrite"


@pytest.mark.long
def test_refresh_policy_full(daily: Daily) -> None:
    daily.model(refresh_policy="full")
    assert daily.run()["refresh_kind"] == "none"
    daily.insert("2024-01-09")
    assert daily.run()["refresh_kind"] == "full"


def test_refresh_policy_incremental_strict(base: Daily) -> None:
    daily = base
    daily.model(f"select percentile(v, 0.5) as n from {daily.base}", refresh_policy="incremental_strict")
    assert "no output column follows a column of any base table" in daily.fail(), "the error comes when it is built"
    assert daily.entries() == {daily.base.split(".")[-1]}, "something was made"
    assert daily.run("--full-refresh")["refresh_kind"] == "full"
    before = daily.rows()
    daily.insert("2024-01-09")
    message = daily.fail()
    assert daily.name in message
    assert "no output column follows a column of any base table" in message
    assert daily.rows() == before
    assert daily.run("--full-refresh")["refresh_kind"] == "full"


def test_descriptions_reach_the_view(daily: Daily) -> None:
    lake = daily.lake
    columns = [{"name": "n", "description": "how many, it's \\ `counted`"}]
    lake.properties({"models": [{"name": daily.name, "description": "rows {{ 'per' }} day\nünï", "columns": columns}]})
    daily.model(persist_docs={"relation": True, "columns": True})
    response = daily.run()
    assert response["refresh_kind"] == "none"
    view = lake.reader().view(lake.schema, daily.name)
    assert view is not None
    assert view.comment == "rows per day\nünï"
    assert [c.comment for c in view.columns] == [None, "how many, it's \\ `counted`"]
    assert daily.run()["refresh_kind"] == "none"


def test_hooks_run_around_the_refresh(daily: Daily) -> None:
    log = f"lake.{daily.lake.schema}.hooks_{daily.name}"
    daily.lake.sql(f"CREATE TABLE {log} (at string) USING iceberg")
    daily.model(pre_hook=f"insert into {log} values ('before')", post_hook=f"insert into {log} values ('after')")
    daily.run()
    assert sorted(r[0] for r in daily.lake.sql(f"SELECT at FROM {log}")) == ["after", "before"]


def test_odd_names_everywhere(lake: LakeProject) -> None:
    base = f"`lake`.`{lake.schema}`.`od``d 'base' $x ü`"
    lake.sql(f'CREATE TABLE {base} (`k``ey $a` string, `va l"ue` int) USING iceberg PARTITIONED BY (`k``ey $a`)')
    lake.sql(f"INSERT INTO {base} VALUES ('a\\'b\\\\c', 1), ('${{x}}', 2), ('{{{{ y }}}}', 3), ('line\\nbreak', 4)")
    sql = f'select `k``ey $a`, sum(`va l"ue`) as `su m $` from {base} group by 1'
    lake.model("odd_names", sql, alias="od`d view $")
    response = lake.run("--select", "odd_names")["odd_names"]
    assert response["refresh_kind"] == "full"
    lake.sql(f"INSERT INTO {base} VALUES ('a\\'b\\\\c', 10), ('${{x}}', 20), ('{{{{ y }}}}', 30), ('line\\nbreak', 40)")
    response = lake.run("--select", "odd_names")["odd_names"]
    assert (response["refresh_kind"], response["stale_partitions"], response["total_partitions"]) == ("overwrite", 4, 4)
    view = f"`lake`.`{lake.schema}`.`od``d view $`"
    assert lake.sql(f"SELECT * FROM {view} EXCEPT ALL SELECT * FROM ({sql})") == []
    assert lake.sql(f"SELECT count(*) FROM {view}")[0][0] == 4
