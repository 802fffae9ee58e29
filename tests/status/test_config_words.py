"""Settings that are one of a few words."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.status.configured.config_words import one_of

WORDS = ("auto", "full")


def test_a_word_is_itself() -> None:
    assert [one_of(WORDS, "refresh_policy", word) for word in WORDS] == list(WORDS)


@pytest.mark.parametrize("value", ["Auto", "", None, 1, ["auto"]])
def test_anything_else_is_refused_with_the_words(value: object) -> None:
    with pytest.raises(InvalidConfig) as caught:
        one_of(WORDS, "refresh_policy", value)
    assert caught.value.cause == f"refresh_policy is {value!r}. Choose one of auto, full."
