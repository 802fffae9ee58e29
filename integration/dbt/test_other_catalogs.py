"""Sources in catalogs that the profile does not describe: Spark says what is there, and docs go without them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture
from pyspark.sql import SparkSession

SOURCES = """
sources:
  - name: parquet
    database: spark_catalog
    schema: default
    tables: [{name: plain_files}, {name: view_of_them}, {name: absent}]
  - name: database
    database: derby
    schema: APP
    tables: [{name: ROWS}]
"""
# What dbt_utils.get_column_values does, and packages like it.
FOUND = """
{% set found = [] %}
{% for name in ('plain_files', 'view_of_them', 'absent') %}
{% set relation = load_relation(source('parquet', name)) %}
{% do found.append('(\\'' ~ name ~ '\\', \\'' ~ (relation.type if relation else 'none') ~ '\\')') %}
{% endfor %}
{% set relation = load_relation(source('database', 'ROWS')) %}
{% do found.append('(\\'ROWS\\', \\'' ~ (relation.type if relation else 'none') ~ '\\')') %}
select * from values {{ found | join(', ') }} as t(name, type)
"""


class TestOtherCatalogs:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "found.sql": FOUND,
            "sources.yml": SOURCES,
            "read.sql": "select * from {{ source('parquet', 'plain_files') }}",
        }

    @pytest.fixture(autouse=True)
    def others(self, project: Any, tmp_path: Path) -> Iterator[None]:
        settings = {
            "spark.sql.catalog.derby": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
            "spark.sql.catalog.derby.url": "jdbc:derby:memory:others;create=true",
            "spark.sql.catalog.derby.driver": "org.apache.derby.jdbc.EmbeddedDriver",
        }
        jvm: Any = SparkSession.active()._jvm
        # Derby would write a log into the current folder.
        jvm.java.lang.System.setProperty("derby.stream.error.file", str(tmp_path / "derby.log"))
        for key, value in settings.items():
            project.run_sql(f"set `{key}` = `{value}`")
        project.run_sql("create table spark_catalog.default.plain_files using parquet as select 1 as id")
        project.run_sql("create view spark_catalog.default.view_of_them as select 1 as id")
        project.run_sql("create temporary view absent as select 1 as id")
        project.run_sql("create table derby.APP.ROWS (id int)")
        yield
        project.run_sql("drop table derby.APP.ROWS")
        project.run_sql("drop view absent")
        project.run_sql("drop view spark_catalog.default.view_of_them")
        project.run_sql("drop table spark_catalog.default.plain_files")
        for key in settings:
            project.run_sql(f"reset {key}")

    def test_relations_are_found(self, project: Any) -> None:
        run_dbt(["run"])
        found = project.run_sql("select name, type from lake.{schema}.found", fetch="all")
        wanted = {"plain_files": "table", "view_of_them": "view", "absent": "none", "ROWS": "table"}
        assert {row[0]: row[1] for row in found} == wanted

    def test_docs_go_without_them(self, project: Any) -> None:
        catalog, log = run_dbt_and_capture(["docs", "generate"])
        assert set(catalog.nodes) == {"model.test.found", "model.test.read"}
        assert not catalog.sources and not catalog.errors
        for name in ("spark_catalog", "derby"):
            assert log.count(f"The docs show no columns of the catalog `{name}`, which the profile does not") == 1
