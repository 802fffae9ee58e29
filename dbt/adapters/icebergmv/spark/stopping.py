"""Stops what runs in another thread at a moment: a question that takes longer than its answer is worth."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

_AGAIN_SECONDS = 0.2
"""A statement that is still being planned cannot be stopped yet."""


@contextmanager
def stopped_at(moment: float, stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` from the moment on (of `time.monotonic`), again and again, until what is inside has ended.

    When this returns, `stop` is not called any more.
    """
    ended = threading.Event()

    def watch() -> None:
        ended.wait(max(0.0, moment - monotonic()))
        while not ended.is_set():
            stop()
            ended.wait(_AGAIN_SECONDS)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
