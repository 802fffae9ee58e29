"""Materializations beyond the basic suite: strategies, schema changes, comments, seeds, errors."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file

SEED = "id,name,amount,day\n1,O'Brien \\n 100%s,12345678901234567890,2024-01-01\n2,,0.5,2024-01-02\n3,${env:HOME},1,2024-01-03\n"
OVERWRITE = """
{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by='day') }}
{% if is_incremental() %} select 9 as id, date'2024-01-02' as day
{% else %} select 1 as id, date'2024-01-01' as day union all select 2, date'2024-01-02' {% endif %}
"""
WITHOUT_PARTITIONS = """
{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='ts', batch_size='day',
          begin=modules.datetime.datetime.now().strftime('%Y-%m-%d')) }}
select current_timestamp() as ts
"""
MERGE = """
{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',
          on_schema_change='sync_all_columns') }}
{% if is_incremental() %} select 2 as id, 'new' as state, 1.5d as extra union all select 3, 'new', 2.5d
{% else %} select 1 as id, 'old' as state, 1 as gone union all select 2, 'old', 1 {% endif %}
"""
DOCUMENTED = """
models:
  - name: documented_table
    description: "it's a \\\\ \\"table\\""
    columns: [{name: id, description: "the 'id'"}, {name: absent, description: "not there"}]
  - name: documented_view
    description: "it's a view"
    columns: [{name: ID, description: "the 'id'"}, {name: missing, description: "not there either"}]
"""


def rows(project: Any, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in project.run_sql(sql, fetch="all")]


class TestIncrementalStrategies:
    pytestmark = pytest.mark.long

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"overwritten.sql": OVERWRITE, "merged.sql": MERGE}

    def test_second_run(self, project: Any) -> None:
        run_dbt(["run"])
        run_dbt(["run"])
        overwritten = rows(project, "select id, cast(day as string) from lake.{schema}.overwritten order by id")
        assert overwritten == [(1, "2024-01-01"), (9, "2024-01-02")]
        merged = rows(project, "select id, state, extra from lake.{schema}.merged order by id")
        assert merged == [(1, "old", None), (2, "new", 1.5), (3, "new", 2.5)]
        views = [row[1] for row in rows(project, "show views in lake.{schema}")]
        # Other tests of this Spark have models that fail, whose temporary views stay.
        assert not [view for view in views if "__dbt_tmp" in view and project.test_schema in view]

        run_dbt(["run", "--full-refresh", "-s", "merged"])
        assert rows(project, "select id, state from lake.{schema}.merged order by id") == [(1, "old"), (2, "old")]


class TestWidenedColumn:
    pytestmark = pytest.mark.long

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "widened.sql": "{{ config(materialized='incremental', on_schema_change='sync_all_columns') }} "
            "select {{ '5000000000' if is_incremental() else '1' }} as `the id`"
        }

    def test_name_with_a_space(self, project: Any) -> None:
        run_dbt(["run"])
        run_dbt(["run"])
        assert rows(project, "select `the id` from lake.{schema}.widened order by 1") == [(1,), (5000000000,)]


class TestRefusedModels:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "bad.sql": "{{ config(materialized='incremental', incremental_strategy='x') }} select 1 as a",
            "batches.sql": WITHOUT_PARTITIONS,
            # dbt renders a model when it parses the project, too, where the error would end everything.
            "listed.sql": """
                select {% if execute %}{{ dbt.listagg("distinct a", "','", "order by a", 2) }}{% endif %} as a
                from (select 'a' as a)
            """,
        }

    def test_is_refused(self, project: Any) -> None:
        _, log = run_dbt_and_capture(["run"], expect_pass=False)
        assert "the incremental strategy 'x' is not known. Use one of append, merge" in log
        assert "Set `partition_by` to a column or a transform of the size of a day." in log
        assert "Cannot render listagg of distinct a" in log


class TestPersistDocs:
    pytestmark = pytest.mark.long

    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return {"models": {"+persist_docs": {"relation": True, "columns": True}}}

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "documented_table.sql": "{{ config(materialized='table') }} select 1 as id, 2 as other",
            "documented_view.sql": "select id, other from {{ ref('documented_table') }}",
            "schema.yml": DOCUMENTED,
        }

    def test_comments(self, project: Any) -> None:
        _, log = run_dbt_and_capture(["run"])
        for absent in ("absent", "missing"):
            assert f"are specified in the schema but are not present in the database: {absent}" in log
        catalog = run_dbt(["docs", "generate"])
        table, view = (catalog.nodes[f"model.test.documented_{kind}"] for kind in ("table", "view"))
        assert table.metadata.comment == 'it\'s a \\ "table"'
        assert view.metadata.comment == "it's a view"
        assert table.columns["id"].comment == view.columns["id"].comment == "the 'id'"
        assert table.columns["other"].comment is None


class TestSeeds:
    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {"odd.csv": SEED}

    @pytest.fixture(scope="class")
    def project_config_update(self) -> dict[str, Any]:
        return {"seeds": {"+column_types": {"amount": "decimal(30,2)", "name": "string"}}}

    def test_values_arrive_as_written(self, project: Any) -> None:
        run_dbt(["seed"])
        before = rows(project, "select made_current_at from lake.{schema}.odd.history")
        run_dbt(["seed"])
        # The history goes on: a materialized view on the seed need not start anew.
        assert rows(project, "select made_current_at from lake.{schema}.odd.history")[: len(before)] == before
        found = rows(
            project, "select id, name, cast(amount as string), cast(day as string) from lake.{schema}.odd order by id"
        )
        assert found == [
            (1, "O'Brien \\n 100%s", "12345678901234567890.00", "2024-01-01"),
            (2, None, "0.50", "2024-01-02"),
            # Spark replaces such a text in SQL; as a value it stays as written.
            (3, "${env:HOME}", "1.00", "2024-01-03"),
        ]


class TestChangedSeed:
    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {"changing.csv": "a,b\n1,x\n"}

    def test_new_columns_replace_the_table(self, project: Any) -> None:
        run_dbt(["seed"])
        write_file("a,c d\nx,1\ny,2\n", project.project_root, "seeds", "changing.csv")
        run_dbt(["seed"])
        assert rows(project, "select a, `c d` from lake.{schema}.changing order by a") == [("x", 1), ("y", 2)]


class TestErrors:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "no_column.sql": "select nope from (select 1 as a)",
            "at_run_time.sql": "{{ config(materialized='table') }} select int(raise_error('told by the query')) as a",
            "no_syntax.sql": "selec 1",
        }

    def test_messages_are_short(self, project: Any) -> None:
        _, log = run_dbt_and_capture(["run"], expect_pass=False)
        assert "UNRESOLVED_COLUMN" in log
        assert "told by the query" in log
        assert "PARSE_SYNTAX_ERROR" in log
        for noise in ("Unhandled error", "\tat org.apache", "py4j", "JVM stacktrace"):
            assert noise not in log
