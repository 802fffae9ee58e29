"""Which rows `x NOT IN (SELECT y)` is another thing for when the list changes, where it can be NULL and where not."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.definition.text_edits import splice
from tests.support.analysis import analysed_in

TYPES = {"i": "int", "b": "bigint", "m": "decimal(10,2)", "s": "string", "d": "date", "w": "double"}
SQL = "SELECT i, s FROM t AS a WHERE a.{} NOT IN (SELECT x.{} FROM u AS x)"


def columns_of(reference: TableReference) -> tuple[ColumnInfo, ...]:
    return tuple(ColumnInfo(name, of, None, required=True) for name, of in TYPES.items())


def asked_of_the_list(sql: str) -> str:
    definition = analysed_in(sql, "ns", columns_of, session_is_utc=True)
    index = next(r.index for r in definition.references if r.name == "u")
    return splice(definition.asked.sql, {}, definition.asked.reach[index].edits)


@pytest.mark.parametrize(("one", "other"), [("s", "s"), ("i", "b"), ("m", "m"), ("w", "w")])
def test_values_of_one_type_that_are_never_null_are_asked_for_by_themselves(one: str, other: str) -> None:
    sql = SQL.format(one, other)
    assert asked_of_the_list(sql) == sql.replace("NOT IN", "IN")


@pytest.mark.parametrize(("one", "other"), [("s", "i"), ("i", "s"), ("d", "s"), ("s", "m"), ("b", "m")])
def test_a_value_that_may_become_null_beside_another_type_is_one_that_is_missing(one: str, other: str) -> None:
    """Outside ANSI mode a text that is no number is NULL beside one, as is a number that does not fit a decimal."""
    sql = SQL.format(one, other)
    assert asked_of_the_list(sql) == sql.replace(f"a.{one} NOT IN", "EXISTS")


def test_in_a_list_of_the_select_nothing_is_asked_of_other_types() -> None:
    shown = "SELECT i, {} NOT IN (SELECT x.i FROM u AS x) AS f FROM t AS a"
    of_both, of_one = ({*analysed_in(shown.format(x), "ns", columns_of, True).asked.reach} for x in "bs")
    assert (of_both, of_one) == ({0, 1}, {1})
