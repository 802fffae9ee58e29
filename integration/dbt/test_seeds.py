"""A seed whose rows are in the table already is not loaded; whatever else happened to the table, it is."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file

from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager
from tests.support.shares import one_of

FILE = "id,name\n1,a\n2,b\n3,c\n"
DOCUMENTED = """
seeds:
  - name: colours
    description: "{about}"
    columns: [{{name: id, description: "{column}"}}]
    config: {{persist_docs: {{relation: true, columns: true}}}}
"""


def seed(project: Any, *arguments: str) -> str:
    """Run `dbt seed` and return the message of the only seed."""
    (result,) = run_dbt(["seed", *arguments])
    return str(result.message)


def rows(project: Any, table: str = "colours") -> list[tuple[Any, ...]]:
    return [tuple(row) for row in project.run_sql(f"select * from lake.{{schema}}.{table} order by 1", fetch="all")]


def snapshots(project: Any) -> int:
    return len(project.run_sql("select 1 from lake.{schema}.colours.snapshots", fetch="all"))


class _Seeds:
    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {"colours.csv": FILE}


class TestUnchanged(_Seeds):
    def test_nothing_is_loaded(self, project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        assert seed(project) == "INSERT 3"
        made = snapshots(project)

        def refuse(*_: Any, **__: Any) -> None:
            raise AssertionError("a statement was run")

        with monkeypatch.context() as patch:
            patch.setattr(IcebergMVConnectionManager, "add_query", refuse)
            (result,) = run_dbt(["seed"])
            (built,) = run_dbt(["build"])
        assert (result.status, result.message) == ("success", "UNCHANGED 3")
        assert (result.adapter_response["code"], result.adapter_response["rows_affected"]) == ("UNCHANGED", 0)
        assert built.message == "UNCHANGED 3"
        assert snapshots(project) == made
        assert seed(project, "--full-refresh") == "CREATE 3"
        assert seed(project) == "UNCHANGED 3"
        assert rows(project) == [(1, "a"), (2, "b"), (3, "c")]


CHANGES = {
    "insert": ["insert into {t} values (4, 'd')"],
    "delete": ["delete from {t} where id = 1"],
    "insert and delete": ["insert into {t} values (4, 'd')", "delete from {t} where id = 1"],
    "truncate": ["truncate table {t}"],
    "drop": ["drop table {t}"],
    "made anew": ["create or replace table {t} using iceberg as select bigint(9) as id, 'z' as name"],
    "made anew without rows": ["create or replace table {t} (id bigint, name string) using iceberg"],
    "dropped and made anew": [
        "drop table {t}",
        "create table {t} using iceberg as select bigint(9) as id, 'z' as name",
    ],
    "renamed column": ["alter table {t} rename column name to other"],
    "new column of the same name": ["alter table {t} drop column name", "alter table {t} add column name string"],
    "other type": ["alter table {t} drop column id", "alter table {t} add column id int first"],
}


class TestChangedByHand(_Seeds):
    @pytest.mark.parametrize("change", one_of(3, CHANGES))
    def test_is_loaded_again(self, project: Any, change: str) -> None:
        run_dbt(["seed"])
        assert seed(project) == "UNCHANGED 3"
        for statement in CHANGES[change]:
            project.run_sql(statement.format(t="lake.{schema}.colours"))
        assert seed(project) == "INSERT 3"
        assert rows(project) == [(1, "a"), (2, "b"), (3, "c")]
        assert seed(project) == "UNCHANGED 3"

    def test_rolled_back(self, project: Any) -> None:
        run_dbt(["seed", "--full-refresh"])
        write_file("id,name\n1,other\n", project.project_root, "seeds", "colours.csv")
        assert seed(project) == "INSERT 1"
        ancestors = "select snapshot_id from lake.{schema}.colours.history where is_current_ancestor"
        (first, *_) = project.run_sql(f"{ancestors} order by made_current_at", fetch="all")
        call = "call lake.system.rollback_to_snapshot('{schema}.colours', " + str(first[0]) + ")"
        project.run_sql(call)
        assert seed(project) == "INSERT 1"
        assert rows(project) == [(1, "other")]
        write_file(FILE, project.project_root, "seeds", "colours.csv")
        run_dbt(["seed"])

    def test_columns_swapped(self, project: Any) -> None:
        write_file("a,b\n1,2\n", project.project_root, "seeds", "colours.csv")
        run_dbt(["seed"])
        for old, new in (("a", "t"), ("b", "a"), ("t", "b")):
            project.run_sql("alter table lake.{schema}.colours rename column " + f"{old} to {new}")
        project.run_sql("alter table lake.{schema}.colours alter column a first")
        assert rows(project) == [(2, 1)]
        assert seed(project) == "INSERT 1"
        assert rows(project) == [(1, 2)]
        write_file(FILE, project.project_root, "seeds", "colours.csv")
        run_dbt(["seed"])


class TestChangedFile(_Seeds):
    pytestmark = pytest.mark.long

    def test_is_loaded(self, project: Any) -> None:
        run_dbt(["seed"])
        for text, found in (
            ("id,name\n1,a\n2,b\n3,C\n", [(1, "a"), (2, "b"), (3, "C")]),
            ("id,name\n1,a\n", [(1, "a")]),
            ("id,label\n1,a\n", [(1, "a")]),
            ("id,label\n1.5,a\n", [(1.5, "a")]),
            ("id,label\n", []),
            ("id,label\n7,\n", [(7, None)]),
        ):
            write_file(text, project.project_root, "seeds", "colours.csv")
            count = len(found)
            assert seed(project) == f"INSERT {count}"
            assert rows(project) == found
            assert seed(project) == f"UNCHANGED {count}"


class TestTypes(_Seeds):
    pytestmark = pytest.mark.long

    def test_other_types_are_loaded(self, project: Any) -> None:
        run_dbt(["seed"])
        for types in ("id: 'decimal(5,2)'", "id: varchar(9)"):
            write_file(
                f"seeds: [{{name: colours, config: {{column_types: {{{types}}}}}}}]",
                project.project_root,
                "seeds",
                "s.yml",
            )
            assert seed(project) == "INSERT 3"
            assert seed(project) == "UNCHANGED 3"
        assert rows(project) == [("1", "a"), ("2", "b"), ("3", "c")]


class TestManyStatements(_Seeds):
    pytestmark = pytest.mark.long

    @pytest.fixture(scope="class")
    def macros(self) -> dict[str, str]:
        return {"size.sql": "{% macro icebergmv__get_batch_size() %}{{ return(2) }}{% endmacro %}"}

    def test_killed_before_the_last(self, project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        assert seed(project) == "INSERT 3"
        assert seed(project) == "UNCHANGED 3"
        add_query = IcebergMVConnectionManager.add_query
        for killed in ("insert", "alter table"):
            left = 2

            def counted(self: Any, sql: str, *arguments: Any, killed: str = killed, **named: Any) -> Any:
                nonlocal left
                if sql.rsplit("*/", maxsplit=1)[-1].strip().startswith(killed):
                    left -= 1
                    if left == 0 or killed != "insert":
                        raise RuntimeError("killed")
                return add_query(self, sql, *arguments, **named)

            project.run_sql("delete from lake.{schema}.colours where id = 3")
            with monkeypatch.context() as patch:
                patch.setattr(IcebergMVConnectionManager, "add_query", counted)
                run_dbt(["seed"], expect_pass=False)
            assert seed(project) == "INSERT 3"
            assert rows(project) == [(1, "a"), (2, "b"), (3, "c")]
            assert seed(project) == "UNCHANGED 3"

    def test_another_writer_in_between(self, project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        add_query = IcebergMVConnectionManager.add_query
        for others in (
            ["insert into {t} values (9, 'z')"],
            ["delete from {t} where id = 1", "insert into {t} values (9, 'z')"],
        ):
            statements = list(others)

            def busy(self: Any, sql: str, *arguments: Any, statements: list[str] = statements, **named: Any) -> Any:
                found = add_query(self, sql, *arguments, **named)
                if sql.rsplit("*/", maxsplit=1)[-1].strip().startswith("insert"):
                    while statements:
                        add_query(
                            self, statements.pop(0).format(t=f"lake.{project.test_schema}.colours"), auto_begin=False
                        )
                return found

            with monkeypatch.context() as patch:
                patch.setattr(IcebergMVConnectionManager, "add_query", busy)
                assert seed(project, "--full-refresh") == "CREATE 3"
            assert (9, "z") in rows(project)
            assert seed(project) == "INSERT 3"
            assert rows(project) == [(1, "a"), (2, "b"), (3, "c")]


class TestDocsAndHooks(_Seeds):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        hooks = {
            "pre-hook": "{{ log('before the seed', info=true) }}",
            "post-hook": "{{ log('after the seed', info=true) }}",
        }
        return {"seeds": hooks}

    def test_descriptions_follow(self, project: Any) -> None:
        for about, column in (("one", "first"), ("two", "first"), ("two", "second")):
            text = DOCUMENTED.format(about=about, column=column)
            write_file(text, project.project_root, "seeds", "schema.yml")
            _, log = run_dbt_and_capture(["seed"])
            assert "before the seed" in log
            assert "after the seed" in log
            catalog = run_dbt(["docs", "generate"])
            node = catalog.nodes["seed.test.colours"]
            assert (node.metadata.comment, node.columns["id"].comment) == (about, column)
        assert "UNCHANGED 3" in log


class TestHookThatWrites(_Seeds):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return {"seeds": {"post-hook": "update {{ this }} set name = upper(name) where id = 1"}}

    def test_loads_again(self, project: Any) -> None:
        for _ in range(2):
            assert seed(project) == "INSERT 3"
            assert rows(project) == [(1, "A"), (2, "b"), (3, "c")]


class TestOtherSchema(_Seeds):
    pytestmark = pytest.mark.long

    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return {"seeds": {"+schema": "apart", "+alias": "tints"}}

    def test_unchanged_there(self, project: Any) -> None:
        assert seed(project) == "INSERT 3"
        assert seed(project) == "UNCHANGED 3"
        project.run_sql("drop table lake.{schema}_apart.tints")
        assert seed(project) == "INSERT 3"


class TestNumbers:
    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {"numbers.csv": f"n,big,real\n1,{2**63},1e-50\n2,{-(10**27)},1e300\n3,,-0.5\n"}

    def test_are_what_the_file_says(self, project: Any) -> None:
        assert seed(project) == "INSERT 3"
        big = "select n, cast(big as string), real from lake.{schema}.numbers order by n"
        found = [tuple(row) for row in project.run_sql(big, fetch="all")]
        assert found == [(1, str(2**63), 1e-50), (2, str(-(10**27)), 1e300), (3, None, -0.5)]
        assert seed(project) == "UNCHANGED 3"


def partitions(project: Any) -> list[str]:
    described = project.run_sql("describe table lake.{schema}.colours", fetch="all")
    found = [str(row[0]) for row in described]
    return found[found.index("# col_name") + 1 :] if "# col_name" in found else []


class TestClauses(_Seeds):
    def test_changed_ones_take_effect(self, project: Any) -> None:
        assert seed(project) == "INSERT 3"
        for config, wanted in (
            ("partition_by: [name], tblproperties: {mine: '1'}", ["name"]),
            ("partition_by: [id], tblproperties: {mine: '2'}", ["id"]),
            ("", []),
        ):
            text = f"seeds: [{{name: colours, config: {{{config}}}}}]"
            write_file(text, project.project_root, "seeds", "s.yml")
            assert seed(project) == "INSERT 3"
            assert partitions(project) == wanted
            made = snapshots(project)
            assert seed(project) == "UNCHANGED 3"
            # Loaded again with the same clauses, the table stays.
            project.run_sql("delete from lake.{schema}.colours where id = 1")
            assert seed(project) == "INSERT 3"
            assert snapshots(project) > made + 1
            assert rows(project) == [(1, "a"), (2, "b"), (3, "c")]


class TestAnotherBranch(_Seeds):
    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return {"seeds": {"+tblproperties": {"write.wap.enabled": "true"}}}

    def test_is_loaded_there_and_main_stays(self, project: Any) -> None:
        assert seed(project) == "INSERT 3"
        assert seed(project) == "UNCHANGED 3"
        project.run_sql("alter table lake.{schema}.colours create branch audit")
        project.run_sql("delete from lake.{schema}.colours.branch_audit where id = 1")
        text = "seeds: [{name: colours, config: {partition_by: [name]}}]"
        project.run_sql("set spark.wap.branch = audit")
        try:
            for _ in range(2):
                assert seed(project) == "INSERT 3"
                # To make the table anew there would empty main.
                write_file(text, project.project_root, "seeds", "s.yml")
        finally:
            project.run_sql("reset spark.wap.branch")
        assert len(rows(project, "colours.branch_audit")) == len(rows(project)) == 3
        assert partitions(project) == []
        assert seed(project) == "INSERT 3"
        assert partitions(project) == ["name"]
        assert seed(project) == "UNCHANGED 3"
