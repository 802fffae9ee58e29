"""Settings that take one of a few words, or true and false."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig

Word = TypeVar("Word", bound=str)


def true_or_false(setting: str, value: object, default: bool) -> bool:
    """Return a switch; None means the default. Raises InvalidConfig for anything but true and false."""
    if value is None:
        return default
    if not isinstance(value, bool):
        raise InvalidConfig(f"{setting} is {value!r}. Set it to true or false.")
    return value


def one_of(words: Sequence[Word], setting: str, value: object) -> Word:
    """Return the word that `value` is. Raises InvalidConfig, naming the setting and the words, when it is none."""
    for word in words:
        if value == word:
            return word
    raise InvalidConfig(f"{setting} is {value!r}. Choose one of {', '.join(words)}.")
