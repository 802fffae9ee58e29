"""A missing driver is named, with the line that brings it."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.spark.drivers import DRIVERS, lack_of_driver
from dbt.adapters.icebergmv.spark.errors import spark_message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "ClassNotFoundException: software.amazon.awssdk.services.kms.model.EncryptionAlgorithmSpec",
            "without the jar iceberg-aws-bundle. Add `client.region: <region>` to `catalog_properties`, which",
        ),
        (
            "SQLException: No suitable driver found for jdbc:postgresql://h/d",
            f"without the jar postgresql. Add `{DRIVERS['postgresql']}` to `jars`",
        ),
        (
            "SQLException: No suitable driver found for jdbc:sqlite:c.db",
            f"without the jar sqlite-jdbc. Add `{DRIVERS['sqlite']}` to `jars`",
        ),
    ],
)
def test_lack_of_a_driver(text: str, expected: str) -> None:
    assert expected in (lack_of_driver(text) or "")
    assert spark_message(Exception(text)).startswith("Cannot use a catalog: Spark was started without the jar ")


def test_other_errors_are_left_alone() -> None:
    assert lack_of_driver("ClassNotFoundException: com.example.Thing") is None
    assert spark_message(Exception("No suitable place")) == "No suitable place"
