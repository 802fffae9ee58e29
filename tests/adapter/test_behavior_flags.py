"""The switches of a project, as dbt renders them."""

from __future__ import annotations

from typing import Any

from dbt.adapters.base.impl import DEFAULT_BASE_BEHAVIOR_FLAGS

from dbt.adapters.icebergmv.impl import IcebergMVAdapter
from dbt.adapters.icebergmv.materialized_views import BEHAVIOR_FLAGS


def test_many_invocations_in_one_process_add_the_flags_once() -> None:
    """dbt renders its list anew at each invocation, in time that grows with the list and the depth of the stack."""
    for _ in range(3):
        adapter = IcebergMVAdapter.__new__(IcebergMVAdapter)
        added: list[Any] = list(adapter._behavior_flags)
        DEFAULT_BASE_BEHAVIOR_FLAGS.extend(added)
    names = [flag["name"] for flag in DEFAULT_BASE_BEHAVIOR_FLAGS]
    assert [names.count(flag["name"]) for flag in BEHAVIOR_FLAGS] == [1, 1]
