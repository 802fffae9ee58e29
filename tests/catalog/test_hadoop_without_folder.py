"""A Hadoop catalog in which nothing was made has no folder, and no namespaces, however Spark words it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.over_spark.reader import SparkReader
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable


def reader(message: str) -> SparkReader:
    def run(sql: str) -> Sequence[Sequence[object]]:
        raise CatalogUnavailable(message)

    return SparkReader("lake", run)


@pytest.mark.parametrize(
    "message",
    [
        "NoSuchNamespaceException: Namespace does not exist: ",
        "org.apache.iceberg.exceptions.NoSuchNamespaceException: Namespace does not exist: ",
        "(org.apache.iceberg.exceptions.NoSuchNamespaceException) Namespace does not exist: ",
    ],
    ids=["session", "thrift", "connect"],
)
def test_it_is_empty(message: str) -> None:
    assert reader(message).namespaces() == []


def test_any_other_error_is_one() -> None:
    with pytest.raises(CatalogUnavailable):
        reader("(java.io.IOException) Namespace does not exist: ").namespaces()
