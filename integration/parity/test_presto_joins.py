"""Presto's cases of materialized views over inner joins; the numbers are those of docs/presto-and-trino-cases.md."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject
from integration.support.rounds import Group, Outcomes, Step, Table, View, cases, judge, play

SHOP = Group(
    tables={
        "orders": Table(
            "id, customer, amount, day",
            "day",
            "(1, 1, 10, date'2024-01-01'), (2, 2, 20, date'2024-01-01'), (3, 1, 30, date'2024-01-02')",
        ),
        "customers": Table("id, name", "", "(1, 'ann'), (2, 'bob'), (9, 'zoe')"),
    },
    rounds=(
        ["INSERT INTO {orders} VALUES (4, 2, 40, date'2024-01-03')"],
        ["UPDATE {orders} SET amount = 11 WHERE id = 1"],
        ["UPDATE {customers} SET name = 'bea' WHERE id = 2"],
    ),
    views=(
        View(
            "named_orders",
            "select o.id, c.name, o.amount, o.day from {orders} o join {customers} c on o.customer = c.id",
            (
                Step("first build", "full", "1 ann 10 2024-01-01 | 2 bob 20 2024-01-01 | 3 ann 30 2024-01-02", 3),
                Step(
                    "P13 P14 P114 a new day joins an unpartitioned table",
                    "append",
                    "1 ann 10 2024-01-01 | 2 bob 20 2024-01-01 | 3 ann 30 2024-01-02 | 4 bob 40 2024-01-03",
                    1,
                ),
                Step(
                    "P13 an updated row rewrites its day",
                    "overwrite",
                    "1 ann 11 2024-01-01 | 2 bob 20 2024-01-01 | 3 ann 30 2024-01-02 | 4 bob 40 2024-01-03",
                    2,
                ),
                Step(
                    "P13 an update of the unpartitioned side reaches every day",
                    "overwrite",
                    "1 ann 11 2024-01-01 | 2 bea 20 2024-01-01 | 3 ann 30 2024-01-02 | 4 bea 40 2024-01-03",
                    2,
                ),
            ),
        ),
        View(
            "large_orders",
            "select o.id, c.name, o.day from {orders} o join {customers} c on o.customer = c.id where o.amount > 10",
            (
                Step("first build", "full", "2 bob 2024-01-01 | 3 ann 2024-01-02", 2),
                Step(
                    "P113 a new day joins under a filter",
                    "append",
                    "2 bob 2024-01-01 | 3 ann 2024-01-02 | 4 bob 2024-01-03",
                    1,
                ),
                Step(
                    "P113 an update lets an old row pass the filter",
                    "overwrite",
                    "1 ann 2024-01-01 | 2 bob 2024-01-01 | 3 ann 2024-01-02 | 4 bob 2024-01-03",
                    2,
                ),
                Step(
                    "P113 an update of the unpartitioned side",
                    "overwrite",
                    "1 ann 2024-01-01 | 2 bea 2024-01-01 | 3 ann 2024-01-02 | 4 bea 2024-01-03",
                    2,
                ),
            ),
        ),
    ),
)

DATED = Group(
    tables={
        "calls": Table("id, member, day", "day", "(1, 1, 'd1'), (2, 2, 'd2')"),
        "members": Table("id, name, since", "since", "(1, 'ann', 'd1'), (2, 'bob', 'd2'), (3, 'cyd', 'd2')"),
    },
    rounds=(
        ["INSERT INTO {calls} VALUES (3, 4, 'd3')", "INSERT INTO {members} VALUES (4, 'dan', 'd3')"],
        ["INSERT INTO {calls} VALUES (5, 3, 'd2')", "INSERT INTO {members} VALUES (1, 'eve', 'd1')"],
        ["DELETE FROM {members} WHERE name = 'ann'"],
    ),
    views=(
        View(
            "calls_both_days",
            "select c.id, m.name, c.day, m.since from {calls} c join {members} m"
            " on c.member = m.id and c.day = m.since",
            (
                Step("first build", "full", "1 ann d1 d1 | 2 bob d2 d2", 2),
                Step(
                    "P15 P110 P116 both sides get the same new day",
                    "append",
                    "1 ann d1 d1 | 2 bob d2 d2 | 3 dan d3 d3",
                    1,
                ),
                Step(
                    "P110 both sides get rows in different old days",
                    "append",
                    "1 ann d1 d1 | 1 eve d1 d1 | 2 bob d2 d2 | 3 dan d3 d3 | 5 cyd d2 d2",
                    2,
                ),
                Step(
                    "P110 a row of one side is deleted",
                    "overwrite",
                    "1 eve d1 d1 | 2 bob d2 d2 | 3 dan d3 d3 | 5 cyd d2 d2",
                    1,
                ),
            ),
        ),
        View(
            "calls_one_day",
            "select c.id, m.name, c.day from {calls} c join {members} m on c.member = m.id and c.day = m.since",
            (
                Step("first build", "full", "1 ann d1 | 2 bob d2", 2),
                Step("P15 both sides get the same new day", "append", "1 ann d1 | 2 bob d2 | 3 dan d3", 1),
                Step(
                    "P117 the sides change on different days and one day column is kept",
                    "append",
                    "1 ann d1 | 1 eve d1 | 2 bob d2 | 3 dan d3 | 5 cyd d2",
                    2,
                ),
                Step(
                    "P117 a delete on the side whose day is known through the join",
                    "overwrite",
                    "1 eve d1 | 2 bob d2 | 3 dan d3 | 5 cyd d2",
                    1,
                ),
            ),
        ),
    ),
)

THREE = Group(
    tables={
        "t1": Table("id, a, p", "p", "(1, 'a1', 'p1'), (2, 'a2', 'p1')"),
        "t2": Table("id, b, q", "q", "(1, 'b1', 'q1'), (7, 'b7', 'q0')"),
        "t3": Table("id, c, s", "s", "(1, 'c1', 's1')"),
    },
    rounds=(
        [
            "INSERT INTO {t1} VALUES (3, 'a3', 'p2'), (7, 'a7', 'p7')",
            "INSERT INTO {t2} VALUES (2, 'b2', 'q1')",
            "INSERT INTO {t3} VALUES (2, 'c2', 's2')",
        ],
        [
            "INSERT INTO {t1} VALUES (4, 'a4', 'p4'), (5, 'a5', 'p5'), (6, 'a6', 'p6')",
            "INSERT INTO {t2} VALUES (3, 'b3', 'q3'), (4, 'b4', 'q4'), (5, 'b5', 'q5')",
        ],
        ["UPDATE {t2} SET b = 'B1', q = 'q9' WHERE id = 1"],
    ),
    views=(
        View(
            "three_ways",
            "select t1.id, a, b, c, p, q, s from {t1} t1 join {t2} t2 on t1.id = t2.id join {t3} t3 on t2.id = t3.id",
            (
                Step("first build", "full", "1 a1 b1 c1 p1 q1 s1", 1),
                Step(
                    "P16 P112 two tables get new partitions and one an old one",
                    "append",
                    "1 a1 b1 c1 p1 q1 s1 | 2 a2 b2 c2 p1 q1 s2",
                    1,
                ),
                Step(
                    "P112 new partitions that match nothing", "append", "1 a1 b1 c1 p1 q1 s1 | 2 a2 b2 c2 p1 q1 s2", 0
                ),
                Step(
                    "P16 an update in the middle table",
                    "overwrite",
                    "1 a1 B1 c1 p1 q9 s1 | 2 a2 b2 c2 p1 q1 s2",
                    2,
                ),
            ),
        ),
        View(
            "two_ways",
            "select t1.id, a, b, p, q from {t1} t1 join {t2} t2 on t1.id = t2.id",
            (
                Step("first build", "full", "1 a1 b1 p1 q1", 1),
                Step(
                    "P110 both sides stale and joined on no partition column",
                    "append",
                    "1 a1 b1 p1 q1 | 2 a2 b2 p1 q1 | 7 a7 b7 p7 q0",
                    2,
                ),
                Step(
                    "P17 three new partitions on each side",
                    "append",
                    "1 a1 b1 p1 q1 | 2 a2 b2 p1 q1 | 7 a7 b7 p7 q0 | 3 a3 b3 p2 q3 | 4 a4 b4 p4 q4 | 5 a5 b5 p5 q5",
                    3,
                ),
                Step(
                    "P17 a row moves to another partition",
                    "overwrite",
                    "1 a1 B1 p1 q9 | 2 a2 b2 p1 q1 | 7 a7 b7 p7 q0 | 3 a3 b3 p2 q3 | 4 a4 b4 p4 q4 | 5 a5 b5 p5 q5",
                    2,
                ),
            ),
        ),
        View(
            "distinct_partitions",
            "select distinct p, q from {t1} t1 join {t2} t2 on t1.id = t2.id",
            (
                Step("first build", "full", "p1 q1", 1),
                Step(
                    "P55 P125 a new row joins an old partition and another one is a duplicate",
                    "overwrite",
                    "p1 q1 | p7 q0",
                    2,
                ),
                Step(
                    "P125 new partitions on both sides",
                    "overwrite",
                    "p1 q1 | p7 q0 | p2 q3 | p4 q4 | p5 q5",
                ),
                Step(
                    "P125 one of two duplicates moves away",
                    "overwrite",
                    "p1 q1 | p1 q9 | p7 q0 | p2 q3 | p4 q4 | p5 q5",
                    2,
                ),
            ),
        ),
    ),
)

EVENTS = Group(
    tables={
        "events": Table("id, v, day", "day", "(1, 10, 'd1'), (2, 20, 'd1'), (3, 30, 'd2')"),
        "places": Table("id, region", "region", "(1, 'eu'), (2, 'us'), (3, 'eu'), (4, 'us')"),
        "notes": Table("id, note", "", "(1, 'x'), (2, 'y'), (3, 'z')"),
    },
    rounds=(
        ["INSERT INTO {events} VALUES (4, 40, 'd3')", "INSERT INTO {notes} VALUES (4, 'n')"],
        ["DELETE FROM {events} WHERE id = 1"],
    ),
    views=(
        View(
            "placed_events",
            "select e.id, e.day, p.region from {events} e join {places} p on e.id = p.id",
            (
                Step("first build", "full", "1 d1 eu | 2 d1 us | 3 d2 eu", 3),
                Step(
                    "P19 P21 a new row joins an old one and both partition columns are kept",
                    "append",
                    "1 d1 eu | 2 d1 us | 3 d2 eu | 4 d3 us",
                    1,
                ),
                Step("P19 P21 a deleted row rewrites its day", "overwrite", "2 d1 us | 3 d2 eu | 4 d3 us", 1),
            ),
        ),
        View(
            "events_without_day",
            "select e.id, e.v from {events} e join {places} p on e.id = p.id",
            (
                Step("first build", "full", "1 10 | 2 20 | 3 30", 3),
                Step("P20 a new row and no partition column is kept", "append", "1 10 | 2 20 | 3 30 | 4 40", 1),
                Step("P20 a deleted row and no partition column is kept", "overwrite", "2 20 | 3 30 | 4 40", 1),
            ),
        ),
        View(
            "noted_events",
            "select e.id, n.note from {events} e join {notes} n on e.id = n.id",
            (
                Step("first build", "full", "1 x | 2 y | 3 z", 3),
                Step("P18 both sides stale and one is unpartitioned", "append", "1 x | 2 y | 3 z | 4 n", 1),
                Step("P18 a deleted row and no partition column is kept", "overwrite", "2 y | 3 z | 4 n", 1),
            ),
        ),
    ),
)

WIDENED = Group(
    tables={
        "sold": Table("id, region, day", "day, region", "(1, 'eu', 'd1'), (2, 'us', 'd1'), (3, 'eu', 'd2')"),
    },
    rounds=(["UPDATE {sold} SET id = 10 WHERE id = 1"],),
    views=(
        View(
            "sold_days",
            "select id, day from {sold}",
            (
                Step("first build", "full", "1 d1 | 2 d1 | 3 d2", 3),
                Step("P124 one of two partition columns is kept", "overwrite", "10 d1 | 2 d1 | 3 d2", 2),
            ),
        ),
    ),
)

NESTED = Group(
    tables={
        "sales": Table("id, buyer, item, day", "day", "(1, 1, 1, 'd1')"),
        "buyers": Table("id, name, day", "day", "(1, 'ann', 'd1')"),
        "items": Table("id, kind, day", "day", "(1, 5, 'd1')"),
        "kinds": Table("id, label, day", "day", "(5, 'tool', 'd1')"),
    },
    rounds=(
        [
            "INSERT INTO {buyers} VALUES (1, 'ann', 'd2')",
            "INSERT INTO {items} VALUES (1, 5, 'd2')",
            "INSERT INTO {kinds} VALUES (5, 'tool', 'd2')",
        ],
        ["INSERT INTO {sales} VALUES (2, 1, 1, 'd2')"],
        ["INSERT INTO {sales} VALUES (3, 2, 1, 'd2')", "INSERT INTO {buyers} VALUES (2, 'bob', 'd2')"],
        [
            "INSERT INTO {sales} VALUES (4, 1, 2, 'd3')",
            "INSERT INTO {buyers} VALUES (1, 'ann', 'd3')",
            "INSERT INTO {items} VALUES (2, 6, 'd3')",
            "INSERT INTO {kinds} VALUES (6, 'toy', 'd3')",
        ],
        ["DELETE FROM {kinds} WHERE day = 'd3'"],
    ),
    views=(
        View(
            "joins_of_joins",
            "select s.id, b.name, k.label, s.day"
            " from ({sales} s join {buyers} b on s.buyer = b.id and s.day = b.day)"
            " join ({items} i join {kinds} k on i.kind = k.id and i.day = k.day) on s.item = i.id and s.day = i.day",
            (
                Step("first build", "full", "1 ann tool d1", 1),
                Step("P90 P121 three tables change and match nothing", "append", "1 ann tool d1", 0),
                Step("P90 one table is stale", "append", "1 ann tool d1 | 2 ann tool d2", 1),
                Step("P90 two tables are stale", "append", "1 ann tool d1 | 2 ann tool d2 | 3 bob tool d2", 1),
                Step(
                    "P90 all four are stale",
                    "append",
                    "1 ann tool d1 | 2 ann tool d2 | 3 bob tool d2 | 4 ann toy d3",
                    1,
                ),
                Step(
                    "P90 a partition of the innermost table vanishes",
                    "overwrite",
                    "1 ann tool d1 | 2 ann tool d2 | 3 bob tool d2",
                    0,
                ),
            ),
        ),
    ),
)

GROUPS = (SHOP, EVENTS)
OTHERS = (NESTED, DATED, THREE, WIDENED)


@pytest.fixture(scope="module")
def outcomes(lake: LakeProject) -> Outcomes:
    return play(lake, GROUPS)


@pytest.fixture(scope="module")
def other_outcomes(lake: LakeProject) -> Outcomes:
    return play(lake, OTHERS)


@pytest.mark.parametrize(("view", "number"), [*cases(GROUPS), *cases(OTHERS, pytest.mark.long)])
def test_join(request: pytest.FixtureRequest, view: View, number: int) -> None:
    is_other = any(view in group.views for group in OTHERS)
    judge(request.getfixturevalue("other_outcomes" if is_other else "outcomes"), view, number)
