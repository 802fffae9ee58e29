"""Which keys are written as lists of rows."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.sql.key_lists import MANY_KEYS, in_lists
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction

SPARK = Dialect("lake")
TYPES = {"a": "int", "b": "string", "d": "decimal(9,2)", "f": "double"}
MANY = range(MANY_KEYS + 1)


def keys(**values: Value | Domain | None) -> TupleDomain:
    domains = {c: v if isinstance(v, Domain) else Domain.of(v) for c, v in values.items()}
    return TupleDomain.where({ColumnKey(c): domain for c, domain in domains.items()})


def test_many_keys_are_a_list_for_each_column_and_a_list_of_rows() -> None:
    region = [keys(a=2 * n, b=f"x{n}") for n in MANY]
    a, b = (", ".join(texts) for texts in ([str(2 * n) for n in MANY], sorted(f"'x{n}'" for n in MANY)))
    rows = ", ".join(f"struct({2 * n} AS key_0, 'x{n}' AS key_1)" for n in MANY)
    assert in_lists(region, TYPES, SPARK) == (
        f"(`a` IN ({a})) AND (`b` IN ({b})) AND struct(`a` AS key_0, `b` AS key_1) IN ({rows})"
    )


def test_null_and_several_values_of_one_key_are_rows_each() -> None:
    region = [*(keys(a=n, b="x'") for n in MANY), keys(a=None, b=Domain.of("y", None))]
    text = in_lists(region, TYPES, SPARK)
    assert "struct(CAST(NULL AS int) AS key_0, 'y' AS key_1)" in text
    assert "struct(CAST(NULL AS int) AS key_0, CAST(NULL AS string) AS key_1)" in text
    assert r"struct(3 AS key_0, 'x\'' AS key_1)" in text
    assert text.startswith("(`a` IS NULL OR")


def test_columns_may_be_written_as_expressions() -> None:
    text = in_lists([keys(a=n, b="x") for n in MANY], TYPES, Dialect("lake", columns={"a": "t.a + 1"}))
    assert "struct(t.a + 1 AS key_0, `b` AS key_1) IN (" in text


def test_files_are_skipped_by_bounds_where_there_are_many_values() -> None:
    def text(count: int) -> str:
        return in_lists([*(keys(a=2 * n, b=f"x{n % 3}") for n in range(count)), keys(a=None, b="x")], TYPES, SPARK)

    assert text(201).startswith("(`a` IS NULL OR (`a` >= 0 AND `a` <= 400)) AND (`a` IS NULL OR `a` IN (0, 2,")
    assert ">=" not in text(200)


AS_BEFORE: Mapping[str, list[TupleDomain]] = {
    "nothing": [],
    "everything": [TupleDomain.all()],
    "other keys beside them": [*(keys(a=n, b="x") for n in MANY), keys(a=50)],
    "few keys": [keys(a=n, b="x") for n in range(MANY_KEYS)],
    "keys of one column": [keys(a=n) for n in MANY],
    "a range": [*(keys(a=n, b="x") for n in MANY), keys(a=Domain.between(Range(50, 60)), b="y")],
    "an excluded value": [keys(a=n, b=Domain.of("x").complement()) for n in MANY],
    "a transform": [
        TupleDomain.where({ColumnKey("a", "bucket[4]"): Domain.of(n % 4), ColumnKey("b"): Domain.of(f"{n}")})
        for n in MANY
    ],
    "a type whose literals are of another": [keys(a=n, f=0.5 * n) for n in MANY],
}


@pytest.mark.parametrize("name", AS_BEFORE)
def test_anything_else_is_a_disjunction(name: str) -> None:
    assert in_lists(AS_BEFORE[name], TYPES, SPARK) == disjunction(AS_BEFORE[name], TYPES, SPARK)


def test_keys_that_make_very_many_rows_are_counted_first() -> None:
    many = Domain.of(*range(0, 2_000, 2))
    region = [keys(a=many, b=f"x{n}", c=many, e=many) for n in MANY]
    types = {**TYPES, "c": "int", "e": "int"}
    assert in_lists(region, types, SPARK) == disjunction(region, types, SPARK)


def test_many_values_in_few_keys_are_a_disjunction() -> None:
    region = [keys(a=n, b=Domain.of(*(f"{n}-{m}" for m in range(3)))) for n in MANY]
    assert in_lists(region, TYPES, SPARK) == disjunction(region, TYPES, SPARK)
