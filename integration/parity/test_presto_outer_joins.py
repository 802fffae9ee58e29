"""Presto's cases of materialized views over outer joins; the numbers are those of docs/presto-and-trino-cases.md."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject
from integration.support.rounds import Group, Outcomes, Step, Table, View, cases, judge, play

pytestmark = pytest.mark.long
STAFF = Group(
    tables={
        "staff": Table(
            "id, name, dept, hired",
            "hired",
            "(1, 'ann', 10, 'h1'), (2, 'bob', 20, 'h1'), (3, 'cyd', 30, 'h2'), (4, 'dan', NULL, 'h2')",
        ),
        "depts": Table("id, title", "id", "(10, 'sales'), (20, 'tax')"),
    },
    rounds=(
        ["INSERT INTO {staff} VALUES (5, 'eli', 10, 'h3')"],
        ["INSERT INTO {depts} VALUES (30, 'ads')"],
        [
            "INSERT INTO {staff} VALUES (6, 'fay', 40, 'h3'), (7, 'gus', NULL, 'h4')",
            "INSERT INTO {depts} VALUES (40, 'law')",
        ],
        ["DELETE FROM {depts} WHERE id = 10"],
    ),
    views=(
        View(
            "staff_by_left_key",
            "select s.name, s.dept, d.title, s.hired from {staff} s left join {depts} d on s.dept = d.id",
            (
                Step(
                    "P61 unmatched rows and NULL keys stay",
                    "full",
                    "ann 10 sales h1 | bob 20 tax h1 | cyd 30 - h2 | dan - - h2",
                    4,
                ),
                Step(
                    "P62 the left side is stale",
                    "append",
                    "ann 10 sales h1 | bob 20 tax h1 | cyd 30 - h2 | dan - - h2 | eli 10 sales h3",
                    1,
                ),
                Step(
                    "P63 a new right row matches an old left row",
                    "overwrite",
                    "ann 10 sales h1 | bob 20 tax h1 | cyd 30 ads h2 | dan - - h2 | eli 10 sales h3",
                    1,
                ),
                Step(
                    "P64 both sides are stale",
                    "overwrite",
                    "ann 10 sales h1 | bob 20 tax h1 | cyd 30 ads h2 | dan - - h2 | eli 10 sales h3 | fay 40 law h3 | gus - - h4",
                    3,
                ),
                Step(
                    "P63 a right row vanishes and its left rows stay",
                    "overwrite",
                    "ann 10 - h1 | bob 20 tax h1 | cyd 30 ads h2 | dan - - h2 | eli 10 - h3 | fay 40 law h3 | gus - - h4",
                    2,
                ),
            ),
        ),
        View(
            "staff_by_right_key",
            "select s.name, d.id as dept, d.title, s.hired from {staff} s left join {depts} d on s.dept = d.id",
            (
                Step(
                    "P61 unmatched rows and NULL keys stay",
                    "full",
                    "ann 10 sales h1 | bob 20 tax h1 | cyd - - h2 | dan - - h2",
                    4,
                ),
                Step(
                    "P62 the left side is stale",
                    "append",
                    "ann 10 sales h1 | bob 20 tax h1 | cyd - - h2 | dan - - h2 | eli 10 sales h3",
                    1,
                ),
                Step(
                    "P63 a new right row takes an old left row out of the NULLs",
                    "overwrite",
                    "ann 10 sales h1 | bob 20 tax h1 | cyd 30 ads h2 | dan - - h2 | eli 10 sales h3",
                    2,
                ),
                Step(
                    "P64 both sides are stale",
                    "overwrite",
                    "ann 10 sales h1 | bob 20 tax h1 | cyd 30 ads h2 | dan - - h2 | eli 10 sales h3 | fay 40 law h3 | gus - - h4",
                ),
                Step(
                    "P63 a right row vanishes and its left rows go to the NULLs",
                    "overwrite",
                    "ann - - h1 | bob 20 tax h1 | cyd 30 ads h2 | dan - - h2 | eli - - h3 | fay 40 law h3 | gus - - h4",
                    4,
                ),
            ),
        ),
    ),
)

ACCOUNTS = Group(
    tables={
        "clients": Table("id, name", "id", "(1, 'ann'), (2, 'bob')"),
        "payments": Table("client, amount", "client", "(1, 10), (1, 30), (3, 5)"),
    },
    rounds=(
        ["INSERT INTO {clients} VALUES (3, 'cyd'), (4, 'dave')"],
        ["INSERT INTO {payments} VALUES (2, 8)"],
        ["DELETE FROM {payments} WHERE client = 1"],
    ),
    views=(
        View(
            "client_totals",
            "select c.id, c.name, count(p.amount) as n, sum(p.amount) as total, avg(p.amount) as mean"
            " from {clients} c left join {payments} p on p.client = c.id group by c.id, c.name",
            (
                Step("P65 aggregates of unmatched rows are NULL", "full", "1 ann 2 40 20.0 | 2 bob 0 - -", 2),
                Step(
                    "P65 the left side is stale",
                    "overwrite",
                    "1 ann 2 40 20.0 | 2 bob 0 - - | 3 cyd 1 5 5.0 | 4 dave 0 - -",
                    2,
                ),
                Step(
                    "P65 the right side is stale",
                    "overwrite",
                    "1 ann 2 40 20.0 | 2 bob 1 8 8.0 | 3 cyd 1 5 5.0 | 4 dave 0 - -",
                    1,
                ),
                Step(
                    "P65 the last right row of a group vanishes",
                    "overwrite",
                    "1 ann 0 - - | 2 bob 1 8 8.0 | 3 cyd 1 5 5.0 | 4 dave 0 - -",
                    1,
                ),
            ),
        ),
        View(
            "paying_clients",
            "select c.id, c.name, p.amount from {clients} c left join {payments} p on p.client = c.id"
            " where p.amount is not null",
            (
                Step("P66 a filter drops unmatched rows", "full", "1 ann 10 | 1 ann 30", 2),
                Step("P66 the left side is stale", "append", "1 ann 10 | 1 ann 30 | 3 cyd 5", 1),
                Step("P66 the right side is stale", "overwrite", "1 ann 10 | 1 ann 30 | 3 cyd 5 | 2 bob 8", 1),
                Step("P66 right rows vanish", "overwrite", "3 cyd 5 | 2 bob 8", 0),
            ),
        ),
    ),
)

GROUPS = (STAFF, ACCOUNTS)


@pytest.fixture(scope="module")
def outcomes(lake: LakeProject) -> Outcomes:
    return play(lake, GROUPS)


@pytest.mark.parametrize(("view", "number"), cases(GROUPS))
def test_outer_join(outcomes: Outcomes, view: View, number: int) -> None:
    judge(outcomes, view, number)
