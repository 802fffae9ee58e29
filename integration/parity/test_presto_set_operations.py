"""Presto's cases of set operations and their nesting; the numbers are those of docs/presto-and-trino-cases.md."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject
from integration.support.rounds import Group, Outcomes, Step, Table, View, cases, judge, play

pytestmark = pytest.mark.long

PAIR = Group(
    tables={
        "s1": Table("id, v, day", "day", "(1, 100, 'd1'), (2, 200, 'd1')"),
        "s2": Table("id, v, day", "day", "(1, 100, 'd1'), (5, 500, 'd1')"),
    },
    rounds=(
        ["INSERT INTO {s1} VALUES (3, 300, 'd2')"],
        ["INSERT INTO {s1} VALUES (4, 400, 'd3')", "INSERT INTO {s2} VALUES (4, 400, 'd3')"],
        ["INSERT INTO {s2} VALUES (2, 200, 'd1')"],
        ["INSERT INTO {s1} VALUES (6, 600, 'd2')", "INSERT INTO {s2} VALUES (3, 300, 'd2')"],
        ["INSERT INTO {s1} VALUES (7, 700, 'd4'), (8, 800, 'd5')", "INSERT INTO {s2} VALUES (7, 700, 'd4')"],
        ["DELETE FROM {s2} WHERE id = 1"],
    ),
    views=(
        View(
            "either",
            "select id, day from {s1} union select id, day from {s2}",
            (
                Step("P77 P80 a row of both tables is there once", "full", "1 d1 | 2 d1 | 5 d1", 3),
                Step("P78 P115 one side gets a new day", "overwrite", "1 d1 | 2 d1 | 5 d1 | 3 d2", 1),
                Step("P79 both sides get the same new row", "overwrite", "1 d1 | 2 d1 | 5 d1 | 3 d2 | 4 d3", 1),
                Step("P80 a duplicate arrives", "overwrite", "1 d1 | 2 d1 | 5 d1 | 3 d2 | 4 d3", 0),
                Step("P79 both sides change an old day", "overwrite", "1 d1 | 2 d1 | 5 d1 | 3 d2 | 4 d3 | 6 d2", 2),
                Step(
                    "P79 several new days",
                    "overwrite",
                    "1 d1 | 2 d1 | 5 d1 | 3 d2 | 4 d3 | 6 d2 | 7 d4 | 8 d5",
                    2,
                ),
                Step(
                    "P80 one of two duplicates is deleted",
                    "overwrite",
                    "1 d1 | 2 d1 | 5 d1 | 3 d2 | 4 d3 | 6 d2 | 7 d4 | 8 d5",
                    0,
                ),
            ),
        ),
        View(
            "all_of_both",
            "select id, day from {s1} union all select id, day from {s2}",
            (
                Step("P80 a row of both tables is there twice", "full", "1 d1 | 2 d1 | 1 d1 | 5 d1", 4),
                Step("P80 one side gets a new day", "append", "1 d1 | 2 d1 | 1 d1 | 5 d1 | 3 d2", 1),
                Step(
                    "P80 both sides get the same new row",
                    "append",
                    "1 d1 | 2 d1 | 1 d1 | 5 d1 | 3 d2 | 4 d3 | 4 d3",
                    2,
                ),
                Step(
                    "P80 a duplicate arrives",
                    "append",
                    "1 d1 | 2 d1 | 1 d1 | 5 d1 | 3 d2 | 4 d3 | 4 d3 | 2 d1",
                    1,
                ),
                Step(
                    "P80 both sides change an old day",
                    "append",
                    "1 d1 | 2 d1 | 1 d1 | 5 d1 | 3 d2 | 4 d3 | 4 d3 | 2 d1 | 6 d2 | 3 d2",
                    2,
                ),
                Step(
                    "P80 several new days",
                    "append",
                    "1 d1 | 2 d1 | 1 d1 | 5 d1 | 3 d2 | 4 d3 | 4 d3 | 2 d1 | 6 d2 | 3 d2 | 7 d4 | 8 d5 | 7 d4",
                    3,
                ),
                Step(
                    "P80 one of two duplicates is deleted",
                    "overwrite",
                    "1 d1 | 2 d1 | 5 d1 | 3 d2 | 4 d3 | 4 d3 | 2 d1 | 6 d2 | 3 d2 | 7 d4 | 8 d5 | 7 d4",
                    4,
                ),
            ),
        ),
        View(
            "in_both",
            "select id, v, day from {s1} intersect select id, v, day from {s2}",
            (
                Step("first build", "full", "1 100 d1", 1),
                Step("P82 P119 the left side gets an unmatched row", "overwrite", "1 100 d1", 0),
                Step("P81 P118 both sides get the same new row", "overwrite", "1 100 d1 | 4 400 d3", 1),
                Step("P120 the right side matches an old row", "overwrite", "1 100 d1 | 4 400 d3 | 2 200 d1", 2),
                Step(
                    "P81 both sides change an old day",
                    "overwrite",
                    "1 100 d1 | 4 400 d3 | 2 200 d1 | 3 300 d2",
                    1,
                ),
                Step("P81 several new days", "overwrite", "1 100 d1 | 4 400 d3 | 2 200 d1 | 3 300 d2 | 7 700 d4", 1),
                Step("P81 a match is deleted", "overwrite", "4 400 d3 | 2 200 d1 | 3 300 d2 | 7 700 d4", 1),
            ),
        ),
        View(
            "only_left",
            "select id, v, day from {s1} except select id, v, day from {s2}",
            (
                Step("first build", "full", "2 200 d1", 1),
                Step("P83 P123 the left side gets a new day", "overwrite", "2 200 d1 | 3 300 d2", 1),
                Step("P100 both sides get the same new row", "overwrite", "2 200 d1 | 3 300 d2", 0),
                Step("P83 the right side alone takes an old row away", "overwrite", "3 300 d2", 0),
                Step("P102 the right side takes an old row of a day away that both get", "overwrite", "6 600 d2", 1),
                Step(
                    "P101 two new days on the left and one of them on the right", "overwrite", "6 600 d2 | 8 800 d5", 1
                ),
                Step(
                    "P102 a deleted row of the right side brings one back",
                    "overwrite",
                    "6 600 d2 | 8 800 d5 | 1 100 d1",
                    1,
                ),
            ),
        ),
    ),
)

SUBTRACTED = Group(
    tables={
        "plus": Table("id, key", "id, key", "(1, 100), (2, 200), (3, 300)"),
        "taken": Table("id, key", "id, key", "(2, 200)"),
        "named": Table("key, value", "key, value", "(300, 'z')"),
    },
    rounds=(
        [
            "INSERT INTO {plus} VALUES (7, 700)",
            "INSERT INTO {taken} VALUES (1, 100)",
            "INSERT INTO {named} VALUES (100, 'x'), (700, 'h')",
        ],
        ["DELETE FROM {taken} WHERE id = 2", "INSERT INTO {named} VALUES (200, 'y')"],
    ),
    views=(
        View(
            "rest_with_names",
            "select r.id, n.value from (select id, key from {plus} except select id, key from {taken}) r"
            " join {named} n on r.key = n.key",
            (
                Step("first build", "full", "3 z", 1),
                Step("P103 a row is taken away that a new row would match", "overwrite", "3 z | 7 h", 1),
                Step("P103 a row comes back that a new row matches", "overwrite", "3 z | 7 h | 2 y", 1),
            ),
        ),
    ),
)

# The rows of the nested tables, by the key that comes first.
PLACES = {"1": "1 d1 eu", "2": "2 d1 us", "3": "3 d1 eu", "4": "4 d2 eu", "5": "5 d2 us"}


def at(keys: str) -> str:
    return " | ".join(PLACES[key] for key in keys)


def nested(name: str, number: str, select: str, kinds: str, rows: tuple[str, str, str, str]) -> View:
    """A view over n1 to n4, which all have (k, day, region); `kinds` are those of the three rounds."""
    titles = ("first build", "one table gets a new partition", "all tables change", "rows of two tables are deleted")
    steps = [
        Step(f"{number} {title}", kind, at(keys))
        for title, kind, keys in zip(titles, ["full", *kinds.split()], rows, strict=True)
    ]
    return View(name, select, steps)


N = {i: f"select k, day, region from {{n{i}}}" for i in (1, 2, 3, 4)}
SAME = "x.k = y.k and x.day = y.day and x.region = y.region"
NESTED = Group(
    tables={
        "n1": Table("k, day, region", "day, region", "(1, 'd1', 'eu'), (2, 'd1', 'us')"),
        "n2": Table("k, day, region", "day, region", "(1, 'd1', 'eu'), (3, 'd1', 'eu')"),
        "n3": Table("k, day, region", "day, region", "(1, 'd1', 'eu'), (3, 'd1', 'eu'), (4, 'd2', 'eu')"),
        "n4": Table("k, day, region", "day, region", "(1, 'd1', 'eu'), (2, 'd1', 'us')"),
    },
    rounds=(
        ["INSERT INTO {n1} VALUES (4, 'd2', 'eu')"],
        [
            "INSERT INTO {n1} VALUES (5, 'd2', 'us')",
            "INSERT INTO {n2} VALUES (5, 'd2', 'us'), (2, 'd1', 'us')",
            "INSERT INTO {n3} VALUES (5, 'd2', 'us'), (2, 'd1', 'us')",
            "INSERT INTO {n4} VALUES (5, 'd2', 'us'), (3, 'd1', 'eu')",
        ],
        ["DELETE FROM {n1} WHERE k = 1", "DELETE FROM {n4} WHERE k = 3"],
    ),
    views=(
        nested(
            "union_all_joined",
            "P84",
            f"select x.k, x.day, x.region from ({N[1]} union all {N[2]}) x join {{n3}} y on {SAME}",
            "append append overwrite",
            ("113", "1134", "11223455", "1223455"),
        ),
        nested(
            "join_and_more",
            "P85",
            f"select x.k, x.day, x.region from {{n1}} x join {{n2}} y on {SAME} union all {N[3]}",
            "append append overwrite",
            ("1134", "1134", "11223455", "1223455"),
        ),
        nested(
            "unions_joined",
            "P86",
            f"select x.k, x.day, x.region from ({N[1]} union {N[2]}) x join ({N[3]} union {N[4]}) y on {SAME}",
            "overwrite overwrite overwrite",
            ("123", "1234", "12345", "12345"),
        ),
        nested(
            "intersections_joined",
            "P87",
            f"select x.k, x.day, x.region from ({N[1]} intersect {N[2]}) x join ({N[3]} intersect {N[4]}) y on {SAME}",
            "overwrite overwrite overwrite",
            ("1", "1", "125", "25"),
        ),
        nested(
            "joined_union_in_a_union",
            "P88",
            f"select x.k, x.day, x.region from ({N[1]} union {N[2]}) x join {{n3}} y on {SAME} union {N[4]}",
            "overwrite overwrite overwrite",
            ("123", "1234", "12345", "12345"),
        ),
        nested(
            "three_joined_in_a_union",
            "P89",
            f"select x.k, x.day, x.region from {{n1}} x join {{n2}} y on {SAME}"
            " join {n3} z on y.k = z.k and y.day = z.day and y.region = z.region"
            f" union {N[4]}",
            "overwrite overwrite overwrite",
            ("12", "12", "1235", "125"),
        ),
        View(
            "counts_and_rows",
            "select k, day, count(*) as n from {n1} group by k, day union all select k, day, 0 from {n2}",
            (
                Step("P91 first build", "full", "1 d1 1 | 2 d1 1 | 1 d1 0 | 3 d1 0", 4),
                Step(
                    "P91 the aggregated table gets a new partition",
                    "overwrite",
                    "1 d1 1 | 2 d1 1 | 4 d2 1 | 1 d1 0 | 3 d1 0",
                    1,
                ),
                Step(
                    "P91 both tables change",
                    "overwrite",
                    "1 d1 1 | 2 d1 1 | 4 d2 1 | 5 d2 1 | 1 d1 0 | 3 d1 0 | 5 d2 0 | 2 d1 0",
                    8,
                ),
                Step(
                    "P91 a row of the aggregated table is deleted",
                    "overwrite",
                    "2 d1 1 | 4 d2 1 | 5 d2 1 | 1 d1 0 | 3 d1 0 | 5 d2 0 | 2 d1 0",
                    4,
                ),
            ),
        ),
    ),
)

LEFT = "select a.id, a.x, b.y, a.day from {ja} a join {jb} b on a.id = b.id and a.day = b.day"
RIGHT = "select c.id, c.x, d.y, c.day from {jc} c join {jd} d on c.id = d.id and c.day = d.day"
R1, R2, R3, R4, R5, R6 = "1 x1 y1 d1", "2 x2 y2 d1", "3 x3 y3 d2", "4 x4 y4 d3", "5 x5 y5 d3", "6 x6 y6 d4"
JOINED = Group(
    tables={
        "ja": Table("id, x, day", "day", "(1, 'x1', 'd1'), (2, 'x2', 'd1')"),
        "jb": Table("id, y, day", "day", "(1, 'y1', 'd1'), (2, 'y2', 'd1'), (3, 'y3', 'd2')"),
        "jc": Table("id, x, day", "day", "(1, 'x1', 'd1')"),
        "jd": Table("id, y, day", "day", "(1, 'y1', 'd1')"),
    },
    rounds=(
        ["INSERT INTO {ja} VALUES (3, 'x3', 'd2')"],
        ["INSERT INTO {jc} VALUES (3, 'x3', 'd2')", "INSERT INTO {jd} VALUES (3, 'y3', 'd2')"],
        [
            "INSERT INTO {ja} VALUES (4, 'x4', 'd3'), (5, 'x5', 'd3')",
            "INSERT INTO {jb} VALUES (4, 'y4', 'd3'), (5, 'y5', 'd3')",
            "INSERT INTO {jc} VALUES (4, 'x4', 'd3')",
            "INSERT INTO {jd} VALUES (4, 'y4', 'd3')",
        ],
        ["INSERT INTO {ja} VALUES (6, 'x6', 'd4')", "INSERT INTO {jb} VALUES (6, 'y6', 'd4')"],
        ["DELETE FROM {jd} WHERE id = 1"],
    ),
    views=(
        View(
            "join_except_join",
            f"{LEFT} except {RIGHT}",
            (
                Step("first build", "full", R2, 1),
                Step("P92 P126 the left join is stale", "overwrite", f"{R2} | {R3}", 1),
                Step("P93 P127 the right join takes an old row away", "overwrite", R2, 0),
                Step("P94 P128 both joins are stale", "overwrite", f"{R2} | {R5}", 1),
                Step("P95 both tables of one join are stale", "overwrite", f"{R2} | {R5} | {R6}", 1),
                Step(
                    "P93 a deleted row of the right join brings one back", "overwrite", f"{R1} | {R2} | {R5} | {R6}", 2
                ),
            ),
        ),
        View(
            "join_intersect_join",
            f"{LEFT} intersect {RIGHT}",
            (
                Step("first build", "full", R1, 1),
                Step("P96 the left join is stale", "overwrite", R1, 0),
                Step("P97 the right join matches an old row", "overwrite", f"{R1} | {R3}", 1),
                Step("P98 both joins are stale", "overwrite", f"{R1} | {R3} | {R4}", 1),
                Step("P99 both tables of one join are stale", "overwrite", f"{R1} | {R3} | {R4}", 0),
                Step("P97 a match is deleted", "overwrite", f"{R3} | {R4}", 0),
            ),
        ),
    ),
)

GROUPS = (PAIR, SUBTRACTED, NESTED, JOINED)


@pytest.fixture(scope="module")
def outcomes(lake: LakeProject) -> Outcomes:
    return play(lake, GROUPS)


@pytest.mark.parametrize(("view", "number"), cases(GROUPS))
def test_set_operation(outcomes: Outcomes, view: View, number: int) -> None:
    judge(outcomes, view, number)
