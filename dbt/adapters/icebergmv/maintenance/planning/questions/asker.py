"""Runs questions, each text once: one after the other, or some of them at the same time.

However little a question reads, it takes Spark a quarter of a second or more to plan it, in one thread. So where
several tables changed, what is asked of one does not wait for what is asked of another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from threading import Event, Lock
from typing import Generic, TypeAlias, TypeVar

from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered
from dbt.adapters.icebergmv.maintenance.lake import Lake, Limit, LimitedSpark, Spark

_Rows: TypeAlias = Sequence[Sequence[object]]
What = TypeVar("What")
Found = TypeVar("Found")

_MOST_TEXTS = 1000
"""So many questions of one refresh are remembered with their answers."""


def _answers() -> Remembered[_Rows]:
    return Remembered(_MOST_TEXTS)


@dataclass(frozen=True)
class Asker:
    """Runs questions in this thread and, begun by `beside`, in others. What is in vain by other answers is stopped."""

    ask: LimitedSpark
    beside: Callable[[Callable[[], object]], object]
    limit: Limit
    _answers: Remembered[_Rows] = field(default_factory=_answers)

    def __call__(self, sql: str) -> _Rows:
        """Run a question and return its rows. Raises QueryStopped at the limit."""
        return self._answers.get(sql, partial(self.ask, sql, self.limit))

    def each(
        self,
        ask_one: Callable[[What, Asker], Found],
        what: Sequence[What],
        goes_on: Callable[[Found], bool] = lambda _: True,
    ) -> list[Found]:
        """Return what is found of each, in their order, up to and with the first after which it does not go on.

        `ask_one` is called with what runs its questions. A thread that waits for another one takes the next that none
        has begun. So it ends however few threads there are, and also where `ask_one` itself asks several at once.
        """
        unwanted = Event()
        inner = replace(self, limit=self.limit.or_until(unwanted))
        turns = [_Turn(partial(copy_context().run, ask_one, one, inner)) for one in what]

        def decide(_: object) -> None:
            """Stop the others as soon as the last answer that counts is there."""
            for turn in takewhile(lambda turn: turn.found.done(), turns):
                if turn.found.exception() is not None or not goes_on(turn.found.result()):
                    unwanted.set()
                    return

        for turn in turns:
            turn.found.add_done_callback(decide)
        for turn in turns[1:]:
            self.beside(turn.take)
        found: list[Found] = []
        try:
            for n, turn in enumerate(turns):
                while not (turn.found.done() or unwanted.is_set()) and any(other.take() for other in turns[n:]):
                    pass
                found.append(turn.found.result())
                if not goes_on(found[-1]):
                    break
            return found
        finally:
            unwanted.set()
            wait([turn.found for turn in turns if not turn.leave()])


class _Turn(Generic[Found]):
    """One of several things to do, which is done by the first thread that comes to it."""

    def __init__(self, work: Callable[[], Found]) -> None:
        self._work = work
        self._begun = Lock()
        self.found: Future[Found] = Future()

    def take(self) -> bool:
        """Do it, unless a thread has begun; return whether this one did it."""
        if not self._begun.acquire(blocking=False):
            return False
        try:
            found = self._work()
        except BaseException as error:
            self.found.set_exception(error)
            if not isinstance(error, Exception):
                raise
        else:
            self.found.set_result(found)
        return True

    def leave(self) -> bool:
        """Let no thread begin; return whether none had."""
        return self._begun.acquire(blocking=False)


def one_by_one(run: Spark) -> Asker:
    """Return what runs one question after the other."""
    return Asker(lambda sql, _: run(sql), _nobody, Limit())


def asker_of(lake: Lake, limit: Limit) -> Asker:
    """Return what runs questions on a lake within a limit, as far as they can be stopped there."""
    return one_by_one(lake.spark) if lake.ask is None else Asker(lake.ask, lake.beside or _nobody, limit)


def _nobody(_: Callable[[], object]) -> None:
    """Begin nothing: who waits for an answer asks the question then."""
