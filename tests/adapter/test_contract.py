"""When dbt's check of a contract, which starts Spark, is run."""

from __future__ import annotations

from typing import Any

import pytest

from dbt.adapters.icebergmv.contract import ContractCheck, declared_columns
from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo


def model(enforced: bool, **types: str | None) -> dict[str, Any]:
    columns = {name: {"name": name, "data_type": kind} for name, kind in types.items()}
    return {"config": {"contract": {"enforced": enforced}}, "columns": columns}


def asked(declared: Any, steps: str, **stored: str) -> int:
    """Return how often Spark is asked in a run: `s` is a statement, `c` the comparison at its end."""
    asks: list[int] = []
    check = ContractCheck(declared, lambda: asks.append(1))
    for step in steps:
        if step == "s":
            check.ask_spark()
        else:
            check.compare([ColumnInfo(name, kind, None) for name, kind in stored.items()])
    return len(asks)


def test_without_a_contract_spark_is_never_asked() -> None:
    assert declared_columns(model(False, a="int")) is None
    assert declared_columns({"config": {}, "columns": {}}) is None
    assert asked(None, "ssc", a="string") == 0


def test_a_run_with_statements_asks_once() -> None:
    declared = declared_columns(model(True, a="int"))
    assert asked(declared, "ssc", a="int") == 1
    assert asked(declared, "sc", a="string") == 1


@pytest.mark.parametrize(
    ("declared", "stored"),
    [
        ("INT", "int"),
        ("integer", "int"),
        ("long", "bigint"),
        ("decimal( 10, 2 )", "decimal(10,2)"),
        ("timestamp", "timestamp"),
        ("struct<a: int, b: array<string>>", "struct<a:int,b:array<string>>"),
    ],
)
def test_a_run_without_statements_does_not_ask_for_the_stored_columns(declared: str, stored: str) -> None:
    assert asked(declared_columns(model(True, a=declared, b="date")), "c", a=stored, b="date") == 0


@pytest.mark.parametrize(
    ("declared", "stored"),
    [
        ("bigint", "int"),
        ("timestamp", "timestamp_ntz"),
        ("decimal(10,2)", "decimal(10,3)"),
        ("decimal", "decimal(10,2)"),
        ("struct<a: int>", "struct<b:int>"),
        ("no type (", "int"),
        (None, "int"),
    ],
)
def test_what_is_in_doubt_is_asked(declared: str | None, stored: str) -> None:
    assert asked(declared_columns(model(True, a=declared)), "c", a=stored) == 1


def test_other_columns_are_asked() -> None:
    declared = declared_columns(model(True, a="int"))
    assert asked(declared, "c") == 1
    assert asked(declared, "c", A="int") == 1
    assert asked(declared, "c", a="int", b="int") == 1
