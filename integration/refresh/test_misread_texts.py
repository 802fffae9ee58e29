"""Texts of which the parser makes something else than Spark, or of which it does not see all."""

from __future__ import annotations

import pytest

from integration.support.following import Change, assert_follows, filled, in_turn
from integration.support.lake import LakeProject

TABLES = {
    "f": ("id bigint, region string, v int", "(1, 'a', 1), (2, 'a', 2), (3, 'b', 3)"),
    "g": ("id bigint, flag boolean", "(1, true), (2, false)"),
    "t": (
        "id bigint, k int, ts timestamp, d date",
        "(1, 1, timestamp'2024-05-05 05:05:05', date'2024-05-05'), "
        "(2, 2, timestamp'2024-06-06 06:06:06', date'2024-06-06'), (3, 3, timestamp'2024-07-07 07:07:07', date'2024-07-07')",
    ),
    "s": ("k int, unit string", "(2, 'year')"),
    "a": ("d int, id int", "(1, 1), (1, 1), (2, 2)"),
    "b": ("i int, region string, v int", "(1, 'x', 10), (1, 'x', 10), (2, 'y', 5)"),
    "p": (
        "id bigint, flag boolean, flag2 boolean",
        "(1, true, true), (2, true, false), (3, false, true), (4, false, false)",
    ),
    "q": ("f boolean", "(false)"),
    "n": ("k int, v bigint", "(1, 1), (2, 2)"),
    "w": ("id bigint, k string, v bigint", "(1, '1', 0), (2, '01', 0), (3, '2', 7), (4, '-0', 0)"),
    "x": ("id bigint, k string, u bigint", "(11, '1', 3), (12, '01', 4), (13, '2', 5)"),
    "y": ("id bigint, k string, all bigint", "(1, 'a', 1), (2, 'a', 2), (3, 'b', null)"),
    "m": ("id bigint, k int", "(1, 1), (2, 2), (99, 5)"),
}
PARTITIONED = {"q": "PARTITIONED BY (f)", "n": "PARTITIONED BY (v)"}
VIEWS = {
    "any_total": "select any(v > 10) as f from {f}",
    "any_joined": "select g.id, x.f from {g} g cross join (select any(v > 10) as f from {f}) x",
    "any_by_all": "select region, any(v > 10) as f from {f} group by all",
    "any_in": "select id, flag from {g} where flag in (select any(v > 10) as f from {f})",
    "any_branch": "select 'x' as c, any(v > 10) as f from {f} union all select 'y', flag from {g}",
    "unit_shown": "select t.id, date_trunc(s.unit, t.ts) as p from {t} t left join {s} s on t.k = s.k",
    "unit_named": "select t.id, trunc(t.d, unit) as p from {t} t left join {s} s on t.k = s.k",
    "unit_compared": "select t.id, t.k from {t} t left join {s} s on t.k = s.k "
    "where date_trunc(coalesce(s.unit, 'second'), t.ts) = t.ts",
    "unit_grouped": "select date_trunc(s.unit, t.ts) as p, count(distinct t.id) as n from {t} t "
    "left join {s} s on t.k = s.k group by date_trunc(s.unit, t.ts)",
    "pivot_crossed": "select * from (select d from {a}) a cross join (select region, v from {b}) b "
    "pivot (sum(v) for region in ('x', 'y'))",
    "pivot_joined": "select d, v from (select id, d from {a}) a join (select i, region, v from {b}) b "
    "on a.id = b.i pivot (sum(v) for region in ('x' as v))",
    "compared_first": "select id, flag, flag2 from {p} where flag = flag2 in (select f from {q})",
    "long_comment": "select a.id, count(*) as n from {m} a join {n} b on a.k = b.k -- as in C:\\\n"
    " and a.id = b.v\ngroup by a.id",
    "plus": "select +k as kk, count(distinct id) as n from {w} group by +k",
    "plus_joined": "select b.k as bk, b.id as bid, a.v from {w} a join {x} b on a.k = +b.k",
    "plus_window": "select id, k, count(*) over (partition by +k) as n from {w}",
    "plus_branch": "select s, id from (select '01' as s, id from {w} union all select '2' as s, id from {x}) where s = +'1'",
    "piped_text": "select cast(y as string) as ys, count(distinct id) as n from "
    "(select id, k || v - 0.0 as y from {w}) group by y",
    "joined_as": "select b.k as bk, b.id as bid, v as av from {w} as full join {x} b on v < b.u",
    "grouped_all": "select k, count(*) as n from {y} group by all, k",
    "last_comment": "select id, k from {m} -- from C:\\in\\",
    "window_alias": "select id, w from (select id from {y}) window left join (select k as i, v as w from {n}) p on id = i",
    "hinted": "select 'some' as c, id from {m} union all "
    "select /*+ broadcast(misread_n) */ 'other', id from {m} join {n} using (k)",
    "hinted_table": "select c, id from (select /*+ broadcast(x), repartition(2, id) */ 'other' as c, w.id, x.u from {w} w "
    "join {x} x on w.k = x.k)",
    "interval_column": "select concat(kk, interval - 1) as c from (select id, k as kk from {w}) a "
    "left join (select k as i, v as interval from {n}) p on id > i",
}
CHANGES: list[Change] = [
    (
        [
            *(
                "insert into {f} values (4, 'a', 11)",
                "insert into {s} values (3, 'year')",
                "delete from {a} where d = 2",
            ),
            *("insert into {b} values (1, 'x', 3)", "insert into {q} values (true)", "insert into {n} values (1, 99)"),
            *("insert into {w} values (5, '01', 5)", "insert into {y} values (4, 'a', 2)"),
        ],
        {},
    ),
    (
        [
            *("update {f} set v = 0 where id = 4", "update {s} set unit = 'day' where k = 2"),
            *(
                "insert into {a} values (1, 1)",
                "update {w} set k = '3' where id = 4",
                "update {x} set u = 99 where id = 12",
            ),
        ],
        {},
    ),
    (
        [
            *(
                "insert into {f} values (5, 'b', 20)",
                "insert into {s} values (1, 'month')",
                "delete from {f} where id = 1",
            ),
            *("delete from {w} where id = 5", "insert into {w} values (6, '-0', 0), (7, '0', 0)"),
        ],
        {},
    ),
    (["delete from {s} where k = 1", "delete from {q} where f", "insert into {a} values (5, 1)"], {}),
]


@pytest.fixture(scope="module")
def misread(lake: LakeProject) -> dict[str, str]:
    tables = filled(lake, "misread_", TABLES, PARTITIONED)
    for name, sql in VIEWS.items():
        lake.model(name, sql.format(**tables), refresh_policy="incremental")
    lake.run("--select", *VIEWS)
    return tables


@pytest.mark.parametrize("change", in_turn(CHANGES, 1))
def test_rows_are_those_of_spark(lake: LakeProject, misread: dict[str, str], change: Change) -> None:
    assert_follows(lake, misread, change, VIEWS)


@pytest.mark.long
def test_an_absent_row_that_an_equality_of_nulls_lets_pass(lake: LakeProject) -> None:
    facts, flags = (f"lake.{lake.schema}.absent_{name}" for name in ("facts", "flags"))
    lake.sql(
        f"CREATE TABLE {facts} USING iceberg PARTITIONED BY (k) AS SELECT id, cast(if(id % 10 = 9, null, id % 10) as int) "
        "as k, cast(id % 7 as int) as x from range(120000)"
    )
    lake.sql(f"CREATE TABLE {flags} USING iceberg AS SELECT cast(id as int) as k, 1 as flag FROM range(5)")
    lake.model(
        "absent",
        f"select c.id, c.k, c.x from {facts} c left join {flags} a on c.k = a.k "
        "where a.k <=> c.k and coalesce(a.flag, 1) = 1",
    )
    lake.run("--select", "absent")
    for change in (f"UPDATE {facts} SET x = 100 WHERE id = 9", f"INSERT INTO {facts} VALUES (500000, null, 5)"):
        lake.sql(change)
        assert lake.run("--select", "absent")["absent"]["refresh_kind"] != "none"
        lake.assert_equals_definition("absent")


def test_edits_that_only_spark_sees(lake: LakeProject) -> None:
    table = f"lake.{lake.schema}.edited"
    lake.sql(f"CREATE TABLE {table} (id bigint, d date) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO {table} VALUES (1, date'2024-01-01'), (2, date'2023-01-01')")
    for before, after in (
        (
            "select id, d from {t}\n-- from C:\\in\\\nwhere d > '2023-06-01'",
            "select id, d from {t}\n-- from C:\\in\nwhere d > '2023-06-01'",
        ),
        ("select id, 'it''s' as c from {t}", "select id, 'it' 's' as c from {t}"),
    ):
        for text in (before, after):
            lake.model("edited_view", text.format(t=table))
            assert lake.run("--select", "edited_view")["edited_view"]["refresh_kind"] == "full"
            lake.assert_equals_definition("edited_view")


def test_tables_read_at_a_branch_or_a_time(lake: LakeProject) -> None:
    table = f"lake.{lake.schema}.branched"
    lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT 1 AS id")
    lake.sql(f"ALTER TABLE {table} CREATE BRANCH b1")
    lake.model("at_branch", f"select id from {table} VERSION AS OF 'b1'")
    lake.model("at_time", f"select id from {table} TIMESTAMP AS OF '2099-01-01'")
    for statement in ("SELECT 1", f"INSERT INTO {table}.branch_b1 VALUES (2)", f"INSERT INTO {table} VALUES (3)"):
        lake.sql(statement)
        found = lake.run("--select", "at_branch", "at_time")
        assert {response["refresh_kind"] for response in found.values()} == {"full"}
        lake.assert_equals_definition("at_branch", "at_time")
