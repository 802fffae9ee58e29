"""The address of a Spark Connect server, and what is said when its client is not installed."""

from __future__ import annotations

import sys

import pytest

from dbt.adapters.icebergmv.spark.connect import connect_session, connect_url
from dbt.adapters.icebergmv.spark.errors import SparkUnavailable
from dbt.adapters.icebergmv.spark.server import ServerAddress, ServerRequest


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (ServerAddress("server", "h", 15002), "sc://h:15002/"),
        (
            ServerAddress("server", "h", 1, use_ssl=True, token="t", user="me"),
            "sc://h:1/;use_ssl=true;token=t;user_id=me",
        ),
    ],
)
def test_url(address: ServerAddress, url: str) -> None:
    assert connect_url(address) == url


def test_missing_packages_are_named_with_the_line_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql.connect.session", None)
    request = ServerRequest(ServerAddress("server", "nowhere", 1), "lake", ())
    with pytest.raises(SparkUnavailable, match=r"pip install 'dbt-icebergmv\[connect\]'"):
        connect_session(request, lambda: None)
