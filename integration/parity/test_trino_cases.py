"""Trino's cases of materialized views; the numbers are those of docs/presto-and-trino-cases.md."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject
from integration.support.rounds import Group, Outcomes, Step, Table, View, cases, judge, play

pytestmark = pytest.mark.long

SUMS = Group(
    tables={"sums": Table("a", "", "(10)")},
    rounds=(
        [
            "INSERT INTO {sums} VALUES (7)",
            "INSERT INTO {sums} VALUES (5)",
            "CALL lake.system.expire_snapshots(table => '{sums}', older_than => timestamp'2100-01-01 00:00:00')",
        ],
        ["ALTER TABLE {sums} CREATE TAG at22", "INSERT INTO {sums} VALUES (4)", "INSERT INTO {sums} VALUES (8)"],
        ["CALL lake.system.set_current_snapshot(table => '{sums}', ref => 'at22')"],
    ),
    views=(
        View(
            "sum_of_all",
            "select sum(a) as total from {sums}",
            (
                Step("first build", "full", "10", 1),
                Step("T8 the recorded snapshot has expired", "full", "22", 1),
                Step("T9 more rows", "merge", "34", 1),
                Step("T9 the base is rolled back", "merge", "22", 1),
            ),
        ),
    ),
)

TWICE = Group(
    tables={"twice": Table("a", "", "(1), (2), (3)")},
    rounds=(["INSERT INTO {twice} VALUES (4), (2)"], ["DELETE FROM {twice} WHERE a = 2"]),
    views=(
        View(
            "twice_all",
            "select a from {twice} union all select a from {twice} where a > 1",
            (
                Step("T2 one table read twice", "full", "1 | 2 | 3 | 2 | 3", 5),
                Step("T33 both readings get the new rows", "append", "1 | 2 | 3 | 2 | 3 | 4 | 2 | 4 | 2", 4),
                Step("T33 both readings lose rows", "overwrite", "1 | 3 | 3 | 4 | 4", 0),
            ),
        ),
        View(
            "with_itself",
            "select x.a, y.a as b from {twice} x join {twice} y on x.a = y.a + 1",
            (
                Step("T2 a self-join", "full", "2 1 | 3 2", 2),
                Step("T2 a self-join with new rows on both sides", "append", "2 1 | 3 2 | 4 3 | 2 1 | 3 2", 3),
                Step("T2 a self-join loses rows", "overwrite", "4 3", 0),
            ),
        ),
    ),
)

DATES = Group(
    tables={
        "first": Table("day, n", "day", "(date'2024-01-01', 1), (date'2024-01-02', 2), (date'2024-01-02', 2)"),
        "second": Table("day, m", "day", "(date'2024-01-01', 5), (date'2024-01-02', 6)"),
    },
    rounds=(
        ["INSERT INTO {first} VALUES (date'2024-01-02', 3), (date'2024-01-03', 4), (date'2024-01-03', 4)"],
        ["INSERT INTO {second} VALUES (date'2024-01-03', 7)"],
    ),
    views=(
        View(
            "per_day",
            "select day, count(*) as n from {first} group by day",
            (
                Step("T6 an aggregate partitioned by its key", "full", "2024-01-01 1 | 2024-01-02 2", 2),
                Step("T7 old and new keys", "overwrite", "2024-01-01 1 | 2024-01-02 3 | 2024-01-03 2", 2),
                Step("T7 nothing changed", "none", "2024-01-01 1 | 2024-01-02 3 | 2024-01-03 2"),
            ),
            {"partition_by": "day"},
        ),
        View(
            "joined_days",
            "select f.day, f.n, s.m from {first} f join {second} s on f.day = s.day",
            (
                Step("T6 a join", "full", "2024-01-01 1 5 | 2024-01-02 2 6 | 2024-01-02 2 6", 3),
                Step(
                    "T7 new rows match old and no rows",
                    "append",
                    "2024-01-01 1 5 | 2024-01-02 2 6 | 2024-01-02 2 6 | 2024-01-02 3 6",
                    1,
                ),
                Step(
                    "T7 a new row matches rows of the last refresh",
                    "append",
                    "2024-01-01 1 5 | 2024-01-02 2 6 | 2024-01-02 2 6 | 2024-01-02 3 6 | 2024-01-03 4 7 | 2024-01-03 4 7",
                    2,
                ),
            ),
        ),
        View(
            "joined_sums",
            "select f.day, s.m, sum(f.n) as total from {first} f join {second} s on f.day = s.day group by f.day, s.m",
            (
                Step("T6 an aggregate over a join", "full", "2024-01-01 5 1 | 2024-01-02 6 4", 2),
                Step("T7 an old group grows", "overwrite", "2024-01-01 5 1 | 2024-01-02 6 7", 1),
                Step("T7 a group enters", "overwrite", "2024-01-01 5 1 | 2024-01-02 6 7 | 2024-01-03 7 8", 1),
            ),
            {"partition_by": ["day", "m"]},
        ),
        View(
            "beside_the_largest",
            "select day, n, (select max(m) from {second}) as largest from {first} where n < 3",
            (
                Step("T10 a scalar subquery", "full", "2024-01-01 1 6 | 2024-01-02 2 6 | 2024-01-02 2 6", 3),
                Step("T10 the outer table changes", "none", "2024-01-01 1 6 | 2024-01-02 2 6 | 2024-01-02 2 6"),
                Step(
                    "T10 the table of the subquery changes",
                    "full",
                    "2024-01-01 1 7 | 2024-01-02 2 7 | 2024-01-02 2 7",
                    3,
                ),
            ),
        ),
    ),
)

FILTERED = "select a, b from {filtered} where a < 3 or a > 5"
WINDOW = Group(
    tables={"filtered": Table("a, b", "", "(1, 'one'), (2, 'two'), (4, 'four')")},
    rounds=(
        ["INSERT INTO {filtered} VALUES (3, 'three'), (5, 'five'), (6, 'six'), (4, 'vier')"],
        ["UPDATE {filtered} SET b = 'deux' WHERE a = 2", "INSERT INTO {filtered} VALUES (7, 'seven')"],
        ["INSERT INTO {filtered} VALUES (8, 'eight')"],
        ["CALL lake.system.rewrite_data_files(table => '{filtered}', options => map('rewrite-all', 'true'))"],
        [
            "INSERT INTO {filtered} VALUES (9, 'nine')",
            "CALL lake.system.rewrite_data_files(table => '{filtered}', options => map('rewrite-all', 'true'))",
            "INSERT INTO {filtered} VALUES (0, 'zero')",
        ],
    ),
    views=(
        View(
            "filtered_rows",
            FILTERED,
            (
                Step("first build", "full", "1 one | 2 two", 2),
                Step("T31 one of four new rows passes", "append", "1 one | 2 two | 6 six", 1),
                Step("T34 an update and an insert in one window", "overwrite", "1 one | 2 deux | 6 six | 7 seven", 2),
                Step("T34 the next insert", "append", "1 one | 2 deux | 6 six | 7 seven | 8 eight", 1),
                Step("T35 compaction alone", "none", "1 one | 2 deux | 6 six | 7 seven | 8 eight"),
                Step(
                    "T35 P141 compaction between two inserts",
                    "append",
                    "1 one | 2 deux | 6 six | 7 seven | 8 eight | 9 nine | 0 zero",
                    2,
                ),
            ),
        ),
        View(
            "filtered_in_full",
            FILTERED,
            (
                Step("first build", "full", "1 one | 2 two", 2),
                Step("T31 the policy is full", "full", "1 one | 2 two | 6 six", 3),
                Step("T31 an update and an insert", "full", "1 one | 2 deux | 6 six | 7 seven", 4),
                Step("T31 the next insert", "full", "1 one | 2 deux | 6 six | 7 seven | 8 eight", 5),
                Step("T35 compaction alone", "none", "1 one | 2 deux | 6 six | 7 seven | 8 eight"),
                Step(
                    "T35 compaction between two inserts",
                    "full",
                    "1 one | 2 deux | 6 six | 7 seven | 8 eight | 9 nine | 0 zero",
                    7,
                ),
            ),
            {"refresh_policy": "full"},
        ),
    ),
)

FUNCTIONS = Group(
    tables={"seeds": Table("a", "a", "(1), (2)")},
    rounds=(["INSERT INTO {seeds} VALUES (3)"], []),
    views=(
        View(
            "only_a_range",
            "select id from range(2)",
            (
                Step("T25 a table function", "full", "0 | 1", 2),
                Step("T25 never changes", "none", "0 | 1"),
                Step("T25 never changes later on", "none", "0 | 1"),
            ),
        ),
        View(
            "table_and_range",
            "select s.a, r.id from {seeds} s cross join range(2) r",
            (
                Step("T26 a table and a table function", "full", "1 0 | 1 1 | 2 0 | 2 1", 4),
                Step("T26 the table changes", "append", "1 0 | 1 1 | 2 0 | 2 1 | 3 0 | 3 1", 2),
                Step("T26 nothing changed", "none", "1 0 | 1 1 | 2 0 | 2 1 | 3 0 | 3 1"),
            ),
        ),
        View(
            "by_user",
            "select a from {seeds} where length(current_user()) > 0",
            (
                Step("first build", "full", "1 | 2", 2),
                Step("T29 who asks is no property of a table", "full", "1 | 2 | 3", 3),
                Step("T29 T32 also when nothing changed", "full", "1 | 2 | 3", 0),
            ),
        ),
    ),
)

TYPED = Table(
    "id, i, b, s, y, c, d, ts, n",
    "id",
    "(1, 5, 5L, 'abc', X'0102', 1.50, date'2024-02-29', timestamp'2024-02-29 23:59:59.999999Z', timestamp_ntz'2024-02-29 23:59:59'),"
    "(2, -1, -1L, 'héllo', X'FF00', -0.01, date'1969-12-31', timestamp'1969-12-31 23:00:00Z', timestamp_ntz'1969-12-31 23:00:00')",
)
TYPED_ROUNDS = (
    [
        "INSERT INTO {typed} VALUES (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (4, 6, 6L, 'abd', X'0103', 1.60,"
        " date'2024-02-28', timestamp'2024-02-28 00:00:00Z', timestamp_ntz'2024-02-28 00:00:00')"
    ],
    [
        "UPDATE {typed} SET i = 7, s = NULL, d = date'2030-01-01', ts = NULL WHERE id = 1",
        "DELETE FROM {typed} WHERE id = 3",
    ],
)


def stored(name: str, number: str, columns: str, *partition_by: str) -> View:
    """A view of typed columns whose storage is partitioned in a way that its base is not."""
    steps = (
        Step("first build", "full", None, 2),
        Step(f"{number} new rows and NULLs", "append", None, 2),
        Step(f"{number} rows move to other partitions and vanish", "overwrite", None, 1),
    )
    return View(name, f"select id, {columns} from {{typed}}", steps, {"partition_by": list(partition_by)})


BUCKETS = [f"bucket(4, {c})" for c in ("i", "b", "s", "y", "c", "d", "ts", "n")]
STORED = Group(
    tables={"typed": TYPED},
    rounds=TYPED_ROUNDS,
    views=(
        stored("bucketed", "T17", "i, b, s, y, c, d, ts, n", *BUCKETS),
        stored("truncated", "T18", "i, b, s, y, c", *[f"truncate(2, {c})" for c in ("i", "b", "s", "y", "c")]),
        stored("yearly", "T19", "d, ts, n", "years(d)", "years(ts)", "years(n)"),
        stored("monthly", "T19", "d, ts, n", "months(d)", "months(ts)", "months(n)"),
        stored("daily", "T19", "d, ts, n", "days(d)", "days(ts)", "days(n)"),
        stored("hourly", "T19 T21", "d, ts, n", "d", "hours(ts)", "hours(n)"),
    ),
)

GROUPS = (SUMS, TWICE, DATES, WINDOW, FUNCTIONS, STORED)


@pytest.fixture(scope="module")
def outcomes(lake: LakeProject) -> Outcomes:
    return play(lake, GROUPS)


@pytest.mark.parametrize(("view", "number"), cases(GROUPS))
def test_case(outcomes: Outcomes, view: View, number: int) -> None:
    judge(outcomes, view, number)


def test_t10_nobody_writes_into_a_view(lake: LakeProject, outcomes: Outcomes) -> None:
    with pytest.raises(Exception, match="sum_of_all"):
        lake.sql(f"INSERT INTO {lake.view('sum_of_all')} VALUES (1)")


def test_t16_a_view_over_a_view_reads_its_last_refresh(lake: LakeProject) -> None:
    base = f"lake.{lake.schema}.layered"
    lake.sql(
        f"CREATE TABLE {base} USING iceberg PARTITIONED BY (day) AS SELECT * FROM VALUES (1, 10), (2, 20) AS v(day, n)"
    )
    lake.model("level_one", f"select day, sum(n) as total from {base} group by day")
    lake.model("level_two", "select day, total * 2 as twice from {{ ref('level_one') }}")
    lake.run("--select", "level_one", "level_two")

    lake.sql(f"INSERT INTO {base} VALUES (2, 5), (3, 30)")
    assert lake.run("--select", "level_two")["level_two"]["refresh_kind"] == "none"
    lake.assert_equals_definition("level_two")
    responses = lake.run("--select", "level_one", "level_two")
    assert {n: (r["refresh_kind"], r["rows_affected"]) for n, r in responses.items()} == {
        "level_one": ("overwrite", 2),
        "level_two": ("overwrite", 2),
    }
    rows = sorted(tuple(r) for r in lake.sql(f"SELECT * FROM {lake.view('level_two')}"))
    assert rows == [(1, 20), (2, 50), (3, 60)]


def test_t23_metadata_tables_are_those_of_the_storage_table(lake: LakeProject, outcomes: Outcomes) -> None:
    storage = f"lake.{lake.schema}.__mv_storage__per_day"
    for metadata in ("files", "snapshots", "history", "partitions", "manifests", "refs"):
        assert lake.sql(f"SELECT count(*) FROM {storage}.{metadata}")[0][0] > 0, metadata
    (summary,) = lake.sql(
        f"SELECT summary['refresh-state'] FROM {storage}.snapshots ORDER BY committed_at DESC LIMIT 1"
    )
    assert '"name": "first"' in summary[0]
