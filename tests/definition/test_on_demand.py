"""A mapping whose values are found out when somebody wants to know them."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.asking.on_demand import OnDemand


def test_a_value_is_found_out_once_and_only_when_it_is_wanted() -> None:
    found: list[int] = []

    def one() -> str:
        found.append(1)
        return "one"

    values = OnDemand({1: one, 2: lambda: None})
    assert found == []
    assert [values[1], values.get(1), values.get(2)] == ["one", "one", None]
    assert found == [1]


def test_what_has_no_value_is_not_there() -> None:
    values = OnDemand[str]({1: lambda: "one", 2: lambda: None})
    assert ([*values], len(values), 2 in values) == ([1], 1, False)
    with pytest.raises(KeyError):
        values[2]
    with pytest.raises(KeyError):
        values[3]
