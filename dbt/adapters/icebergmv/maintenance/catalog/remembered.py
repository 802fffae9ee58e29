"""Facts that cannot change, kept for the life of the process: what is in a file that nobody writes again.

Iceberg spec, "Overview": metadata files, manifest lists and manifests are immutable. What the current metadata file of
a table IS changes at every commit; that is asked of the catalog each time and is never kept here.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

V = TypeVar("V")


def _one(_: object) -> int:
    return 1


class Remembered(Generic[V]):
    """Values by key, found out once each, also when several threads ask at the same time.

    What was not asked for longest is forgotten when all weights together exceed `most`. A failure is not kept.
    """

    def __init__(self, most: int, weight: Callable[[V], int] = _one) -> None:
        self._most = most
        self._weight = weight
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, Future[V]] = OrderedDict()
        self._weights: dict[Hashable, int] = {}

    def knows(self, key: Hashable) -> bool:
        """Return whether `get` would find the value of a key without finding it out."""
        with self._lock:
            return key in self._weights

    def get(self, key: Hashable, find_out: Callable[[], V]) -> V:
        """Return the value of a key; `find_out` is called when it is not known. Its errors are the caller's."""
        with self._lock:
            known = self._known.get(key)
            if known is None:
                mine = self._known[key] = Future()
            else:
                self._known.move_to_end(key)
        if known is None:
            return self._found(key, mine, find_out)
        if known.exception() is None:
            return known.result()
        # Another thread failed at it, perhaps for reasons of its own.
        return find_out()

    def _found(self, key: Hashable, mine: Future[V], find_out: Callable[[], V]) -> V:
        try:
            value = find_out()
        except BaseException as error:
            with self._lock:
                del self._known[key]
            mine.set_exception(error)
            raise
        mine.set_result(value)
        with self._lock:
            self._weights[key] = self._weight(value)
            while sum(self._weights.values()) > self._most:
                oldest = next(k for k in self._known if k in self._weights)
                del self._known[oldest], self._weights[oldest]
        return value
