"""Presto's cases of aggregates, HAVING and windows; the numbers are those of docs/presto-and-trino-cases.md."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject
from integration.support.rounds import Group, Outcomes, Step, Table, View, cases, judge, play

pytestmark = pytest.mark.long

FIVE = "count(*) as n, sum(value) as total, avg(value) as mean, min(value) as low, max(value) as high"

RECEIPTS = Group(
    tables={
        "receipts": Table("category, value, day", "day", "('a', 50, 'd1'), ('a', 100, 'd1'), ('b', 150, 'd1')"),
    },
    rounds=(
        ["INSERT INTO {receipts} VALUES ('a', 30, 'd2'), ('c', 7, 'd2')"],
        ["INSERT INTO {receipts} VALUES ('a', 20, 'd1'), ('b', 10, 'd1')"],
        ["DELETE FROM {receipts} WHERE category = 'b'"],
    ),
    views=(
        View(
            "five_aggregates",
            f"select category, {FIVE} from {{receipts}} group by category",
            (
                Step("P3 first build", "full", "a 2 150 75.0 50 100 | b 1 150 150.0 150 150"),
                Step(
                    "P52 a new day touches an old group and adds one",
                    "merge",
                    "a 3 180 60.0 30 100 | b 1 150 150.0 150 150 | c 1 7 7.0 7 7",
                    3,
                ),
                Step(
                    "P22 rows in an old day and the day is not kept",
                    "merge",
                    "a 4 200 50.0 20 100 | b 2 160 80.0 10 150 | c 1 7 7.0 7 7",
                    3,
                ),
                Step("P52 a group vanishes", "merge", "a 4 200 50.0 20 100 | c 1 7 7.0 7 7", 2),
            ),
        ),
        View(
            "five_aggregates_by_day",
            f"select category, day, {FIVE} from {{receipts}} group by category, day",
            (
                Step("P3 first build", "full", "a d1 2 150 75.0 50 100 | b d1 1 150 150.0 150 150", 2),
                Step(
                    "P10 P111 a new day adds its groups",
                    "overwrite",
                    "a d1 2 150 75.0 50 100 | b d1 1 150 150.0 150 150 | a d2 1 30 30.0 30 30 | c d2 1 7 7.0 7 7",
                    2,
                ),
                Step(
                    "P10 rows in an old day change its groups",
                    "overwrite",
                    "a d1 3 170 56.666666666666664 20 100 | b d1 2 160 80.0 10 150 | a d2 1 30 30.0 30 30 | c d2 1 7 7.0 7 7",
                    2,
                ),
                Step(
                    "P10 a group vanishes",
                    "overwrite",
                    "a d1 3 170 56.666666666666664 20 100 | a d2 1 30 30.0 30 30 | c d2 1 7 7.0 7 7",
                    1,
                ),
            ),
        ),
    ),
)

GAPS = Group(
    tables={
        "gaps": Table(
            "category, value, person",
            "category",
            "('a', 30, 'u1'), ('a', NULL, 'u1'), ('b', NULL, NULL), (NULL, 5, 'u1')",
        )
    },
    rounds=(
        ["INSERT INTO {gaps} VALUES ('a', 40, 'u2'), ('a', 40, 'u1'), ('b', NULL, 'u9'), (NULL, NULL, 'u2')"],
        ["DELETE FROM {gaps} WHERE value IS NOT NULL"],
    ),
    views=(
        View(
            "counts_with_nulls",
            "select category, count(*) as n, count(value) as known, sum(value) as total, min(value) as low,"
            " max(value) as high, count(distinct person) as persons from {gaps} group by category",
            (
                Step("first build", "full", "a 2 1 30 30 30 1 | b 1 0 - - - 0 | - 1 1 5 5 5 1", 3),
                Step(
                    "P56 P57 P122 NULLs and duplicates arrive in old groups",
                    "overwrite",
                    "a 4 3 110 30 40 2 | b 2 0 - - - 1 | - 2 1 5 5 5 2",
                    3,
                ),
                Step(
                    "P56 P57 only NULLs stay",
                    "overwrite",
                    "a 1 0 - - - 1 | b 2 0 - - - 1 | - 1 0 - - - 1",
                    2,
                ),
            ),
        ),
    ),
)

BIDS = Group(
    tables={
        "bids": Table(
            "category, value, person", "category", "('a', 30, 'u1'), ('a', 40, 'u2'), ('b', 60, 'u1'), ('c', 5, 'u1')"
        ),
        "labels": Table("category, label", "category", "('b', 'beer')"),
    },
    rounds=(
        [
            "INSERT INTO {bids} VALUES ('b', 70, 'u2'), ('c', 1, 'u3'), ('d', 200, 'u1')",
            "INSERT INTO {labels} VALUES ('d', 'dish')",
        ],
        [
            "DELETE FROM {bids} WHERE value = 60",
            "INSERT INTO {bids} VALUES ('a', 90, 'u3')",
            "INSERT INTO {labels} VALUES ('a', 'ale')",
        ],
        ["INSERT INTO {labels} VALUES ('c', 'cake')"],
    ),
    views=(
        View(
            "having_sum",
            "select category, sum(value) as total from {bids} group by category having sum(value) > 100",
            (
                Step("first build", "full", "", 0),
                Step("P67 a sum lets groups enter", "overwrite", "b 130 | d 200", 2),
                Step("P67 a sum lets a group leave", "overwrite", "a 160 | d 200", 1),
                Step("nothing changed", "none", "a 160 | d 200"),
            ),
        ),
        View(
            "having_sum_over_join",
            "select b.category, sum(b.value) as total from {bids} b join {labels} l on b.category = l.category"
            " group by b.category having sum(b.value) > 100",
            (
                Step("first build", "full", "", 0),
                Step("P68 groups enter with both sides stale", "overwrite", "b 130 | d 200", 2),
                Step("P68 one group enters and one leaves with both sides stale", "overwrite", "a 160 | d 200", 1),
                Step("P68 a new right row lets no group enter", "overwrite", "a 160 | d 200", 0),
            ),
        ),
        View(
            "having_sum_and_count",
            "select category, count(*) as n from {bids} group by category having sum(value) > 50 and count(*) >= 2",
            (
                Step("first build", "full", "a 2", 1),
                Step("P69 a sum and a count let a group enter", "overwrite", "a 2 | b 2", 1),
                Step("P69 a sum and a count let a group leave", "overwrite", "a 3", 1),
                Step("nothing changed", "none", "a 3"),
            ),
        ),
        View(
            "having_average",
            "select category, avg(value) as mean from {bids} group by category having avg(value) < 50",
            (
                Step("first build", "full", "a 35.0 | c 5.0", 2),
                Step("P70 an average changes", "overwrite", "a 35.0 | c 3.0", 1),
                Step("P70 a group grows out of the average", "overwrite", "c 3.0", 0),
                Step("nothing changed", "none", "c 3.0"),
            ),
        ),
        View(
            "having_distinct_count",
            "select category, count(distinct person) as n from {bids} group by category"
            " having count(distinct person) = 2",
            (
                Step("first build", "full", "a 2", 1),
                Step("P71 a distinct count lets groups enter", "overwrite", "a 2 | b 2 | c 2", 2),
                Step("P71 a distinct count lets groups leave", "overwrite", "c 2", 0),
                Step("nothing changed", "none", "c 2"),
            ),
        ),
        View(
            "having_three_conditions",
            f"select category, {FIVE} from {{bids}} group by category"
            " having sum(value) > 50 and count(*) > 1 and max(value) >= 40",
            (
                Step("first build", "full", "a 2 70 35.0 30 40", 1),
                Step(
                    "P72 P73 three conditions let a group enter",
                    "overwrite",
                    "a 2 70 35.0 30 40 | b 2 130 65.0 60 70",
                    1,
                ),
                Step("P72 P73 three conditions let a group leave", "overwrite", "a 3 160 53.333333333333336 30 90", 1),
                Step("nothing changed", "none", "a 3 160 53.333333333333336 30 90"),
            ),
        ),
        View(
            "windows",
            "select category, value, sum(value) over (partition by category) as total,"
            " count(*) over (partition by category) as n, avg(value) over (partition by category) as mean from {bids}",
            (
                Step(
                    "P58 windows over fresh tables",
                    "full",
                    "a 30 70 2 35.0 | a 40 70 2 35.0 | b 60 60 1 60.0 | c 5 5 1 5.0",
                    4,
                ),
                Step(
                    "P59 old rows get new totals",
                    "overwrite",
                    "a 30 70 2 35.0 | a 40 70 2 35.0 | b 60 130 2 65.0 | b 70 130 2 65.0 | c 5 6 2 3.0 | c 1 6 2 3.0"
                    " | d 200 200 1 200.0",
                    5,
                ),
                Step(
                    "P59 rows leave and enter the windows",
                    "overwrite",
                    "a 30 160 3 53.333333333333336 | a 40 160 3 53.333333333333336 | a 90 160 3 53.333333333333336"
                    " | b 70 70 1 70.0 | c 5 6 2 3.0 | c 1 6 2 3.0 | d 200 200 1 200.0",
                    4,
                ),
                Step(
                    "nothing changed",
                    "none",
                    "a 30 160 3 53.333333333333336 | a 40 160 3 53.333333333333336 | a 90 160 3 53.333333333333336"
                    " | b 70 70 1 70.0 | c 5 6 2 3.0 | c 1 6 2 3.0 | d 200 200 1 200.0",
                ),
            ),
        ),
        View(
            "windows_over_join",
            "select b.category, b.value, sum(b.value) over (partition by b.category) as total"
            " from {bids} b join {labels} l on b.category = l.category",
            (
                Step("first build", "full", "b 60 60", 1),
                Step("P60 windows with both sides stale", "overwrite", "b 60 130 | b 70 130 | d 200 200", 3),
                Step(
                    "P60 rows leave and enter the windows with both sides stale",
                    "overwrite",
                    "a 30 160 | a 40 160 | a 90 160 | b 70 70 | d 200 200",
                    4,
                ),
                Step(
                    "P60 the right side is stale",
                    "overwrite",
                    "a 30 160 | a 40 160 | a 90 160 | b 70 70 | d 200 200 | c 5 6 | c 1 6",
                    2,
                ),
            ),
        ),
        View(
            "windows_across_partitions",
            "select category, person, sum(value) over (partition by person) as total from {bids}",
            (
                Step("first build", "full", "a u1 95 | a u2 40 | b u1 95 | c u1 95", 4),
                Step(
                    "P59 windows that cross partitions",
                    "overwrite",
                    "a u1 295 | a u2 110 | b u1 295 | c u1 295 | b u2 110 | c u3 1 | d u1 295",
                    7,
                ),
                Step(
                    "P59 rows leave and enter windows that cross partitions",
                    "overwrite",
                    "a u1 235 | a u2 110 | c u1 235 | b u2 110 | c u3 91 | d u1 235 | a u3 91",
                    5,
                ),
                Step(
                    "nothing changed",
                    "none",
                    "a u1 235 | a u2 110 | c u1 235 | b u2 110 | c u3 91 | d u1 235 | a u3 91",
                ),
            ),
        ),
    ),
)

LINES = Group(
    tables={
        "lines": Table("product, qty, day", "day", "(1, 2, 'd1'), (2, 1, 'd1')"),
        "products": Table("id, price, category", "category", "(1, 10, 'book'), (2, 100, 'tv')"),
    },
    rounds=(
        [
            "INSERT INTO {products} VALUES (3, 5, 'toy'), (4, 50, 'tv')",
            "INSERT INTO {lines} VALUES (1, 3, 'd2'), (4, 2, 'd2'), (3, 1, 'd2')",
        ],
        ["INSERT INTO {products} VALUES (1, 1, 'book')"],
        ["INSERT INTO {lines} VALUES (2, 1, 'd1')"],
    ),
    views=(
        View(
            "revenue",
            "select p.category, sum(l.qty * p.price) as total from {lines} l join {products} p on l.product = p.id"
            " group by p.category",
            (
                Step("first build", "full", "book 20 | tv 100", 2),
                Step("P23 P54 both sides are stale and one key is kept", "merge", "book 50 | tv 200 | toy 5", 3),
                Step("P23 the side whose key is kept is stale", "overwrite", "book 55 | tv 200 | toy 5", 1),
                Step("P53 the side whose key is lost is stale", "merge", "book 55 | tv 300 | toy 5", 3),
            ),
            {"partition_by": []},
        ),
        View(
            "revenue_by_partition",
            "select p.category, sum(l.qty * p.price) as total from {lines} l join {products} p on l.product = p.id"
            " group by p.category",
            (
                Step("first build", "full", "book 20 | tv 100", 2),
                Step("P24 every group is there once", "merge", "book 50 | tv 200 | toy 5", 3),
                Step("P24 the side whose key is kept is stale", "overwrite", "book 55 | tv 200 | toy 5", 1),
                Step("P24 the side whose key is lost is stale", "merge", "book 55 | tv 300 | toy 5", 3),
            ),
            {"partition_by": "category"},
        ),
        View(
            "revenue_by_day",
            "select p.category, l.day, sum(l.qty * p.price) as total, count(*) as n, min(p.price) as low"
            " from {lines} l join {products} p on l.product = p.id group by p.category, l.day",
            (
                Step("first build", "full", "book d1 20 1 10 | tv d1 100 1 100", 2),
                Step(
                    "P53 both sides are stale and both keys are kept",
                    "overwrite",
                    "book d1 20 1 10 | tv d1 100 1 100 | book d2 30 1 10 | tv d2 100 1 50 | toy d2 5 1 5",
                ),
                Step(
                    "P53 a new right row joins old left rows",
                    "overwrite",
                    "book d1 22 2 1 | tv d1 100 1 100 | book d2 33 2 1 | tv d2 100 1 50 | toy d2 5 1 5",
                    2,
                ),
                Step(
                    "P53 the left side is stale",
                    "overwrite",
                    "book d1 22 2 1 | tv d1 200 2 100 | book d2 33 2 1 | tv d2 100 1 50 | toy d2 5 1 5",
                    2,
                ),
            ),
        ),
    ),
)

DICE = Group(
    tables={"dice": Table("id, value, day", "day", "(1, 10, 'd1'), (2, 20, 'd1')")},
    rounds=(["INSERT INTO {dice} VALUES (3, 30, 'd2')"], []),
    views=(
        View(
            "random_filter",
            "select id, day from {dice} where rand() >= 0",
            (
                Step("first build", "full", "1 d1 | 2 d1", 2),
                Step("P75 a random filter is evaluated anew", "full", "1 d1 | 2 d1 | 3 d2", 3),
                Step("P75 also when nothing changed", "full", "1 d1 | 2 d1 | 3 d2", 0),
            ),
        ),
        View(
            "random_sum",
            "select day, sum(v) as total from (select day, value * (1 + 0 * rand()) as v from {dice}) group by day",
            (
                Step("first build", "full", "d1 30.0", 1),
                Step("P76 a random aggregate is evaluated anew", "full", "d1 30.0 | d2 30.0", 2),
                Step("P76 also when nothing changed", "full", "d1 30.0 | d2 30.0", 0),
            ),
        ),
    ),
)

GROUPS = (RECEIPTS, GAPS, BIDS, LINES, DICE)


@pytest.fixture(scope="module")
def outcomes(lake: LakeProject) -> Outcomes:
    return play(lake, GROUPS)


@pytest.mark.parametrize(("view", "number"), cases(GROUPS))
def test_aggregate(outcomes: Outcomes, view: View, number: int) -> None:
    judge(outcomes, view, number)
