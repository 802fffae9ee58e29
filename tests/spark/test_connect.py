"""The address of a Spark Connect server, and what is said when its client is not installed."""

from __future__ import annotations

import socket
import sys
import threading
from contextlib import ExitStack, closing, suppress

import pytest

from dbt.adapters.icebergmv.spark.connect import connect_session, connect_url
from dbt.adapters.icebergmv.spark.errors import SparkUnavailable
from dbt.adapters.icebergmv.spark.server import ServerAddress, ServerRequest


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (ServerAddress("server", "h", 15002), "sc://h:15002/"),
        (ServerAddress("server", "::1", 15002), "sc://[::1]:15002/"),
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


def test_a_server_that_never_answers_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes connections and speaks HTTP/2, as one whose threads hang. Only the deadline of the call is shortened."""
    monkeypatch.setattr("dbt.adapters.icebergmv.spark.connect.FIRST_ANSWER_SECONDS", 1)
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        greeting = threading.Thread(target=_greet, args=[listener], daemon=True)
        greeting.start()
        address = ServerAddress("Spark Connect server", "127.0.0.1", listener.getsockname()[1], user="me")
        with pytest.raises(SparkUnavailable, match="takes connections and has not answered a request for 1 seconds"):
            connect_session(ServerRequest(address, "lake", ()), lambda: None)
        # It ends the accept that waits; close alone does not.
        listener.shutdown(socket.SHUT_RDWR)
        greeting.join()


def _greet(listener: socket.socket) -> None:
    """Send the empty SETTINGS frame that opens HTTP/2, and nothing else."""
    with ExitStack() as connections, suppress(OSError):
        while True:
            connection = connections.enter_context(listener.accept()[0])
            connection.sendall(b"\0\0\0\4\0\0\0\0\0")
