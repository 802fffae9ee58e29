"""Transforms in the terms of each other: a superset always, by PyIceberg's own transforms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.transforms import parse_transform
from pyiceberg.types import StringType

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.transform_lattice import in_terms_of

TRANSFORMS = ["bucket[4]", "bucket[8]", "bucket[6]", "bucket[24]", "truncate[1]", "truncate[3]", "identity"]
TEXTS = st.text(alphabet="ab\ud7ff\U0010ffff", max_size=4) | st.none()


def transformed(transform: str, text: str | None) -> object:
    return parse_transform(transform).transform(StringType())(text)


@given(TEXTS, TEXTS, st.sampled_from(TRANSFORMS[:-1]), st.lists(st.sampled_from(TRANSFORMS), max_size=2))
def test_no_row_is_lost(stored: str | None, other: str | None, of: str, to: list[str]) -> None:
    value = transformed(of, stored)
    assert value is None or isinstance(value, (int, str))
    rows = in_terms_of(TupleDomain.where({ColumnKey("c", of): Domain.of(value)}), [("c", t) for t in to])
    for text in (stored, other):
        if transformed(of, text) == value:
            for key, domain in rows.constraints:
                said = transformed(key.transform or "identity", text)
                assert said is None or isinstance(said, (int, str))
                assert domain.contains(said)


@pytest.mark.parametrize(
    ("of", "value", "to", "expected"),
    [
        ("bucket[16]", 11, "bucket[8]", ("bucket[8]", Domain.of(3))),
        ("bucket[4]", 3, "bucket[8]", ("bucket[8]", Domain.of(3, 7))),
        ("bucket[4]", None, "bucket[8]", ("bucket[8]", Domain.only_null())),
        ("bucket[16]", 11, "bucket[30]", ("bucket[16]", Domain.of(11))),
        ("bucket[16]", 11, "identity", ("bucket[16]", Domain.of(11))),
        ("truncate[3]", "abc", "truncate[2]", ("truncate[2]", Domain.of("ab"))),
        ("truncate[3]", "abc", "truncate[3]", ("truncate[3]", Domain.of("abc"))),
    ],
)
def test_what_can_be_said_is_said(of: str, value: int | str | None, to: str, expected: tuple[str, Domain]) -> None:
    rows = in_terms_of(TupleDomain.where({ColumnKey("c", of): Domain.of(value)}), [("c", to), ("d", of)])
    assert rows == TupleDomain.where({ColumnKey("c", expected[0]): expected[1]})


def test_prefixes_become_ranges_where_no_transform_says_them() -> None:
    rows = in_terms_of(TupleDomain.where({ColumnKey("c", "truncate[2]"): Domain.of("ab", "x")}), [("c", "identity")])
    ((key, domain),) = rows.constraints
    assert key == ColumnKey("c")
    assert [domain.contains(t) for t in ("ab", "abz", "ac", "x", "xy", None)] == [True, True, False, True, False, False]


def test_nothing_stays_nothing() -> None:
    assert in_terms_of(TupleDomain.none(), [("c", "bucket[4]")]).is_none
