"""Texts of so many levels that Python's stack does not hold what is asked of each: a full refresh, and no error."""

from __future__ import annotations

import pytest

from tests.randomised.planners import analysed
from tests.support.shares import one_of

MANY = 2000
TEXTS = {
    "or": f"select d from t0 where {' or '.join(f'v = {n}' for n in range(MANY))}",
    "plus": f"select d, {' + '.join(['v'] * MANY)} as c from t0",
    "concat": f"select d, {' || '.join(['region'] * MANY)} as c from t0",
    "union": " union all ".join(["select d, v from t0"] * MANY),
    "brackets": f"select d from t0 where v > {'(' * MANY}1{')' * MANY}",
    "subqueries": f"select d from {'(select d from ' * MANY}t0{')' * MANY}",
    "case": f"select d, {'case when v = 1 then 2 else ' * MANY} 0 {'end ' * MANY} as x from t0",
}


@pytest.mark.parametrize("text", one_of(9, TEXTS.values()), ids=TEXTS)
def test_a_text_that_is_too_deep_is_refreshed_in_full(text: str) -> None:
    definition = analysed(text)
    assert (definition.always_full or "").startswith("its SQL cannot be analysed")
    assert not definition.references


def test_a_long_list_of_values_is_no_depth() -> None:
    assert analysed(f"select d from t0 where v in ({', '.join(map(str, range(MANY)))})").always_full is None
