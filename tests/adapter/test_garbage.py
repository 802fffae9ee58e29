"""Python's search for garbage while a project is read."""

from __future__ import annotations

import gc

import pytest

from dbt.adapters.icebergmv.garbage import seldom_collected


def test_what_is_there_already_is_not_looked_through() -> None:
    gc.collect()
    with seldom_collected():
        assert gc.get_freeze_count() > 1000
        assert gc.get_threshold()[0] > 1000
    assert gc.get_freeze_count() == 0


def test_everything_is_as_before_after_an_error() -> None:
    before = gc.get_threshold()
    with pytest.raises(KeyError), seldom_collected():
        raise KeyError
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
    assert gc.isenabled()
