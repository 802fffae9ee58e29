"""Random choices that can be replayed and made smaller.

Everything random in a case comes from one sequence of small integers, where 0 is the simplest choice. A shorter
sequence, or one with smaller numbers, makes a simpler case; the shrinker looks for one that is still interesting.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


HISTORIES_PER_VIEW = 3
"""Analysing a view costs more than a history of it, so neighbouring seeds share one."""


class Choices:
    """A source of choices: fresh ones from a seed, or those of a recorded sequence followed by zeros."""

    def __init__(self, seed: int | None = None, recorded: Sequence[int] = ()) -> None:
        self._seed = seed
        self._random = random.Random(seed // HISTORIES_PER_VIEW) if seed is not None else None
        self._recorded = recorded
        self.made: list[int] = []

    def view_is_made(self) -> None:
        """Go on with choices of this seed's own, where they were those of a view that other seeds share."""
        self._random = random.Random(self._seed) if self._seed is not None else None

    def below(self, limit: int) -> int:
        """Return an integer in [0, limit)."""
        return self._choose(limit, lambda r: int(r.random() * limit))

    def chance(self, probability: float) -> bool:
        """Return True with the probability; False is the simpler choice."""
        return self._choose(2, lambda r: int(r.random() < probability)) == 1

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options; the first is the simplest."""
        return options[self.below(len(options))]

    def weighted(self, options: Sequence[tuple[float, T]]) -> T:
        """Return one of the options, each as likely as its weight says."""
        weights = [w for w, _ in options]
        index = self._choose(len(options), lambda r: r.choices(range(len(options)), weights)[0])
        return options[index][1]

    def _choose(self, limit: int, draw: Callable[[random.Random], int]) -> int:
        position = len(self.made)
        if self._random is not None:
            value = draw(self._random)
        else:
            value = min(self._recorded[position], limit - 1) if position < len(self._recorded) else 0
        self.made.append(value)
        return value


def shrink(found: Sequence[int], interesting: Callable[[Sequence[int]], bool], seconds: float) -> list[int]:
    """Return a smaller sequence that is still interesting, the smallest found in the time given."""
    best = list(found)
    deadline = time.monotonic() + seconds
    improved = True
    while improved:
        improved = False
        for candidate in _smaller(best):
            if time.monotonic() > deadline:
                return best
            if (len(candidate), candidate) < (len(best), best) and interesting(candidate):
                best, improved = candidate, True
                break
    return best


def _smaller(best: list[int]) -> Iterator[list[int]]:
    for size in (64, 32, 16, 8, 4, 3, 2, 1):
        for start in range(max(len(best) - size, 0), -1, -max(size // 2, 1)):
            yield best[:start] + best[start + size :]
    for size in (8, 4, 2, 1):
        for start in range(0, len(best), size):
            if any(best[start : start + size]):
                yield best[:start] + [0] * len(best[start : start + size]) + best[start + size :]
    for position, value in enumerate(best):
        for lower in {value // 2, value - 1} - {value, -1}:
            yield [*best[:position], lower, *best[position + 1 :]]
