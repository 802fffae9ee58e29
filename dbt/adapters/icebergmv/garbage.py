"""When Python looks for garbage while an operation reads a whole project."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 100_000
"""After which Python looks among them for garbage, some dozens of megabytes; its own is 700."""

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Let Python look for garbage seldom, and never among what is there already.

    The project of 200 models is a million objects that stay. To look through them again and again took a fifth of the
    time of a status. Nothing is altered inside another such block, in whatever thread, nor where the process has
    settings of its own.
    """
    before = gc.get_threshold()
    is_ours = 0 < before[0] < _NEW_OBJECTS and gc.get_freeze_count() == 0 and _ONE_AT_A_TIME.acquire(blocking=False)
    if is_ours:
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        if is_ours:
            gc.set_threshold(*before)
            gc.unfreeze()
            _ONE_AT_A_TIME.release()
