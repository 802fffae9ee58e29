"""dbt's own materialized view suite (dbt-tests-adapter) on Spark and Iceberg."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from dbt.adapters.base.relation import BaseRelation
from dbt.tests.adapter.materialized_view.basic import MaterializedViewBasic
from dbt.tests.adapter.materialized_view.changes import (
    MaterializedViewChanges,
    MaterializedViewChangesApplyMixin,
    MaterializedViewChangesContinueMixin,
    MaterializedViewChangesFailMixin,
)
from dbt.tests.util import get_model_file, run_dbt, set_model_file


def _relation_type(project: Any, relation: BaseRelation) -> str | None:
    project.adapter.cache.clear()
    with project.adapter.connection_named("_test"):
        found = project.adapter.get_relation(relation.database, relation.schema, relation.identifier)
    return str(found.type) if found is not None and found.type is not None else None


class _CleansUp:
    """A view that is built anew for each test, as in dbt's suite, but for the end.

    There `drop schema ... cascade` is refused: Iceberg drops no namespace with something in it.
    """

    @pytest.fixture(scope="function", autouse=True)
    def setup(self, project: Any, my_materialized_view: BaseRelation) -> Iterator[None]:
        run_dbt(["seed"])
        run_dbt(["run", "--models", str(my_materialized_view.identifier), "--full-refresh"])
        initial_model = get_model_file(project, my_materialized_view)
        yield
        set_model_file(project, my_materialized_view, initial_model)
        with project.adapter.connection_named("_test"):
            project.adapter.drop_schema(
                project.adapter.Relation.create(database=project.database, schema=project.test_schema)
            )
            project.adapter.cache.clear()


class TestMaterializedViewBasic(_CleansUp, MaterializedViewBasic):
    @staticmethod
    def insert_record(project: Any, table: BaseRelation, record: tuple[int, int]) -> None:
        project.run_sql(f"insert into {table} values ({record[0]}, {record[1]})")

    @staticmethod
    def refresh_materialized_view(project: Any, materialized_view: BaseRelation) -> None:
        run_dbt(["run", "--models", str(materialized_view.identifier)])

    @staticmethod
    def query_row_count(project: Any, relation: BaseRelation) -> int:
        return int(project.run_sql(f"select count(*) from {relation}", fetch="one")[0])

    @staticmethod
    def query_relation_type(project: Any, relation: BaseRelation) -> str | None:
        return _relation_type(project, relation)


class _Changes(_CleansUp, MaterializedViewChanges):
    @staticmethod
    def _edit(project: Any, relation: BaseRelation, old: str, new: str) -> None:
        set_model_file(project, relation, get_model_file(project, relation).replace(old, new))

    @staticmethod
    def _storage(project: Any, relation: BaseRelation) -> Any:
        table = project.adapter.catalog_reader_of(None).table(relation.schema, f"__mv_storage__{relation.identifier}")
        assert table is not None
        return table

    @classmethod
    def check_start_state(cls, project: Any, materialized_view: BaseRelation) -> None:
        storage = cls._storage(project, materialized_view)
        assert "note" not in storage.properties
        assert storage.spec().is_unpartitioned()

    @classmethod
    def change_config_via_alter(cls, project: Any, materialized_view: BaseRelation) -> None:
        cls._edit(
            project,
            materialized_view,
            "materialized='materialized_view'",
            "materialized='materialized_view', tblproperties={'note': 'changed'}",
        )

    @classmethod
    def check_state_alter_change_is_applied(cls, project: Any, materialized_view: BaseRelation) -> None:
        assert cls._storage(project, materialized_view).properties["note"] == "changed"

    @classmethod
    def change_config_via_replace(cls, project: Any, materialized_view: BaseRelation) -> None:
        cls._edit(
            project,
            materialized_view,
            "materialized='materialized_view'",
            "materialized='materialized_view', partition_by='id'",
        )

    @classmethod
    def check_state_replace_change_is_applied(cls, project: Any, materialized_view: BaseRelation) -> None:
        assert not cls._storage(project, materialized_view).spec().is_unpartitioned()

    @staticmethod
    def query_relation_type(project: Any, relation: BaseRelation) -> str | None:
        return _relation_type(project, relation)


class TestMaterializedViewChangesApply(_Changes, MaterializedViewChangesApplyMixin):
    pass


class TestMaterializedViewChangesContinue(_Changes, MaterializedViewChangesContinueMixin):
    pytestmark = pytest.mark.long


class TestMaterializedViewChangesFail(_Changes, MaterializedViewChangesFailMixin):
    pytestmark = pytest.mark.long
