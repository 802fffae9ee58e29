"""A Spark that runs already in the process, as in a notebook, is used and left as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dbt.tests.util import run_dbt
from pyspark.sql import SparkSession

from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from dbt.adapters.icebergmv.spark.session import spark_session
from dbt.adapters.icebergmv.spark.settings import SparkRequest


def request(warehouse: Path, logs: Path, **parameters: str) -> SparkRequest:
    return SparkRequest(
        catalog=catalog_settings("lake", str(warehouse), {}, "/"),
        schema="default_schema",
        parameters=tuple(parameters.items()),
        jars=(),
        log_folder=str(logs),
    )


class TestSharedSpark:
    def test_two_profiles_keep_their_catalogs_apart(self, project: Any, tmp_path: Path) -> None:
        project.run_sql("create table lake.{schema}.here using iceberg as select 1 as a")
        other = spark_session(request(tmp_path / "other", tmp_path))
        assert other is spark_session(request(tmp_path / "other", tmp_path))
        other.sql("create namespace lake.elsewhere")
        assert [row[0] for row in other.sql("show namespaces in lake").collect()] == ["elsewhere"]
        assert other.catalog.currentCatalog() == "lake"
        assert project.run_sql("select a from lake.{schema}.here", fetch="all")[0][0] == 1

    def test_a_catalog_of_the_same_name_gets_no_login_of_the_first_one(self, project: Any, tmp_path: Path) -> None:
        prefix = "spark.sql.catalog.lake."
        project.run_sql("set spark.sql.shuffle.partitions")
        started_with = SparkSession.active().sparkContext.getConf()
        assert started_with.get(f"{prefix}jdbc.schema-version") == "V1"
        rest = catalog_settings("lake", None, {"type": "rest", "uri": "http://127.0.0.1:1"}, "/")
        other = spark_session(SparkRequest(rest, "s", (), (), str(tmp_path)))
        given = {key: value for key, value in other.conf.getAll.items() if key.startswith(prefix)}
        ours = {f"{prefix}cache-enabled": "false", f"{prefix}default-namespace": "s"}
        assert given == {f"{prefix}type": "rest", f"{prefix}uri": "http://127.0.0.1:1", **ours}

    def test_dbt_runs_beside_a_session_of_the_user(self, project: Any, tmp_path: Path) -> None:
        notebook = spark_session(request(tmp_path / "notebook", tmp_path))
        notebook.sql("create or replace temporary view mine as select 42 as answer")
        run_dbt(["debug"])
        assert notebook.sql("select answer from mine").collect()[0][0] == 42
