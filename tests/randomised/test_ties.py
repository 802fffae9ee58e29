"""Histories in which ties are broken in another way at every statement: what is stored is what some order gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.randomised.clocks import MOMENTS
from tests.randomised.histories import Case, Refreshed, hidden_keys, run
from tests.randomised.mutants import view
from tests.randomised.planners import RIGHT
from tests.randomised.soak import refreshes_of
from tests.randomised.tables import DAYS, Change, Row, Spec
from tests.randomised.tie_views import CARRIED, NUMBERED, SHOWN, SORTED, TOGETHER
from tests.randomised.ties import TiesAtRandom
from tests.support.shares import one_of


@pytest.mark.parametrize("name", one_of(8, SHOWN))
def test_a_value_that_is_only_shown_is_one_of_its_group(name: str, ties: TiesAtRandom) -> None:
    found = refreshes_of(SHOWN[name], ties, 6, breaks_ties=False)
    assert found["overwrite"] > found["full"], found


@pytest.mark.parametrize("name", one_of(24, TOGETHER))
def test_rows_that_show_one_group_show_one_value(name: str, ties: TiesAtRandom) -> None:
    found = refreshes_of(TOGETHER[name], ties, 12, breaks_ties=False)
    assert found["overwrite"] > found["full"], found


def test_rows_of_a_group_go_together_by_a_key_that_is_stored_besides(ties: TiesAtRandom) -> None:
    """No region names a column with a subquery in it, so the key is not among those that are listed."""
    sql = (
        "SELECT CASE WHEN (SELECT count(*) FROM t1 c) >= 0 THEN b.region END AS k, b.id, b.v, g.l FROM t1 b LEFT JOIN "
        "(SELECT region, any_value(v) AS l FROM t0 GROUP BY region) g ON g.region = b.region"
    )
    assert hidden_keys(view(sql), dict.fromkeys(("t0", "t1"), Spec((("identity", "id"),)))) == ("`b`.`region`",)
    found = refreshes_of(view(sql, "id"), ties, 20, breaks_ties=False)
    assert found["overwrite"] > 3, found


@pytest.mark.parametrize("name", one_of(16, CARRIED))
def test_other_rows_follow_from_one_value(name: str, ties: TiesAtRandom) -> None:
    found = refreshes_of(CARRIED[name], ties, 6, breaks_ties=False)
    assert found.keys() == {"full", "none"}, found


@pytest.mark.parametrize("name", one_of(4, SORTED))
def test_what_is_sorted_is_one_value_wherever_it_is(name: str, ties: TiesAtRandom) -> None:
    found = refreshes_of(SORTED[name], ties, 8, breaks_ties=False)
    assert found["overwrite"] > found["full"], found


@pytest.mark.parametrize("name", one_of(8, NUMBERED))
def test_rows_that_tie_in_a_window_follow_one_order(name: str, ties: TiesAtRandom) -> None:
    found = refreshes_of(NUMBERED[name], ties, 15, breaks_ties=False)
    assert found["overwrite"] > 4, found


@pytest.mark.long
@pytest.mark.parametrize("name", [*SHOWN, *CARRIED, *NUMBERED, *SORTED, *TOGETHER])
def test_in_many_histories(name: str, ties: TiesAtRandom) -> None:
    refreshes_of({**SHOWN, **CARRIED, **NUMBERED, **SORTED, **TOGETHER}[name], ties, 150, breaks_ties=False)


@pytest.mark.parametrize(
    ("rows", "is_right"),
    [
        (["('a', 3)", "('b', 1)", "('b', 2)"], False),
        (["('a', 3)", "('b', 1)"], True),
        (["('a', 9)", "('b', 1)"], True),
        (["('a', 4)", "('b', 1)"], False),
        (["('a', 9)"], False),
        (["('a', 9)", "('b', 1)", "(None, 1)"], False),
    ],
)
def test_the_rows_of_each_key_are_those_of_some_order(rows: list[str], is_right: bool, ties: TiesAtRandom) -> None:
    of = "(VALUES ('a', 3), ('a', 4), ('a', 9), ('b', 1)) AS t(k, v)"
    assert (ties.judge(f"SELECT k, any_value(v) AS l FROM {of} GROUP BY k")(rows) is None) == is_right


TIED: tuple[Row, ...] = ((1, None, DAYS[0], "a", 0, 0.5, 1), (2, None, DAYS[2], "a", 0, 0.5, 2))
NUMBERED_ROWS = "(SELECT id, region, d, w, row_number() OVER (PARTITION BY region ORDER BY v) AS n FROM t0)"
FIRST_OF_TIED = {
    "a number is joined by": f"SELECT q.w AS k, b.w AS x, b.v FROM {NUMBERED_ROWS} q JOIN t1 b ON q.n = b.id",
    "a number is joined by USING": f"SELECT q.w AS k, b.w AS x, b.v FROM (SELECT w, n AS id FROM {NUMBERED_ROWS} p) q "
    "JOIN t1 b USING (id)",
    "the first, by its own key": f"SELECT q.w AS k, b.v FROM {NUMBERED_ROWS} q JOIN t1 b ON q.id = b.id WHERE q.n = 1",
    "the first, by its region": f"SELECT q.w AS k, q.region, b.v FROM {NUMBERED_ROWS} q JOIN t1 b "
    "ON q.region = b.region WHERE q.n = 1",
    "the first, kept below": f"SELECT q.w AS k, b.v FROM (SELECT * FROM {NUMBERED_ROWS} p WHERE n = 1) q "
    "LEFT JOIN t1 b ON q.id = b.id",
    "a first value": "SELECT q.f AS k, b.v FROM (SELECT first_value(w) OVER (PARTITION BY region ORDER BY v) AS f "
    "FROM t0) q JOIN t1 b ON q.f = b.id",
    "a number in a subquery": f"SELECT q.w AS k, q.id FROM {NUMBERED_ROWS} q WHERE q.n IN (SELECT b.id FROM t1 b)",
    "a number is looked for": f"SELECT q.w AS k FROM {NUMBERED_ROWS} q "
    "WHERE EXISTS (SELECT 1 FROM t1 b WHERE b.id = q.n AND b.v > 7)",
    "the first is looked for": f"SELECT b.w AS k, b.v FROM t1 b WHERE b.id IN "
    f"(SELECT id FROM {NUMBERED_ROWS} q WHERE n = 1)",
    "the sum of the first": f"SELECT q.region, sum(b.v) AS s FROM {NUMBERED_ROWS} q JOIN t1 b ON q.id = b.id "
    "WHERE q.n = 1 GROUP BY q.region",
    "the sum by the first": f"SELECT q.id AS k, sum(b.v) AS s, count(*) AS c FROM t1 b JOIN {NUMBERED_ROWS} q "
    "ON b.region = q.region WHERE q.n = 1 GROUP BY q.id",
}
"""A view keeps what came of one of two rows that tie; then what it was joined to changes or goes."""
ASKED = ("the sum by the first", "the first, by its region", "the first, kept below")
"""Beside these rows the changed ones are asked, or what they are joined by is followed."""


def by_several_orders(case: Case, ties: TiesAtRandom, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Refreshed]]:
    """Yield the refreshes of a case, in which ties are broken in another way each time."""
    begin = ties.begin
    for salt in range(8):
        monkeypatch.setattr(ties, "begin", lambda history, salt=salt: begin(f"{salt}{history}"))
        yield list(run(ties, case, RIGHT))


@pytest.mark.parametrize("after", [(), ((1, None, DAYS[0], "a", 8, 0.5, 9),)], ids=["goes", "changes"])
@pytest.mark.parametrize("name", one_of(4, FIRST_OF_TIED))
def test_no_row_stays_that_came_of_what_is_no_more(
    name: str, after: tuple[Row, ...], ties: TiesAtRandom, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined: tuple[Row, ...] = ((1, None, DAYS[0], "a", 7, 0.5, 9),)
    tables, step = {"t0": TIED, "t1": joined}, {"t1": Change(joined, after, after)}
    case = Case(view(FIRST_OF_TIED[name]), dict.fromkeys(tables, Spec((), False)), tables, (step,), breaks_ties=False)
    for refreshes in by_several_orders(case, ties, monkeypatch):
        assert [refreshed.wrong for refreshed in refreshes if refreshed.wrong] == []
        assert name not in ASKED or "full" not in {refreshed.plan.kind for refreshed in refreshes}


_ONE = f"one AS (SELECT id FROM {NUMBERED_ROWS} q WHERE n = 1)"
BESIDE_THE_FIRST = {
    "ON reads it": f"WITH {_ONE} SELECT c.w AS k, b.w + 0 AS x FROM t1 b JOIN t2 c "
    "ON b.v = c.v AND c.id IN (SELECT id FROM one)",
    "a list reads it": f"WITH {_ONE} SELECT c.w AS k, x.w + 0 AS y FROM "
    "(SELECT w, CASE WHEN id IN (SELECT id FROM one) THEN 1 ELSE 2 END AS f FROM t1) x JOIN t2 c ON c.id = x.f",
    "a list looks for it": f"WITH {_ONE} SELECT c.w AS k, x.w + 0 AS y FROM "
    "(SELECT w, EXISTS (SELECT 1 FROM one WHERE one.id = b.id) AS f FROM t1 b) x JOIN t2 c ON (c.id = 1) = x.f",
    "beside what is looked for": f"SELECT q.w AS k, q.d FROM {NUMBERED_ROWS} q WHERE q.n = 1 "
    "AND EXISTS (SELECT 1 FROM t1 b WHERE b.region = q.region)",
    "beside a list that looks for it": f"SELECT q.w AS k, EXISTS (SELECT 1 FROM t1 b WHERE b.region = q.region) AS f "
    f"FROM {NUMBERED_ROWS} q WHERE q.n = 1",
    "one of two": f"SELECT q.w AS k, q.d FROM {NUMBERED_ROWS} q WHERE q.n = 2 "
    "OR EXISTS (SELECT 1 FROM t1 b WHERE b.region = q.region AND b.id = q.id)",
    "UNPIVOT": f"WITH {_ONE} SELECT b.w AS k, u.val + 0 AS y FROM (SELECT id FROM one) q "
    "UNPIVOT (val FOR name IN (id)) u JOIN t1 b ON b.id = u.val",
    "LATERAL": f"WITH {_ONE} SELECT b.w AS k, b.v + 0 AS y FROM t2 c "
    "JOIN LATERAL (SELECT id FROM one WHERE one.id = c.id) l ON true JOIN t1 b ON b.id = c.id",
    "WITH RECURSIVE": f"WITH RECURSIVE r AS (SELECT id FROM {NUMBERED_ROWS} q WHERE n = 1 UNION ALL "
    "SELECT id + 100 FROM r WHERE id < 50) SELECT b.w AS k FROM t1 b CROSS JOIN (SELECT 1 AS o FROM r WHERE id = 1) z",
}
"""The first of two rows that tie is read where a change of another table is asked about."""


@pytest.mark.parametrize("name", one_of(3, BESIDE_THE_FIRST))
def test_the_first_of_rows_that_tie_is_no_condition_of_a_question(
    name: str, ties: TiesAtRandom, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes: tuple[Row, ...] = ((1, None, DAYS[0], "a", 7, 0.5, 9),)
    stays: tuple[Row, ...] = ((1, None, DAYS[0], "a", 7, 0.5, 5), (2, None, DAYS[0], "a", 7, 0.5, 6))
    tables, step = {"t0": TIED, "t1": goes, "t2": stays}, {"t1": Change(goes, (), ())}
    seen = replace(
        view(BESIDE_THE_FIRST[name]), tables=frozenset(t for t in tables if f" {t}" in BESIDE_THE_FIRST[name])
    )
    tables = {t: rows for t, rows in tables.items() if t in seen.tables}
    case = Case(seen, dict.fromkeys(tables, Spec((), False)), tables, (step,), breaks_ties=False)
    for refreshes in by_several_orders(case, ties, monkeypatch):
        assert [refreshed.wrong for refreshed in refreshes if refreshed.wrong] == []


@pytest.mark.parametrize("moments", [(0, 6), (0, 7), (6, 8)])
def test_the_clock_beside_the_first_of_rows_that_tie(
    moments: tuple[int, int], ties: TiesAtRandom, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = f"SELECT region, w, d FROM {NUMBERED_ROWS} q WHERE n = 1 AND d >= current_date"
    clock = tuple(MOMENTS[i] for i in moments)
    case = Case(view(sql), {"t0": Spec((), False)}, {"t0": TIED}, ({},), clock=clock, breaks_ties=False)
    for refreshes in by_several_orders(case, ties, monkeypatch):
        assert [refreshed.wrong for refreshed in refreshes if refreshed.wrong] == []


def test_each_statement_has_orders_of_its_own(ties: TiesAtRandom) -> None:
    rows = "(SELECT 1 AS k, v, v AS w, 0 AS o FROM range(5) AS r(v))"
    ties.begin("a history")
    calls = ("any_value(v)", "first(v)", "max_by(v, o)", "array_agg(v)[1]")
    for call in calls:
        sql = f"SELECT {call} AS l FROM {rows} q"
        assert {row for _ in range(20) for row in ties.run(sql)} == {(0,), (4,)}
    for window in (
        "row_number() OVER (PARTITION BY k ORDER BY o)",
        "sum(k) OVER (PARTITION BY k ORDER BY o ROWS 9 PRECEDING)",
    ):
        sql = f"SELECT n FROM (SELECT v, {window} AS n FROM {rows} q) p WHERE v = 0"
        assert {row for _ in range(20) for row in ties.run(sql)} == {(1,), (5,)}
