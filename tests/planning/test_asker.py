"""Questions are run one after the other, or at the same time, with the same answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from threading import Barrier, Event, Lock, get_ident

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.icebergmv.maintenance.errors import QueryStopped
from dbt.adapters.icebergmv.maintenance.lake import Limit
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import Asker, one_by_one

Rows = list[list[object]]
THREADS = 2


@pytest.fixture(scope="module")
def beside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(THREADS) as threads:
        yield threads


def at_once(beside: ThreadPoolExecutor, limit: Limit | None = None) -> Asker:
    return Asker(lambda sql, limit: [[sql]], beside.submit, limit or Limit())


@given(what=st.lists(st.integers(0, 5), max_size=8), last=st.integers(0, 5), deep=st.integers(0, 2))
def test_the_answers_are_those_of_one_after_the_other(
    beside: ThreadPoolExecutor, what: list[int], last: int, deep: int
) -> None:
    """Also where one of them asks several itself, and where there are more of them than threads."""

    def ask_one(one: int, run: Asker, level: int = deep) -> object:
        if level == 0:
            return run(str(one))
        return run.each(lambda n, inner: ask_one(n, inner, level - 1), [one, one + 1, one + 2])

    def expected_of(one: int, level: int = deep) -> object:
        deeper: list[object] = [expected_of(n, level - 1) for n in range(one, one + 3) if level]
        return deeper or [[str(one)]]

    found = what[: what.index(last) + 1] if last in what else what
    for asker in (at_once(beside), one_by_one(lambda sql: [[sql]])):
        assert asker.each(ask_one, what, lambda one: one != expected_of(last)) == [expected_of(one) for one in found]


def test_several_run_at_the_same_time(beside: ThreadPoolExecutor) -> None:
    together = Barrier(THREADS + 1, timeout=10)
    asker = Asker(lambda sql, limit: [[together.wait()]], beside.submit, Limit())
    asker.each(lambda n, run: run(str(n)), range(THREADS + 1))


def test_a_thread_that_waits_asks_what_none_has_begun() -> None:
    """One by itself is asked in the thread that asks, without any other."""
    busy = Event()
    with ThreadPoolExecutor(1) as beside:
        beside.submit(busy.wait, 10)
        asker = Asker(lambda sql, limit: [[get_ident()]], beside.submit, Limit())
        found = asker.each(lambda n, run: run(str(n))[0][0], range(3))
        busy.set()
    assert found == [get_ident()] * 3


@pytest.mark.parametrize("threads", [0, THREADS])
def test_what_is_in_vain_is_stopped_or_not_begun(threads: int) -> None:
    """What was asked for an answer after the last one is waited for, as it is on the connection."""
    begun, ended = set[str](), set[str]()
    other = Event()

    def ask(sql: str, limit: Limit) -> Rows:
        begun.add(sql)
        if sql == "0":
            assert not threads or other.wait(5)
            return []
        other.set()
        while not limit.is_reached:
            time.sleep(0.01)
        ended.add(sql)
        raise QueryStopped

    with ThreadPoolExecutor(max(1, threads)) as beside:
        busy = Event()
        if not threads:
            beside.submit(busy.wait, 10)
        asker = Asker(ask, beside.submit, Limit())
        found = asker.each(lambda n, run: run(str(n)), range(9), bool)
        assert found == [[]] and begun - ended == {"0"} and len(ended) <= threads
        busy.set()
    assert len(begun) <= threads + 1


def test_what_this_thread_asks_meanwhile_is_stopped() -> None:
    """The second answer is the last one; it comes while this thread, which waits for it, asks the third question."""
    third = Event()

    def ask(sql: str, limit: Limit) -> Rows:
        if sql == "1":
            assert third.wait(5)
            return []
        if sql == "2":
            third.set()
            while not limit.is_reached:
                time.sleep(0.01)
            raise QueryStopped
        return [[sql]]

    with ThreadPoolExecutor(1) as beside:
        asker = Asker(ask, beside.submit, Limit(time.monotonic() + 20))
        assert asker.each(lambda n, run: run(str(n)), range(3), bool) == [[["0"]], []]
        assert not asker.limit.is_reached


def test_those_that_go_on_are_not_stopped_by_others(beside: ThreadPoolExecutor) -> None:
    """Where one of several is in vain, what others ask goes on."""
    asker = Asker(lambda sql, limit: [[limit.is_reached]], beside.submit, Limit())

    def ask_one(one: int, run: Asker) -> bool:
        run.each(lambda n, inner: inner(f"{one} {n}"), range(3), lambda _: False)
        return bool(run(f"after {one}")[0][0])

    assert asker.each(ask_one, range(6)) == [False] * 6


def test_an_error_comes_out(beside: ThreadPoolExecutor) -> None:
    def ask_one(one: int, run: Asker) -> float:
        return 1 / (one - 4)

    with pytest.raises(ZeroDivisionError):
        at_once(beside).each(ask_one, range(9))
    assert at_once(beside).each(ask_one, range(9), lambda found: found > -1 / 3) == [-1 / 4, -1 / 3]


@pytest.mark.parametrize("is_at_once", [False, True])
def test_a_text_is_asked_once(beside: ThreadPoolExecutor, is_at_once: bool) -> None:
    lock, said = Lock(), list[str]()

    def run(sql: str) -> Rows:
        with lock:
            said.append(sql)
        time.sleep(0.05)
        return [[sql]]

    asker = Asker(lambda sql, limit: run(sql), beside.submit, Limit()) if is_at_once else one_by_one(run)
    found = asker.each(lambda n, inner: inner("same"), range(6))
    assert found == [[["same"]]] * 6 and said == ["same"]


def test_who_waits_for_a_text_that_is_stopped_runs_it(beside: ThreadPoolExecutor) -> None:
    said = list[str]()
    begun = Event()

    def ask(sql: str, limit: Limit) -> Rows:
        said.append(sql)
        if len(said) == 1:
            begun.set()
            time.sleep(0.1)
            raise QueryStopped
        return [[sql]]

    def ask_one(one: int, run: Asker) -> object:
        if one:
            assert begun.wait(5)
            return run("same")
        with pytest.raises(QueryStopped):
            run("same")
        return None

    assert Asker(ask, beside.submit, Limit()).each(ask_one, range(2)) == [None, [["same"]]]
    assert said == ["same"] * 2


def test_an_error_of_a_text_is_not_kept() -> None:
    failing = iter([True, False])

    def run(sql: str) -> Rows:
        if next(failing):
            raise ZeroDivisionError
        return [[1]]

    asker = one_by_one(run)
    with pytest.raises(ZeroDivisionError):
        asker("SELECT 1")
    assert asker("SELECT 1") == [[1]]


def test_other_threads_know_what_this_one_does(beside: ThreadPoolExecutor) -> None:
    """dbt knows by context variables which model a line of the log is about."""
    model: ContextVar[str] = ContextVar("model", default="")
    model.set("orders")
    found = at_once(beside).each(lambda n, run: model.get(), range(9))
    assert found == ["orders"] * 9
