"""When Python looks for garbage while an operation reads a whole project."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 20_000
"""After which Python looks among them for garbage; its own is 700."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Let Python look for garbage seldom, and never among what is there already.

    The project of 200 models is a million objects that stay. To look through them again and again took a fifth of the
    time of a status.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
