"""A mapping whose values are found out when somebody wants to know them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TypeVar

_V = TypeVar("_V")


class OnDemand(Mapping[int, _V]):
    """Holds the keys for which a function gives a value; each is called once at the most. None: there is no value."""

    def __init__(self, values: Mapping[int, Callable[[], _V | None]]) -> None:
        self._values = {key: cache(value) for key, value in values.items()}

    def __getitem__(self, key: int) -> _V:
        """Return the value of a key. Raises KeyError where there is none."""
        found = self._values[key]()
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[int]:
        return (key for key in self._values if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
