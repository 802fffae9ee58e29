"""What work costs, in a way that does not depend on how fast or how busy the machine is."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_ROUNDS = 3
# The unit is short: one measure alone may be a third or three times what it is on a quiet machine.
_UNITS_PER_ROUND = 8


def cost(work: Callable[[], object], rounds: int = _ROUNDS) -> float:
    """Return the CPU time of the work in units of a fixed piece of Python work, which is measured beside it.

    A unit is about 10 ms on a machine of 2024. Of several rounds the cheapest counts.
    """
    measured = [(_unit_seconds(), _seconds(work), _unit_seconds()) for _ in range(rounds)]
    return min(whole for _, whole, _ in measured) / min(min(before, after) for before, _, after in measured)


def growth(work: Callable[[int], object], small: int, large: int) -> float:
    """Return how many times the work of the size `large` costs what that of the size `small` does."""
    measured = [(_seconds(lambda: work(small)), _seconds(lambda: work(large))) for _ in range(_ROUNDS)]
    return min(seconds for _, seconds in measured) / min(seconds for seconds, _ in measured)


def _unit_seconds() -> float:
    return min(_seconds(_unit) for _ in range(_UNITS_PER_ROUND))


def _seconds(work: Callable[[], object]) -> float:
    """Measure without the collector of cycles, as timeit does: what it costs depends on what else is in memory."""
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        gc.enable()


def _unit() -> None:
    """Make, look up and compare small objects, as the engine does."""
    known: dict[tuple[int, str], list[int]] = {}
    for n in range(48_000):
        known.setdefault((n % 97, str(n % 89)), []).append(n)
    assert sorted(known)[0] == (0, "0")
