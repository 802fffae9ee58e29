"""Which columns name the rows that a question finds, and how often Spark is asked for them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import (
    MOST_COLLECTED,
    MOST_KEYS,
    MOST_OF_ONE,
    NOT_UTF8,
    Answer,
    NotListed,
    ask,
    too_many,
)
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain

ID, DAY, REGION, BRANCH = (Column(name, "int") for name in ("id", "day", "region", "branch"))


def distinct(rows: Sequence[tuple[int, int, int, int]], asked: list[str]) -> Spark:
    """Return what runs the queries of `ask` over rows of the four columns."""

    def run(sql: str) -> Sequence[Sequence[object]]:
        asked.append(sql)
        head, most = sql.split(" FROM ", maxsplit=1)[0], int(sql.split("LIMIT ")[1])
        places = [n for n, c in enumerate((ID, DAY, REGION, BRANCH)) if f"`{c.name}`" in head]
        return list(dict.fromkeys(tuple(row[n] for n in places) for row in rows))[:most]

    return run


def columns_of(answer: Answer) -> set[str]:
    assert not isinstance(answer, NotListed)
    return {key.column for disjunct in answer for key in disjunct.domains}


FEW = [(n, n % 50, n % 7, 0) for n in range(900)]
SOME = [(n, n % 50, n % 7, 0) for n in range(5000)]
MANY = [(n, n % 50, n % 7, 0) for n in range(MOST_COLLECTED + 1)]


@pytest.mark.parametrize(
    ("rows", "choices", "columns", "queries"),
    [
        (FEW[:500], [[ID, DAY]], {"id", "day"}, 1),
        (SOME, [[ID, DAY, REGION], [DAY]], {"day"}, 1),
        (SOME, [[ID, DAY, REGION], [ID], [DAY, REGION]], {"day", "region"}, 1),
        (SOME, [[ID, DAY, REGION], [], [ID]], {"region"}, 1),
        (MANY, [[ID, DAY, REGION], [DAY]], {"day"}, 2),
        (MANY, [[ID, DAY, REGION]], {"region"}, 2),
        (SOME, [[ID]], {"branch"}, 1),
        (MANY, [[ID]], {"branch"}, 2),
        (SOME, [], {"branch"}, 1),
    ],
)
def test_the_first_choice_of_few_values_is_taken(
    rows: list[tuple[int, int, int, int]], choices: list[list[Column]], columns: set[str], queries: int
) -> None:
    asked: list[str] = []
    answer = ask("SELECT q", choices, distinct(rows, asked), last=[BRANCH])
    assert columns_of(answer) == columns and len(asked) == len(set(asked)) == queries


def test_a_choice_names_every_row_that_is_found() -> None:
    answer = ask("SELECT q", [[ID], [DAY, REGION]], distinct(SOME, []))
    assert not isinstance(answer, NotListed)
    for _, day, region, _ in SOME:
        at = {ColumnKey("day"): day, ColumnKey("region"): region}
        assert any(all(d.domains[key].contains(value) for key, value in at.items()) for d in answer)


def test_rows_beyond_those_that_were_collected_count() -> None:
    """The first rows have one day; all rows have too many."""
    asked: list[str] = []
    rows = [(n, max(0, n - MOST_COLLECTED), 0, 0) for n in range(MOST_COLLECTED + MOST_KEYS + 5)]
    assert ask("SELECT q", [[ID, DAY]], distinct(rows, asked)) == too_many(MOST_KEYS)
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("rows", "choices", "columns", "queries"),
    [
        # Few keys of several columns are still the first choice,
        (FEW[:500], [[ID, DAY]], {"id", "day"}, 1),
        (SOME, [[ID, DAY, REGION], [DAY]], {"day"}, 1),
        # and one column of many before one of few, which may be in most rows.
        (SOME, [[ID, DAY, REGION]], {"id"}, 1),
        (SOME, [[ID]], {"id"}, 1),
        (MANY, [[ID, DAY, REGION]], {"id"}, 2),
        ([(n % 20_000, n % 50, n % 7, 0) for n in range(60_000)], [[ID, DAY]], {"id"}, 2),
        ([(n, n % 50, n % 7, 0) for n in range(MOST_OF_ONE + 1)], [[ID, DAY]], {"day"}, 3),
        ([(n, n % 5000, 0, 0) for n in range(MOST_OF_ONE + 1)], [[ID, DAY]], {"day"}, 3),
        ([(n, n, n, 0) for n in range(MOST_OF_ONE + 1)], [[ID, DAY]], {"branch"}, 4),
    ],
)
def test_one_column_of_many_values_is_taken(
    rows: list[tuple[int, int, int, int]], choices: list[list[Column]], columns: set[str], queries: int
) -> None:
    asked: list[str] = []
    answer = ask("SELECT q", choices, distinct(rows, asked), [BRANCH], MOST_OF_ONE)
    assert columns_of(answer) == columns and len(asked) == len(set(asked)) == queries
    named = {ID: 0, DAY: 1, REGION: 2, BRANCH: 3}
    for column, place in named.items():
        if columns == {column.name}:
            assert answer == (TupleDomain.where({ColumnKey(column.name): Domain.of(*{row[place] for row in rows})}),)


def test_many_values_with_null_are_one_region() -> None:
    values = [(n,) for n in range(MOST_KEYS + 5)]
    answer = ask("SELECT q", [[ID]], lambda sql: [*values, (None,)], most_of_one=MOST_OF_ONE)
    assert answer == (TupleDomain.where({ColumnKey("id"): Domain.of(*range(MOST_KEYS + 5), None)}),)


def test_nothing_is_found() -> None:
    assert ask("SELECT q", [[ID], [DAY]], distinct([], [])) == ()


def test_what_fails_or_is_no_text_is_no_answer() -> None:
    def fails(sql: str) -> list[tuple[object, ...]]:
        raise RuntimeError("overflow")

    def half_fails(sql: str) -> list[tuple[object, ...]]:
        return [(n, 1) for n in range(MOST_COLLECTED + 1)] if str(MOST_COLLECTED) in sql else fails(sql)

    failed = NotListed("cannot be asked (overflow)")
    assert ask("SELECT q", [[ID]], fails) == failed
    assert ask("SELECT q", [[ID, DAY]], half_fails) == failed
    assert ask("SELECT q", [[Column("s", "string")]], lambda sql: [("\ufffd",)]) is NOT_UTF8
