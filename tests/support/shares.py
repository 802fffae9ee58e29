"""A share of the parameters of a slow test in every run, all of them in `make long`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_of(share: int, values: Iterable[Any]) -> list[Any]:
    """Return parameters of a test, one value or tuple of values each: the first of every `share` is in every run."""
    return [
        pytest.param(*(v if isinstance(v, tuple) else (v,)), marks=(pytest.mark.long,) if i % share else ())
        for i, v in enumerate(values)
    ]
