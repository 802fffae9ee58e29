"""The law of every step: image and preimage hold all values that the step relates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import (
    Computed,
    Evaluated,
    Inverse,
    OrNull,
    Prefix,
    enumerated,
    image,
    inverse,
    preimage,
)

from .strategies import TEXTS, domains

STRINGS = st.sampled_from([str(t) for t in TEXTS]) | st.text(alphabet="ab\ud7ff\ue000\U0010ffff", max_size=4)
SETS = domains([t for t in TEXTS if isinstance(t, str)])


@given(STRINGS, SETS, st.integers(1, 3))
def test_prefix_maps_strings_into_its_image_and_back(text: str, values: Domain, length: int) -> None:
    step = Prefix(length)
    if values.contains(text):
        assert step.image(values).contains(text[:length])
    if values.contains(text[:length]):
        assert step.preimage(values).contains(text)


def test_prefix_is_tight_where_the_next_string_begins() -> None:
    assert Prefix(2).preimage(Domain.of("ab")) == Domain.between(Range("ab", "ac", True, False))
    assert Prefix(2).preimage(Domain.of("a")) == Domain.of("a")
    assert not Prefix(1).preimage(Domain.of("\ud7ff")).contains("\ue000")
    assert Prefix(1).preimage(Domain.of("\U0010ffff")).contains("\U0010ffffz")


def test_or_null_adds_null_forwards_and_needs_everything_for_it_backwards() -> None:
    assert OrNull().image(Domain.of(1)) == Domain.of(1, None)
    assert OrNull().image(Domain.none()).is_none
    assert OrNull().preimage(Domain.of(1)) == Domain.of(1)
    assert OrNull().preimage(Domain.of(1, None)).is_all


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
