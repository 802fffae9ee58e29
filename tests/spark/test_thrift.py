"""The Hive protocol's client: what a lost connection, a refusal and an order to stop do. Faults are injected here."""

from __future__ import annotations

import re
import sys
import threading
from typing import Any

import pytest
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from dbt.adapters.icebergmv.spark.server import ServerAddress, ServerRequest
from dbt.adapters.icebergmv.spark.thrift import ThriftCursor, ThriftHandle

exc = pytest.importorskip("pyhive.exc", reason="the packages of `thrift` are not installed")
ttypes = pytest.importorskip("TCLIService.ttypes")
ADDRESS = ServerAddress("Spark Thrift server", "h", 10000)
STATE = ttypes.TOperationState


class Server:
    """A connection whose statement goes through the given states; `fault` is raised by the call of that name."""

    def __init__(self, states: list[int], message: str | None = None, **faults: Exception) -> None:
        self.states, self.message, self.faults = states, message, faults
        self.calls: list[str] = []
        self.description = [("a", "DECIMAL_TYPE", None, None, None, None, True)]

    def cursor(self) -> Server:
        return self

    def __getattr__(self, name: str) -> Any:
        def call(*_: object, **__: object) -> Any:
            self.calls.append(name)
            if name in self.faults:
                raise self.faults[name]
            if name == "poll":
                return ttypes.TGetOperationStatusResp(operationState=self.states.pop(0), errorMessage=self.message)
            return [(1,), (2,)]

        return call


def cursor_on(server: Server) -> ThriftCursor:
    return ThriftCursor(lambda: server, threading.Lock(), ADDRESS, ("s3cret!",))


def test_a_statement_is_waited_for() -> None:
    server = Server([STATE.PENDING_STATE, STATE.RUNNING_STATE, STATE.FINISHED_STATE])
    cursor = cursor_on(server)
    cursor.execute("select a;")
    assert server.calls == ["execute", "poll", "poll", "poll"]
    assert cursor.description == [("a", "decimal", None, None, None, None, True)]
    assert cursor.fetchall() == [(1,), (2,)]
    assert server.calls[-1] == "close", "the server would keep the rows for as long as the session"
    assert cursor.description, "dbt asks for it when the rows are there"


def test_a_command_has_no_rows_to_fetch() -> None:
    server = Server([STATE.FINISHED_STATE])
    server.description = []
    cursor = cursor_on(server)
    cursor.execute("create table t (a int)")
    assert cursor.fetchall() == []
    assert "fetchall" not in server.calls


@pytest.mark.parametrize(
    ("server", "message"),
    [
        (Server([STATE.ERROR_STATE], "no table s3cret!\n\tat org.x.Y(Z.java)"), r"^\s*no table \*+$"),
        (Server([STATE.CANCELED_STATE]), "The statement was canceled"),
        (
            Server([], poll=ConnectionResetError("reset by peer")),
            r"the Spark Thrift server at h:10000 was lost \(reset",
        ),
        (Server([], execute=EOFError()), r"was lost \(EOFError\). Check the server, then run again"),
        (Server([], execute=exc.OperationalError("no")), "no"),
    ],
)
def test_what_goes_wrong_is_said_in_one_message(server: Server, message: str) -> None:
    with pytest.raises(DbtDatabaseError) as raised:
        cursor_on(server).execute("insert into t select 1")
    assert re.search(message, str(raised.value.msg)), raised.value.msg
    assert server.calls.count("execute") == 1, "the statement may have done its work"


def test_nothing_runs_after_an_order_to_stop() -> None:
    handle = ThriftHandle(ServerRequest(ADDRESS, "lake", ()), (), lambda: None)
    handle.cancel()
    with pytest.raises(DbtRuntimeError, match="dbt was interrupted"):
        handle.cursor().execute("select 1")


def test_missing_packages_are_named_with_the_line_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyhive", None)
    handle = ThriftHandle(ServerRequest(ADDRESS, "lake", ()), (), lambda: None)
    with pytest.raises(DbtRuntimeError, match=r"pip install 'dbt-icebergmv\[thrift\]'"):
        handle.cursor().execute("select 1")


def test_nothing_is_cancelled_between_statements() -> None:
    """The server would not read the request to its end."""
    server = Server([STATE.FINISHED_STATE])
    cursor = cursor_on(server)
    cursor.execute("select 1")
    vars(server)["_operationHandle"] = None
    cursor.cancel()
    assert "cancel" not in server.calls
    vars(server)["_operationHandle"] = "of the statement"
    cursor.cancel()
    assert server.calls[-1] == "cancel"


def test_a_statement_that_was_stopped_is_closed() -> None:
    server = Server([STATE.CANCELED_STATE])
    with pytest.raises(DbtDatabaseError, match="canceled"):
        cursor_on(server).execute("select 1")
    assert server.calls[-1] == "close"
