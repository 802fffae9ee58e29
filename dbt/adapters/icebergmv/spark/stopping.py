"""Stops what runs in another thread when it is not wanted any more: a question that takes longer than it is worth."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from dbt.adapters.icebergmv.maintenance.lake import Limit

_LOOK_SECONDS = 0.1
"""How often to look whether the limit is reached."""

_AGAIN_SECONDS = 0.2
"""A statement that is still being planned cannot be stopped yet."""


@contextmanager
def stopped_at(limit: Limit, stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` from the limit on, again and again, until what is inside has ended.

    When this returns, `stop` is not called any more.
    """
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(min(_LOOK_SECONDS, max(0.0, limit.moment - monotonic()))):
            if limit.is_reached:
                stop()
                ended.wait(_AGAIN_SECONDS)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
