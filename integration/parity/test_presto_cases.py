"""Presto's cases of a view's life; the numbers are those of docs/presto-and-trino-cases.md."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from integration.support.lake import LakeProject
from integration.support.rounds import Group, Outcomes, Step, Table, View, cases, judge, play

FRUIT = Group(
    tables={
        "fruit": Table(
            "id, name, value, status, day",
            "day",
            "(1, 'fig', 10, 'on', 'd1'), (2, 'nut', 20, 'off', 'd1'), (3, 'pea', 30, 'on', 'd2')",
        ),
    },
    rounds=(
        ["INSERT INTO {fruit} VALUES (4, 'yam', 40, 'on', 'd3')"],
        [
            "INSERT INTO {fruit} VALUES (5, 'oat', 50, 'off', 'd4')",
            "INSERT INTO {fruit} VALUES (6, 'rye', 60, 'on', 'd5')",
        ],
        ["DELETE FROM {fruit} WHERE day = 'd1'"],
        ["TRUNCATE TABLE {fruit}"],
    ),
    views=(
        View(
            "all_fruit",
            "select id, name, day from {fruit}",
            (
                Step("P1 P6 P12 first build", "full", "1 fig d1 | 2 nut d1 | 3 pea d2", 3),
                Step("P8 P109 a new day", "append", "1 fig d1 | 2 nut d1 | 3 pea d2 | 4 yam d3", 1),
                Step(
                    "P11 P44 two inserts between two runs",
                    "append",
                    "1 fig d1 | 2 nut d1 | 3 pea d2 | 4 yam d3 | 5 oat d4 | 6 rye d5",
                    2,
                ),
                Step("P9 a whole day is deleted", "overwrite", "3 pea d2 | 4 yam d3 | 5 oat d4 | 6 rye d5", 0),
                Step("P4 the base is truncated", "overwrite", "", 0),
            ),
        ),
        View(
            "active_fruit",
            "select id, name from {fruit} where status = 'on'",
            (
                Step("P2 a filter", "full", "1 fig | 3 pea", 2),
                Step("P4 a new day and the day is not kept", "append", "1 fig | 3 pea | 4 yam", 1),
                Step("P11 two inserts of which one passes", "append", "1 fig | 3 pea | 4 yam | 6 rye", 1),
                Step("P9 a whole day is deleted and the day is not kept", "overwrite", "3 pea | 4 yam | 6 rye", 0),
                Step("P4 the base is truncated and the day is not kept", "overwrite", "", 0),
            ),
        ),
        View(
            "computed_fruit",
            "select id as `the id`, name || '-' || status as label, cast(value as string) as text, value * 2 as twice,"
            " day as `Day` from {fruit}",
            (
                Step(
                    "P34 P35 aliases and expressions",
                    "full",
                    "1 fig-on 10 20 d1 | 2 nut-off 20 40 d1 | 3 pea-on 30 60 d2",
                ),
                Step(
                    "P34 P35 a new day",
                    "append",
                    "1 fig-on 10 20 d1 | 2 nut-off 20 40 d1 | 3 pea-on 30 60 d2 | 4 yam-on 40 80 d3",
                    1,
                ),
                Step(
                    "P34 P35 two inserts",
                    "append",
                    "1 fig-on 10 20 d1 | 2 nut-off 20 40 d1 | 3 pea-on 30 60 d2 | 4 yam-on 40 80 d3"
                    " | 5 oat-off 50 100 d4 | 6 rye-on 60 120 d5",
                    2,
                ),
                Step(
                    "P36 a whole day is deleted from ORC files",
                    "overwrite",
                    "3 pea-on 30 60 d2 | 4 yam-on 40 80 d3 | 5 oat-off 50 100 d4 | 6 rye-on 60 120 d5",
                    0,
                ),
                Step("P36 the base is truncated", "overwrite", "", 0),
            ),
            {"partition_by": "Day", "tblproperties": {"write.format.default": "orc"}},
        ),
        View(
            "constants",
            "select 'x' as c, 42 as n from {fruit}",
            (
                Step("P29 one row of constants for each row", "full", "x 42 | x 42 | x 42", 3),
                Step("P29 a new row", "append", "x 42 | x 42 | x 42 | x 42", 1),
                Step("P29 two new rows", "append", "x 42 | x 42 | x 42 | x 42 | x 42 | x 42", 2),
                Step("P29 rows are deleted", "overwrite", "x 42 | x 42 | x 42 | x 42", 0),
                Step("P29 the base is truncated", "overwrite", "", 0),
            ),
        ),
    ),
)

# Bases without partitions.
PLAIN = Group(
    tables={
        "pairs": Table("id, v", "", "(1, 'a'), (2, 'b')"),
        "boxes": Table(
            "id, tags, sizes, pair",
            "",
            "(1, array('a', 'b'), map('x', 1), named_struct('l', 1, 'r', 'one')), (2, array(), NULL, NULL)",
        ),
        "echo": Table("id, v", "id", "(1, 'a')"),
    },
    rounds=(
        [
            "DROP TABLE {pairs}",
            "CREATE TABLE {pairs} USING iceberg AS SELECT * FROM VALUES (7, 'x'), (8, 'y'), (9, 'z') AS v(id, v)",
            "INSERT INTO {boxes} VALUES (3, array('c'), map('y', NULL), named_struct('l', NULL, 'r', 'three'))",
            "INSERT INTO {echo} SELECT id + 1, v FROM {echoed}",
        ],
        [
            "ALTER TABLE {pairs} ADD COLUMN more int",
            "INSERT INTO {pairs} VALUES (10, 'w', 5)",
            "UPDATE {boxes} SET tags = array('z') WHERE id = 1",
            "INSERT INTO {echo} SELECT id + 2, v FROM {echoed}",
        ],
    ),
    views=(
        View(
            "paired",
            "select id, v from {pairs}",
            (
                Step("P108 first build", "full", "1 a | 2 b", 2),
                Step("P32 the base is dropped and made again", "full", "7 x | 8 y | 9 z", 3),
                Step("P38 a column is added and a row", "overwrite", "7 x | 8 y | 9 z | 10 w", 1),
            ),
        ),
        View(
            "boxed",
            "select id, tags, sizes, pair from {boxes}",
            (
                Step(
                    "P37 arrays and maps and structs",
                    "full",
                    "1 ['a', 'b'] {'x': 1} Row(l=1, r='one') | 2 [] - -",
                    2,
                ),
                Step(
                    "P37 a new row",
                    "append",
                    "1 ['a', 'b'] {'x': 1} Row(l=1, r='one') | 2 [] - - | 3 ['c'] {'y': None} Row(l=None, r='three')",
                    1,
                ),
                Step(
                    "P108 an update of an unpartitioned base",
                    "overwrite",
                    "1 ['z'] {'x': 1} Row(l=1, r='one') | 2 [] - - | 3 ['c'] {'y': None} Row(l=None, r='three')",
                    2,
                ),
            ),
        ),
        View(
            "echoed",
            "select id, v from {echo}",
            (
                Step("first build", "full", "1 a", 1),
                Step("P49 a base is fed from its view", "append", "1 a | 2 a", 1),
                Step("P49 and again", "append", "1 a | 2 a | 3 a | 4 a", 2),
            ),
        ),
        View(
            "only_values",
            "select id, v from values (1, 'a'), (2, 'b'), (3, NULL) as t(id, v)",
            (
                Step("P28 a view without a base", "full", "1 a | 2 b | 3 -", 3),
                Step("P28 never changes", "none", "1 a | 2 b | 3 -"),
                Step("P28 never changes later on", "none", "1 a | 2 b | 3 -"),
            ),
        ),
    ),
)

GROUPS = (FRUIT, PLAIN)


@pytest.fixture(scope="module")
def outcomes(lake: LakeProject) -> Outcomes:
    return play(lake, GROUPS)


@pytest.mark.parametrize(("view", "number"), cases(GROUPS))
def test_life(outcomes: Outcomes, view: View, number: int) -> None:
    judge(outcomes, view, number)


def test_p129_every_refresh_records_what_it_read_and_wrote(outcomes: Outcomes) -> None:
    responses = [outcomes["all_fruit", number].response for number in range(5)]
    storage = [r["storage_snapshot_id"] for r in responses]
    assert len(set(storage)) == len(storage)
    bases: list[dict[str, Any]] = [r["base_tables"][0] for r in responses]
    for before, after in itertools.pairwise(bases):
        assert after["from_snapshot_id"] == before["to_snapshot_id"] != after["to_snapshot_id"]


def test_p129_recorded_snapshots_are_those_of_the_bases(lake: LakeProject, outcomes: Outcomes) -> None:
    for name, base in (("all_fruit", "fruit"), ("boxed", "boxes")):
        (recorded,) = json.loads(lake.state(name)["icebergmv.base-tables"])
        current = lake.sql(f"SELECT snapshot_id FROM lake.{lake.schema}.{base}.refs WHERE name = 'main'")[0][0]
        assert recorded["snapshot-id"] == current


def test_p31_p39_views_keep_their_rows_when_a_base_or_column_is_gone(lake: LakeProject) -> None:
    schema = f"lake.{lake.schema}"
    lake.sql(f"CREATE TABLE {schema}.lost USING iceberg AS SELECT 1 AS id")
    lake.sql(f"CREATE TABLE {schema}.cut USING iceberg AS SELECT 1 AS id, 'on' AS status, 5 AS v")
    lake.model("of_lost", f"select id from {schema}.lost")
    lake.model("of_cut", f"select id, status from {schema}.cut")
    lake.model("of_rest", f"select id, v from {schema}.cut")
    names = ["of_lost", "of_cut", "of_rest"]
    lake.run("--select", *names)

    lake.sql(f"DROP TABLE {schema}.lost")
    lake.sql(f"ALTER TABLE {schema}.cut DROP COLUMN status")
    lake.sql(f"INSERT INTO {schema}.cut VALUES (2, 6)")
    message = lake.fail("--select", *names)
    assert "lost" in message
    assert "status" in message
    assert [tuple(r) for r in lake.sql(f"SELECT * FROM {lake.view('of_lost')}")] == [(1,)]
    assert [tuple(r) for r in lake.sql(f"SELECT * FROM {lake.view('of_cut')}")] == [(1, "on")]
    assert sorted(tuple(r) for r in lake.sql(f"SELECT * FROM {lake.view('of_rest')}")) == [(1, 5), (2, 6)]
    assert len(lake.failures()) == 2


def test_p33_a_view_whose_storage_was_dropped_fails_until_the_next_run(lake: LakeProject, outcomes: Outcomes) -> None:
    lake.sql(f"DROP TABLE lake.{lake.schema}.__mv_storage__paired")
    with pytest.raises(Exception, match="__mv_storage__paired"):
        lake.sql(f"SELECT * FROM {lake.view('paired')}")
    assert lake.run("--select", "paired")["paired"]["refresh_kind"] == "full"
    lake.assert_equals_definition("paired")


def test_p38_a_new_view_reads_an_added_column_as_null_in_old_rows(lake: LakeProject, outcomes: Outcomes) -> None:
    lake.model("with_more", f"select id, more from lake.{lake.schema}.pairs")
    lake.run("--select", "with_more")
    lake.assert_equals_definition("with_more")
    rows = {tuple(r) for r in lake.sql(f"SELECT * FROM {lake.view('with_more')}")}
    assert rows == {(7, None), (8, None), (9, None), (10, 5)}


def test_p49_a_view_can_be_copied(lake: LakeProject, outcomes: Outcomes) -> None:
    copy = f"lake.{lake.schema}.copied"
    lake.sql(f"CREATE TABLE {copy} USING iceberg AS SELECT * FROM {lake.view('paired')}")
    lake.sql(f"INSERT INTO {copy} SELECT * FROM {lake.view('paired')}")
    assert lake.sql(f"SELECT count(*) FROM {copy}")[0][0] == 8
