"""What takes too long is stopped, and nothing else is."""

from __future__ import annotations

import time
from threading import Event, Thread

import pytest

from dbt.adapters.icebergmv.maintenance.errors import QueryStopped
from dbt.adapters.icebergmv.maintenance.lake import Limit
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import TOO_LATE, rows_of
from dbt.adapters.icebergmv.spark.cursor import JobTags, SessionHandle
from dbt.adapters.icebergmv.spark.stopping import stopped_at


def test_it_is_stopped_again_and_again_until_it_ends() -> None:
    calls: list[float] = []
    started, third = time.monotonic(), Event()

    def stop() -> None:
        calls.append(time.monotonic() - started)
        if len(calls) == 3:
            third.set()

    with stopped_at(Limit(started + 0.1), stop):
        assert third.wait(5)
    stopped = len(calls)
    assert calls[0] >= 0.1
    time.sleep(0.3)
    assert len(calls) == stopped


def test_what_ends_before_is_not_stopped() -> None:
    calls: list[int] = []
    with pytest.raises(ZeroDivisionError), stopped_at(Limit(time.monotonic() + 0.05), lambda: calls.append(1)):
        raise ZeroDivisionError
    time.sleep(0.1)
    assert not calls


def test_it_is_stopped_when_it_is_not_wanted_any_more() -> None:
    stopped, unwanted = Event(), Event()
    with stopped_at(Limit().or_until(unwanted), stopped.set):
        assert not stopped.wait(0.3)
        unwanted.set()
        assert stopped.wait(5)


def test_what_another_thread_runs_on_the_connection_goes_on() -> None:
    begun, over = Event(), Event()
    cancelled: list[str] = []
    tags = JobTags(add=lambda *_: None, remove=lambda *_: None, cancel=lambda _, tag: cancelled.append(tag))
    handle = SessionHandle(lambda: None, (), tags)  # type: ignore[arg-type, return-value]

    def other() -> None:
        handle.run(run)

    def run(_: object) -> None:
        begun.set()
        over.wait(5)

    with handle.stopped_at(Limit(time.monotonic())):
        thread = Thread(target=other)
        thread.start()
        assert begun.wait(5) and not over.wait(0.3)
    over.set()
    thread.join()
    assert not cancelled


def test_jobs_of_a_question_have_a_tag_of_their_own() -> None:
    """Those of another statement of the connection go on."""
    on: list[str] = []
    cancelled: list[str] = []
    stopped = Event()

    def cancel(_: object, tag: str) -> None:
        cancelled.append(tag)
        stopped.set()

    tags = JobTags(add=lambda _, tag: on.append(tag), remove=lambda _, tag: on.remove(tag), cancel=cancel)
    handle = SessionHandle(lambda: None, (), tags)  # type: ignore[arg-type, return-value]
    with handle.stopped_at(Limit(time.monotonic())):
        assert handle.run(lambda _: stopped.wait(5) and len(on)) == 2
    assert len({*cancelled}) == 1 and not on
    before = len(cancelled)
    assert handle.run(lambda _: len(on)) == 1 and cancelled[0] not in on
    assert len(cancelled) == before


def test_a_question_that_is_stopped_comes_too_late() -> None:
    def run(sql: str) -> list[list[object]]:
        raise QueryStopped

    assert rows_of("SELECT 1", run) == TOO_LATE
