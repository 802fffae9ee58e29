"""The law of every step: image and preimage hold all values that the step relates."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from typing import get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt.adapters.icebergmv import maintenance
from dbt.adapters.icebergmv.maintenance.predicates.date_functions import STEPS
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range, Value
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import (
    Computed,
    Constant,
    Evaluated,
    Inverse,
    Monotone,
    OrNull,
    Prefix,
    Step,
    enumerated,
    image,
    inverse,
    preimage,
)
from dbt.adapters.icebergmv.maintenance.predicates.local_time import LocalTime, Offsets
from tests.support.key_steps import arguments
from tests.support.shares import one_of
from tests.support.strategies import TEXTS, domains

STRINGS = st.sampled_from([str(t) for t in TEXTS]) | st.text(alphabet="ab\ud7ff\ue000\U0010ffff", max_size=4)
SETS = domains([t for t in TEXTS if isinstance(t, str)])
HOUR = 3_600_000_000
SUMMER = Offsets(((-1000 * HOUR, HOUR), (0, 2 * HOUR)), 1000 * HOUR)
"""A zone that goes from an hour to two hours before UTC at the epoch."""

UPPER: dict[Value | None, Value | None] = {"a": "A", "A": "A", "b": "B", "": "", None: None}

Pair = tuple[Value | None, Value | None]
"""A value on the base side of a step and one on its output side that it is related to."""


def mapped(by: Callable[[Value], Value], values: st.SearchStrategy[Value]) -> st.SearchStrategy[Pair]:
    """Return pairs of a function that leaves NULL as it is."""
    return st.builds(lambda v: (v, None if v is None else by(v)), st.none() | values)


def monotone_pairs(step: Monotone) -> st.SearchStrategy[Pair]:
    return mapped(lambda v: step.apply(int(v)), arguments(step))


def prefix_pairs(step: Prefix) -> st.SearchStrategy[Pair]:
    return mapped(lambda v: str(v)[: step.length], STRINGS)


def or_null_pairs(step: OrNull) -> st.SearchStrategy[Pair]:
    values = st.none() | STRINGS
    return st.builds(lambda v, kept: (v, v if kept else None), values, st.booleans())


def local_time_pairs(step: LocalTime) -> st.SearchStrategy[Pair]:
    return mapped(lambda v: int(v) + (HOUR if int(v) < 0 else 2 * HOUR), st.integers(-5 * HOUR, 5 * HOUR))


def evaluated_pairs(step: Evaluated) -> st.SearchStrategy[Pair]:
    return st.sampled_from(list(UPPER.items()))


def constant_pairs(step: Constant) -> st.SearchStrategy[Pair]:
    values = STRINGS if isinstance(step.value, str) else st.integers(-9, 9)
    return st.builds(lambda v: (v, step.value), st.none() | values)


def inverse_pairs(step: Inverse) -> st.SearchStrategy[Pair]:
    return LAWS[type(step.step)][1](step.step).map(lambda pair: (pair[1], pair[0]))


INVERTED: list[Step] = [Prefix(2), OrNull(), LocalTime(SUMMER), *STEPS]
Law = tuple[Sequence[Step], Callable[..., st.SearchStrategy[Pair]]]
LAWS: dict[type[Step], Law] = {
    Monotone: (STEPS, monotone_pairs),
    Prefix: ([Prefix(n) for n in (1, 2, 3)], prefix_pairs),
    OrNull: ([OrNull()], or_null_pairs),
    LocalTime: ([LocalTime(), LocalTime(SUMMER)], local_time_pairs),
    Computed: ([Computed("upper(?)", ("upper(", ")"), "string")], evaluated_pairs),
    Constant: ([Constant("web"), Constant(7)], constant_pairs),
    Evaluated: ([Evaluated("upper(?)", UPPER, complete) for complete in (True, False)], evaluated_pairs),
    Inverse: ([Inverse(s) for s in INVERTED], inverse_pairs),
}
"""Per kind of step, steps of that kind and the pairs that such a step relates."""

CASES = [step for steps, _ in LAWS.values() for step in steps]


def ranges_at(*values: Value | None) -> st.SearchStrategy[Domain]:
    """Return sets whose bounds lie at the values, or one beside them."""
    ends = [v for v in values if v is not None]
    if not all(type(v) is int for v in ends):
        return SETS
    numbers = st.sampled_from([int(v) for v in ends]) if ends else st.nothing()
    near = st.builds(lambda v, o: v + o, numbers, st.integers(-1, 1)) | st.none()
    ranges = st.lists(st.builds(Range, near, near, st.booleans(), st.booleans()), max_size=2)
    return st.builds(lambda rs, null: Domain(tuple(rs), null), ranges, st.booleans())


@pytest.mark.parametrize("step", one_of(3, CASES), ids=lambda step: f"{type(step).__name__}: {step.name}")
@settings(max_examples=20)
@given(data=st.data())
def test_related_values_lie_in_image_and_preimage(step: Step, data: st.DataObject) -> None:
    base, output = data.draw(LAWS[type(step)][1](step))
    values = data.draw(ranges_at(base, output))
    assert not values.contains(base) or step.image(values).contains(output)
    assert not values.contains(output) or step.preimage(values).contains(base)


def test_every_kind_of_step_has_a_law() -> None:
    assert set(LAWS) == set(get_args(get_type_hints(Inverse)["step"]))


def test_every_class_with_an_image_is_a_kind_of_step() -> None:
    with_image = {c for c in engine_classes() if callable(getattr(c, "image", None))}
    assert with_image == set(LAWS)


def engine_classes() -> Iterator[type]:
    """Yield every class that a module of the engine defines."""
    for found in pkgutil.walk_packages(maintenance.__path__, f"{maintenance.__name__}."):
        module = importlib.import_module(found.name)
        yield from (c for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__)


def test_prefix_is_tight_where_the_next_string_begins() -> None:
    assert Prefix(2).preimage(Domain.of("ab")) == Domain.between(Range("ab", "ac", True, False))
    assert Prefix(2).preimage(Domain.of("a")) == Domain.of("a")
    assert not Prefix(1).preimage(Domain.of("\ud7ff")).contains("\ue000")
    assert Prefix(1).preimage(Domain.of("\U0010ffff")).contains("\U0010ffffz")


def test_prefix_keeps_what_has_no_lower_bound() -> None:
    below = Domain.between(Range(None, "b", False, False))
    assert Prefix(1).preimage(below).contains("")
    assert Prefix(1).preimage(below).contains("az")
    assert Prefix(1).preimage(Domain.between(Range(None, "b"))) == Domain.between(Range(None, "c", False, False))


def test_or_null_adds_null_forwards_and_needs_everything_for_it_backwards() -> None:
    assert OrNull().image(Domain.of(1)) == Domain.of(1, None)
    assert OrNull().image(Domain.none()) == Domain.only_null()
    assert image((OrNull(),), Domain.none()).is_none
    assert OrNull().preimage(Domain.of(1)) == Domain.of(1)
    assert OrNull().preimage(Domain.of(1, None)).is_all


def test_a_value_that_a_condition_matches_with_nothing_shows_null() -> None:
    """In `x RIGHT JOIN y ON date_trunc('day', x.ts) = y.ts` a row of y at noon has no x."""
    (to_day,) = (s for s in STEPS if s.name == "date_trunc to day")
    noon = 12 * HOUR
    assert image((Inverse(to_day),), Domain.of(noon)).is_none
    assert image((Inverse(to_day), OrNull(), to_day), Domain.of(noon)) == Domain.only_null()


def test_inverse_swaps_the_two_maps_and_undoes_itself() -> None:
    assert Inverse(OrNull()).image(Domain.of(None)).is_all
    assert Inverse(OrNull()).preimage(Domain.of(1)) == Domain.of(1, None)
    assert inverse(inverse((OrNull(), Prefix(2)))) == (OrNull(), Prefix(2))
    assert preimage((Prefix(1), OrNull()), Domain.of("a")) == Domain.between(Range("a", "b", True, False))


def test_computed_is_everything_until_it_is_evaluated() -> None:
    computed = Computed("upper(?)", ("upper(", ")"), "string")
    assert image((computed,), Domain.of("a")).is_all
    assert preimage((computed,), Domain.of("A")).is_all
    assert computed.image(Domain.none()).is_none


def test_evaluated_knows_its_arguments_only() -> None:
    step = Evaluated("upper(?)", {"a": "A", "A": "A", "b": "B", None: None}, complete=True)
    assert step.image(Domain.of("a", None)) == Domain.of("A", None)
    assert step.image(Domain.of("c")).is_all
    assert step.image(Domain.between(Range("a", "b"))).is_all
    assert step.preimage(Domain.of("A")) == Domain.of("a", "A")
    assert Evaluated("upper(?)", {"a": "A"}, complete=False).preimage(Domain.of("A")).is_all


def test_days_and_numbers_are_listed_up_to_a_limit() -> None:
    assert enumerated(Domain.between(Range(3, 6, True, False)), 10) == [3, 4, 5]
    assert enumerated(Domain.of(None, "x"), 10) == [None, "x"]
    assert enumerated(Domain.between(Range(0, 10)), 10) is None
    assert enumerated(Domain.between(Range(0, None)), 10) is None
    assert enumerated(Domain.between(Range("a", "b")), 10) is None
