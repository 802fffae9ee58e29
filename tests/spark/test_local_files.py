"""When tables are written through a file system that starts no process for a file."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.catalog_properties import catalog_settings, settings_for_spark
from dbt.adapters.icebergmv.spark.local_files import FILE_SYSTEM, is_wanted, local_files_conf

FOLDER = catalog_settings("lake", "/wh", {}, "/project")


def test_the_default_catalog_has_it() -> None:
    assert is_wanted(FOLDER, ())
    assert local_files_conf(FOLDER) == {
        "spark.sql.catalog.lake.hadoop.fs.file.impl": FILE_SYSTEM,
        "spark.sql.catalog.lake.hadoop.fs.file.impl.disable.cache": "true",
    }


@pytest.mark.parametrize("jar", ["/jars/iceberg.jar", "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"])
def test_nothing_else_is_fetched_where_jars_are_given_by_hand(jar: str) -> None:
    assert not is_wanted(FOLDER, (jar,))


OTHERS = {
    "a server": catalog_settings("lake", None, {"type": "rest", "uri": "http://h"}, "/project"),
    "a folder that is listed": settings_for_spark("lake", {"type": "hadoop", "warehouse": "/wh"}, "/project"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_catalogs_do_without(name: str) -> None:
    assert not is_wanted(OTHERS[name], ())
