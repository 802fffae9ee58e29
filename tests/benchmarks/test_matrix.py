"""The cells of `make bench`, and the models that compete in them."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from benchmarks.bench.changes import KINDS, SIZES, Change, all_changes
from benchmarks.bench.contenders import CONTENDERS, LEFT_OUT, MAIN, contenders_of, model_sql, models
from benchmarks.bench.matrix import all_cells, by_change, chosen_cells, default_cells, rotated
from benchmarks.bench.views import VIEWS, View
from benchmarks.parts.tables import DAYS

ROWS = 20_000


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    for statement in (
        "attach ':memory:' as lake",
        "create schema lake.raw",
        f"create table lake.raw.facts as select range as id, date '2024-01-01' + cast(range // {ROWS // DAYS} as int)"
        f" as day, hash(range) % 300 as customer, range % 7 as product, range % 100 as amount from range({ROWS})",
        "create table lake.raw.customers as select range as id, concat('c', range % 5) as country from range(280)",
        "create table lake.raw.products as select range as id, concat('p', range % 3) as category from range(7)",
    ):
        connection.execute(statement)
    yield connection
    connection.close()


def test_the_whole_matrix() -> None:
    cells = all_cells()
    assert len(cells) == len(set(cells)) == 10 * (1 + 4 * 5 * 2) + 3
    assert {c.view.name for c in cells if c.change.kind == "seed"} == {"inner_join", "left_join", "star"}


def test_the_default_share_has_every_view_kind_and_place() -> None:
    cells = default_cells()
    assert len(cells) == len(set(cells)) < len(all_cells()) / 3
    assert set(cells) <= set(all_cells())
    assert {c.view.name for c in cells} == set(VIEWS)
    assert {c.change.kind for c in cells} == set(KINDS)
    assert {c.change.size for c in cells} >= {"1-local", "0.1-scattered"}


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({"full": False}, len(default_cells())),
        ({"full": True}, len(all_cells())),
        ({"full": True, "views": ["total"]}, 41),
        ({"full": False, "kinds": ["delete"], "views": ["total"]}, 10),
        ({"full": False, "sizes": ["50-local"], "views": ["total"]}, 4),
        ({"full": False, "kinds": ["none", "delete"], "sizes": ["50-local"], "views": ["star"]}, 2),
        ({"full": False, "kinds": ["seed"], "views": ["total"]}, 0),
    ],
)
def test_a_choice(arguments: dict[str, object], count: int) -> None:
    assert len(chosen_cells(**arguments)) == count  # type: ignore[arg-type]


def test_a_change_is_made_once_for_all_views() -> None:
    cells = default_cells()
    grouped = by_change(cells)
    assert sum(len(of) for of in grouped.values()) == len(cells)
    assert all(cell.change == change for change, of in grouped.items() for cell in of)


def test_every_contender_begins_once() -> None:
    orders = [rotated(MAIN, number) for number in range(len(MAIN))]
    assert {order[0] for order in orders} == set(MAIN)
    assert all(sorted(order) == sorted(MAIN) for order in orders)


def test_who_is_left_out_exists_nowhere_else() -> None:
    for view in VIEWS.values():
        left_out = {c for name, c in LEFT_OUT if name == view.name}
        assert set(contenders_of(view, with_plans=True)) | left_out == set(CONTENDERS)
        assert {"auto", "rebuild"} <= set(contenders_of(view))
        assert left_out >= (set() if view.has_days else {"lookback", "informed"})
    assert {name for name, _ in LEFT_OUT} <= set(VIEWS)


def test_models_by_hand_are_incremental_and_the_others_are_not() -> None:
    for view, contender in models():
        text = model_sql(view, contender)
        assert ("is_incremental()" in text) == (contender in ("lookback", "informed", "merge"))
        assert ("partition_by=['day']" in text) == view.has_days
        assert "{facts}" not in text


@pytest.mark.parametrize("view", VIEWS.values(), ids=lambda view: view.name)
def test_a_view_has_its_columns_and_its_key(view: View, duck: duckdb.DuckDBPyConnection) -> None:
    found = duck.execute(view.over())
    assert tuple(column[0] for column in found.description or ()) == view.columns
    rows = found.fetchall()
    places = [view.columns.index(column) for column in view.key]
    assert rows and len({tuple(row[p] for p in places) for row in rows}) == len(rows)


@pytest.mark.parametrize("change", [c for c in all_changes() if c.place], ids=lambda change: change.name)
def test_a_change_is_of_its_share_and_in_its_place(change: Change, duck: duckdb.DuckDBPyConnection) -> None:
    query = f"select count(*), count(distinct day) from lake.raw.facts where {change.picked(ROWS)}"
    rows, days = duck.execute(query).fetchall()[0]
    assert rows == round(ROWS * change.share / 100)
    assert days == (max(1, round(DAYS * change.share / 100)) if change.place == "local" else min(rows, DAYS))


def test_names_of_changes_are_those_of_the_command_line() -> None:
    assert {c.size for c in all_changes()} == {*SIZES, ""}
    assert len({c.name for c in all_changes()}) == len({c.title for c in all_changes()}) == len(all_changes())
