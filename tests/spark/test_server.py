"""What is asked of a Spark server before anything else is sent, and what is said where it does not fit."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence

import pytest
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.icebergmv.spark.errors import SparkUnavailable
from dbt.adapters.icebergmv.spark.server import (
    ServerAddress,
    ServerRequest,
    check_catalog,
    check_own_session,
    check_reachable,
    check_server,
)
from dbt.adapters.icebergmv.spark.settings import EXTENSIONS

ADDRESS = ServerAddress("Spark Connect server", "spark.example", 15002)
REQUEST = ServerRequest(ADDRESS, "lake", ())
GOOD = {
    "SELECT version()": "4.1.4 abc",
    "SET `spark.sql.extensions`": f"my.Ext,{EXTENSIONS}",
    "SET `spark.sql.catalog.lake`": "org.apache.iceberg.spark.SparkCatalog",
    "SELECT `lake`.`system`.`iceberg_version`()": "1.12.0",
    "SHOW NAMESPACES IN `lake`": "raw `with-dash`",
}


def check(answers: dict[str, str] | None = None, here: list[str] | None = None) -> list[str]:
    """Check a server that gives the answers, changed by the start of the statement; return the statements."""
    asked: list[str] = []

    def run(sql: str) -> Sequence[Sequence[object]]:
        asked.append(sql)
        value = next((text for start, text in (answers or {}).items() if start in sql), GOOD[sql])
        if value == "broken":
            raise DbtDatabaseError("no such host")
        if sql.startswith("SHOW"):
            return [(name,) for name in value.split()]
        return [("key", value)] if sql.startswith("SET") else [(value,)]

    check_server(REQUEST, run)
    check_catalog(REQUEST, run, lambda: here)
    return asked


def test_a_good_server_is_asked_four_things() -> None:
    assert check() == list(GOOD)[:-1]


def test_its_catalog_is_the_one_that_is_read_here() -> None:
    assert check(here=["raw", "raw.below", "with-dash"]) == list(GOOD)
    for others in ([], ["raw"], ["raw", "with-dash", "more"]):
        with pytest.raises(SparkUnavailable, match="`lake` has other schemas than the catalog that the profile"):
            check(here=others)


def test_a_name_with_a_dot_is_compared_by_its_first_part() -> None:
    """PyIceberg shows `a.b` for one part with a dot and for two parts."""
    check({"SHOW": "raw `a.b`"}, here=["a.b", "raw"])


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (
            {"version()": "3.5.1 abc"},
            "it runs Spark 3.5.1. Use a server with Spark 4.0 or 4.1",
        ),
        ({"extensions": "my.Ext"}, "runs without Iceberg's extensions. Start it with `spark.sql.extensions="),
        ({"catalog.lake": "<undefined>"}, "has no catalog `lake`. Start it with the settings `spark.sql.catalog.lake`"),
        ({"iceberg_version": "1.10.1"}, "catalog `lake` is of Iceberg 1.10.1. Start it with Iceberg 1.11 or newer"),
        ({"iceberg_version": "broken"}, r"catalog `lake` cannot be opened \(no such host\)"),
    ],
)
def test_what_does_not_fit_is_named_with_its_mend(answers: dict[str, str], message: str) -> None:
    with pytest.raises(SparkUnavailable, match=message):
        check(answers)


def test_clients_of_a_thrift_server_may_not_share_a_session() -> None:
    check_own_session(REQUEST, lambda sql: [("key", "false")])
    with pytest.raises(SparkUnavailable, match="all of its clients share one session"):
        check_own_session(REQUEST, lambda sql: [("key", "TRUE")])


@pytest.fixture
def port() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield int(server.getsockname()[1])


def test_a_server_that_listens_is_reachable(port: int) -> None:
    check_reachable(ServerAddress("Spark Thrift server", "127.0.0.1", port))


def test_a_server_that_is_down_is_told_at_once(port: int) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        down = int(bound.getsockname()[1])
        with pytest.raises(
            SparkUnavailable, match=f"Cannot reach the Spark Thrift server at 127.0.0.1:{down}: .*`host`"
        ):
            check_reachable(ServerAddress("Spark Thrift server", "127.0.0.1", down))
