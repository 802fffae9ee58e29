"""What Spark is started with, and where each part of it travels."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from dbt.adapters.icebergmv.spark.settings import EXTENSIONS, launch_conf, runtime_conf, spark_conf

CATALOG = catalog_settings("lake", "/wh", {}, "/project")


def test_the_user_wins() -> None:
    conf = spark_conf(CATALOG, "analytics", {"spark.sql.ansi.enabled": "true", "spark.master": "local[1]"}, "/tmp/x")
    assert conf["spark.sql.ansi.enabled"] == "true"
    assert conf["spark.master"] == "local[1]"
    assert conf["spark.sql.defaultCatalog"] == "lake"
    assert conf["spark.sql.catalog.lake.default-namespace"] == "analytics"
    assert conf["spark.sql.catalog.lake.cache-enabled"] == "false"


@pytest.mark.parametrize(("cores", "size"), [(2, 64), (4, 32), (64, 16)])
def test_one_task_reads_several_small_files(cores: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    key = "spark.sql.iceberg.read.split-size"
    assert spark_conf(CATALOG, "s", {}, "/x")[key] == str(size * 1024 * 1024)
    assert spark_conf(CATALOG, "s", {key: "1000"}, "/x")[key] == "1000"
    assert key not in spark_conf(CATALOG, "s", {"spark.master": "spark://host:7077"}, "/x")


def test_no_iceberg_catalog_keeps_tables_in_a_cache() -> None:
    user = {
        "spark.sql.catalog.raw": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.kept": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.kept.cache-enabled": "true",
        "spark.sql.catalog.shop": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    }
    conf = spark_conf(CATALOG, "s", user, "/x")
    found = {key: value for key, value in conf.items() if key.endswith("cache-enabled")}
    assert found == {
        "spark.sql.catalog.lake.cache-enabled": "false",
        "spark.sql.catalog.raw.cache-enabled": "false",
        "spark.sql.catalog.kept.cache-enabled": "true",
    }


def test_iceberg_extensions_stay_beside_the_users() -> None:
    assert spark_conf(CATALOG, "s", {"spark.sql.extensions": "my.Ext"}, "/x")["spark.sql.extensions"] == (
        f"{EXTENSIONS},my.Ext"
    )


def test_no_secret_on_the_command_line() -> None:
    catalog = catalog_settings("lake", None, {"type": "rest", "uri": "u", "token": "t"}, "/project")
    user = {
        "spark.hadoop.fs.s3a.secret.key": "k",
        "spark.ssl.keyPassword": "p",
        "spark.driver.memory": "4g",
        "spark.jars.repositories": "https://bot:hunter2@repo.example/maven",
        "spark.executor.extraJavaOptions": "-Djavax.net.ssl.trustStorePassword=hunter2",
    }
    launched = launch_conf(spark_conf(catalog, "s", user, "/x"))
    assert launched["spark.driver.memory"] == "4g"
    assert not any(key.startswith(("spark.sql", "spark.hadoop")) or "assword" in key for key in launched)
    assert "hunter2" not in str(launched)


def test_what_only_the_launch_can_take_is_there() -> None:
    user = {
        "spark.driver.extraJavaOptions": "-Djavax.net.ssl.trustStorePassword=changeit",
        "spark.jars.packages": "a:b:1",
        "spark.jars.repositories": "https://bot:hunter2@repo.example/maven",
    }
    assert user.items() <= launch_conf(spark_conf(CATALOG, "s", user, "/x")).items()


def test_running_session_takes_no_static_setting() -> None:
    taken = runtime_conf(spark_conf(CATALOG, "s", {}, "/x"))
    assert "spark.sql.extensions" not in taken
    assert taken["spark.sql.catalog.lake.type"] == "jdbc"
