"""One session for each request in a process."""

from __future__ import annotations

import time

import pytest

from dbt.adapters.icebergmv.spark.errors import SparkUnavailable
from dbt.adapters.icebergmv.spark.shared import SharedSessions


def test_a_session_is_opened_once_for_its_request_and_anew_when_it_has_ended() -> None:
    alive, opened = {"first", "second"}, iter(["first", "other", "second"])
    sessions: SharedSessions[str] = SharedSessions(lambda session: session in alive)
    assert [sessions.get(key, lambda: next(opened)) for key in ("a", "a", "b")] == ["first", "first", "other"]
    alive.remove("first")
    assert sessions.get("a", lambda: next(opened)) == "second"


def test_a_failure_is_raised_again_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now, tries = [100.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    sessions: SharedSessions[str] = SharedSessions(lambda _: True)

    def fail() -> str:
        tries.append(now[0])
        raise SparkUnavailable("down")

    for later in (0, 59, 1):
        now[0] += later
        with pytest.raises(SparkUnavailable, match="down"):
            sessions.get("a", fail)
    assert tries == [100, 160]
    assert sessions.get("b", lambda: "up") == "up"
