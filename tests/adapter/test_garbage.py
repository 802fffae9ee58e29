"""Python's search for garbage while a project is read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from dbt.adapters.icebergmv.garbage import seldom_collected


@pytest.fixture(autouse=True)
def before() -> Iterator[tuple[int, int, int]]:
    """Give what is set before a test, and set it again; tests/conftest.py has frozen what is there."""
    found = gc.get_threshold()
    gc.unfreeze()
    yield found
    gc.set_threshold(*found)
    gc.freeze()


def test_what_is_there_already_is_not_looked_through() -> None:
    with seldom_collected():
        assert gc.get_freeze_count() > 1000
        assert gc.get_threshold()[0] > 1000
    assert gc.get_freeze_count() == 0


def test_everything_is_as_before_after_an_error(before: tuple[int, int, int]) -> None:
    with pytest.raises(KeyError), seldom_collected():
        raise KeyError
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
    assert gc.isenabled()


def test_the_first_of_two_decides_whichever_ends_first(before: tuple[int, int, int]) -> None:
    with ExitStack() as second:
        with seldom_collected():
            second.enter_context(seldom_collected())
        assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
    with seldom_collected():
        assert gc.get_freeze_count() > 1000


@pytest.mark.parametrize("threshold", [0, 1_000_000])
def test_a_process_that_collects_otherwise_goes_on_so(threshold: int) -> None:
    gc.set_threshold(threshold)
    with seldom_collected():
        assert gc.get_threshold()[0] == threshold
        assert gc.get_freeze_count() == 0


def test_what_the_process_froze_stays_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with seldom_collected():
        pass
    assert gc.get_freeze_count() >= frozen
