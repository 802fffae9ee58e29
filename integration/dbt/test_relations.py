"""Names, types, columns, renames and drops, as the adapter sees them in a real catalog."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dbt.adapters.contracts.relation import RelationType
from dbt.tests.util import run_dbt

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.sql.rendering import string_literal
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState, ViewState


def materialized_view_properties(schema: str, snapshot_id: int) -> str:
    """Return the properties of a view over `__mv_storage__mv` as SQL."""
    base = ("lake", "a", "t")
    state = ViewState(
        definition="select 1 as a, 'x' as b",
        definition_hash="",
        storage_table=("lake", schema, "__mv_storage__mv"),
        storage_uuid="",
        storage_snapshot_id=snapshot_id,
        base_tables=(BaseTableState(base, base, TableVersion("u", 7, 0)),),
        refresh_kind="full",
        refresh_reason="it is new",
        started_at="2026-01-02T03:04:04Z",
        refreshed_at="2026-01-02T03:04:05Z",
        owner="",
    )
    return ", ".join(f"{string_literal(key)} = {string_literal(value)}" for key, value in state.to_properties().items())


class Setup:
    """A schema with one of each, and SQL that runs on a connection of its own."""

    @pytest.fixture(scope="class")
    def sql(self, project: Any) -> Callable[[str], Any]:
        def run(statement: str) -> Any:
            with project.adapter.connection_named("test"):
                _, rows = project.adapter.execute(statement.format(schema=project.test_schema), fetch=True)
            return rows

        return run

    @staticmethod
    def listed(project: Any) -> dict[str, str]:
        relation = project.adapter.Relation.create(database="lake", schema=project.test_schema)
        found = project.adapter.list_relations_without_caching(relation)
        return {relation.identifier: str(relation.type) for relation in found}

    @staticmethod
    def relation(project: Any, name: str, kind: RelationType) -> Any:
        return project.adapter.Relation.create(database="lake", schema=project.test_schema, identifier=name, type=kind)

    @staticmethod
    def make_materialized_view(project: Any, sql: Callable[[str], Any]) -> None:
        owned = "tblproperties ('icebergmv.storage-of'='lake.{schema}.mv')"
        sql(f"create table lake.{{schema}}.__mv_storage__mv using iceberg {owned} as select 1 as a, 'x' as b")
        snapshot = sql("select snapshot_id from lake.{schema}.__mv_storage__mv.refs where name = 'main'")[0][0]
        properties = materialized_view_properties(project.test_schema, snapshot)
        sql(
            "create view lake.{schema}.mv tblproperties ("
            + properties.replace("{", "{{").replace("}", "}}")
            + f") as select a, b from lake.{{schema}}.__mv_storage__mv version as of {snapshot}"
        )


class TestRelations(Setup):
    def test_odd_names_survive(self, project: Any, sql: Callable[[str], Any]) -> None:
        sql("create table lake.{schema}.`we``ird $x` (`a ``b` int, `C` string comment 'it''s') using iceberg")
        relation = self.relation(project, "we`ird $x", RelationType.Table)
        columns = project.adapter.get_columns_in_relation(relation)
        assert [(c.quoted, c.dtype) for c in columns] == [("`a ``b`", "int"), ("`C`", "string")]
        sql(f"select * from {relation}")
        with project.adapter.connection_named("test"):
            project.adapter.drop_relation(relation)
        assert "we`ird $x" not in self.listed(project)

    def test_columns_of_temporary_view(self, project: Any, sql: Callable[[str], Any]) -> None:
        sql("create or replace temporary view tmp_columns as select 1 as a, date'2024-01-01' as `b c`")
        temporary = self.relation(project, "tmp_columns", RelationType.View).include(database=False, schema=False)
        with project.adapter.connection_named("test"):
            columns = project.adapter.get_columns_in_relation(temporary)
        assert [(c.name, c.dtype) for c in columns] == [("a", "int"), ("b c", "date")]

    def test_absent_relation_has_no_columns(self, project: Any) -> None:
        assert project.adapter.get_columns_in_relation(self.relation(project, "nobody", RelationType.Table)) == []

    @pytest.mark.parametrize("kind", [RelationType.Table, RelationType.View])
    def test_rename(self, project: Any, sql: Callable[[str], Any], kind: RelationType) -> None:
        sql(f"create {kind} lake.{{schema}}.old_{kind} as select 1 as a")
        with project.adapter.connection_named("test"):
            project.adapter.rename_relation(
                self.relation(project, f"old_{kind}", kind), self.relation(project, f"new {kind}", kind)
            )
        listed = self.listed(project)
        assert listed[f"new {kind}"] == kind
        assert f"old_{kind}" not in listed

    def test_materialized_view_is_one_relation(self, project: Any, sql: Callable[[str], Any]) -> None:
        self.make_materialized_view(project, sql)
        listed = self.listed(project)
        assert listed["mv"] == "materialized_view"
        assert "__mv_storage__mv" not in listed

        relation = self.relation(project, "mv", RelationType.MaterializedView)
        assert project.adapter.storage_table_of(relation) == f"`lake`.`{project.test_schema}`.`__mv_storage__mv`"
        with project.adapter.connection_named("test"):
            project.adapter.drop_relation(relation)
        assert not [row for row in sql("show tables in lake.{schema}") if "mv" in row["tableName"]]

    def test_unknown_catalog_is_an_error(self, project: Any) -> None:
        relation = project.adapter.Relation.create(database="elsewhere", schema="s")
        with pytest.raises(Exception, match="Cannot open the catalog `elsewhere`"):
            project.adapter.list_relations_without_caching(relation)


class TestDropSchema(Setup):
    def test_takes_everything_along(self, project: Any, sql: Callable[[str], Any]) -> None:
        self.make_materialized_view(project, sql)
        sql("create table lake.{schema}.t using iceberg as select 1 as a")
        sql("create view lake.{schema}.v as select a from lake.{schema}.t")
        owned = "tblproperties ('icebergmv.storage-of'='x.y')"
        sql(f"create table lake.{{schema}}.__mv_storage__alone {owned} as select 1 as a")
        schema = project.adapter.Relation.create(database="lake", schema=project.test_schema)
        with project.adapter.connection_named("test"):
            project.adapter.drop_schema(schema)
            project.adapter.drop_schema(schema)
        assert not project.adapter.check_schema_exists("lake", project.test_schema)


class TestMaterializedViewInDocs(Setup):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"mv.sql": "select 1 as a, 'x' as b"}

    def test_stats(self, project: Any, sql: Callable[[str], Any]) -> None:
        self.make_materialized_view(project, sql)
        catalog = run_dbt(["docs", "generate"])
        node = catalog.nodes["model.test.mv"]
        values = {name: stat.value for name, stat in node.stats.items()}
        assert node.metadata.type == "materialized_view"
        assert values.pop("bytes") > 0
        assert values == {
            "has_stats": True,
            "last_refresh": "2026-01-02T03:04:05Z",
            "refresh_kind": "full",
            "refresh_reason": "it is new",
            "stale_read_behavior": "use_data_table",
            "rows": 1,
            "storage_table": f"`lake`.`{project.test_schema}`.`__mv_storage__mv`",
            "base_snapshots": "lake.a.t @ 7",
        }


class TestTypeChanges(Setup):
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"mv.sql": "{{ config(materialized=var('kind')) }} select 1 as a"}

    @pytest.mark.parametrize("kind", ["table", "view", "incremental"])
    def test_model_replaces_materialized_view(self, project: Any, sql: Callable[[str], Any], kind: str) -> None:
        self.make_materialized_view(project, sql)
        run_dbt(["run", "--vars", f"kind: {kind}"])
        expected = "view" if kind == "view" else "table"
        assert self.listed(project) == {"mv": expected}
        assert not [row for row in sql("show tables in lake.{schema}") if row["tableName"].startswith("__mv_storage")]
        sql(f"drop {expected} lake.{{schema}}.mv")

    def test_there_and_back(self, project: Any, sql: Callable[[str], Any]) -> None:
        for kind in ("view", "table", "view", "incremental", "table"):
            run_dbt(["run", "--vars", f"kind: {kind}"])
            assert self.listed(project) == {"mv": "view" if kind == "view" else "table"}
        sql("drop table lake.{schema}.mv")
