"""Values that are equal and yet can be told apart: both zeros of a float, and texts under a collation.

Groups, windows and joins take them for one value. What is shown of them, as a text, may be another one for each.
"""

from __future__ import annotations

import pytest

from integration.support.following import Change, assert_follows, filled, in_turn
from integration.support.lake import LakeProject

TABLES = {
    "t": ("id bigint, k string, w double", "(1, 'a', 0.0D), (3, 'b', 5.0D), (4, 'c', -0.0D), (5, 'B', 7.0D)"),
    "u": ("id bigint, k string, w double, v bigint", "(7, 'x', -0.0D, 3), (8, 'a', 5.0D, 4)"),
}
SIZE = "case when w > 1 then 'large' else 'small' end"
FULL = {
    "windowed": "select id, cast(w as string) as ws, count(*) over (partition by w) as n from {t}",
    "grouped": "select cast(w as string) as ws, count(*) as n, count(distinct id) as m from {t} group by w",
    "grouped_float": "select cast(f as string) as ws, count(distinct id) as m from "
    "(select id, cast(w as float) as f from {t}) group by f",
    "distinct_ones": "select cast(w as string) as ws from (select distinct w from {t})",
    "without_some": "select cast(w as string) as ws from "
    "(select w from {t} except all select cast(v as double) as w from {u})",
    "in_both": "select cast(w as string) as ws from (select w from {t} intersect select w from {u})",
    "collated_window": "select id, cast(kk as string) as kk, count(*) over (partition by kk) as n from "
    "(select id, k collate UTF8_LCASE as kk from {t})",
    "collated_groups": "select lower(cast(kk as string)) as kk, n from "
    "(select k collate UTF8_LCASE as kk, count(distinct id) as n from {t} group by k collate UTF8_LCASE)",
    "collated_distinct": "select lower(cast(kk as string)) as kk from "
    "(select distinct collate(k, 'UTF8_LCASE') as kk from {t})",
    "negated_texts": "select id, cast(y as string) as s, count(*) over (partition by y) as n from "
    "(select id, -x as y from (select id, cast(w as string) as x from {t}))",
    "or_none": "select coalesce(w, 'none') as s, count(distinct id) as n from {t} group by w",
    "beside_texts": "select w as s, count(distinct id) as n from {t} group by w union all select k, v from {u}",
}
"""Nothing says which of their rows a change reaches."""

IN_PART = {
    "sized": f"select {SIZE} as size, count(distinct id) as n from {{t}} group by {SIZE}",
    "whole": "select cast(w as int) as i, count(distinct id) as n from {t} group by w",
    "distinct_rows": "select distinct w, k from {t}",
    "beside": "select cast(t.w as string) as ws, b.k as bk, t.k as tk from {t} t join {u} b on t.w = b.w",
    "found": "select cast(t.w as string) as ws, t.id from {t} t where t.w in (select b.w from {u} b)",
    "generated": "select x.e from (select k, sum(id) as s from {t} group by k) g "
    "join lateral explode(array(1, 10, 100)) as x(e) on x.e < g.s",
    "generated_far": "select x.e from (select k, sum(id) as s from {t} group by k) g "
    "join lateral explode(array(10, 100)) as x(e) on x.e < g.s",
    "generated_left": "select x.e from (select k, sum(id) as s from {t} group by k) g "
    "left join lateral explode(array(10)) as x(e) on x.e < g.s",
    "generated_of_key": "select g.k, x.e from (select k, sum(id) as s from {t} group by k) g "
    "join lateral explode(array('a', 'b', 'c')) as x(e) on x.e < g.k",
}
"""What they show of equal values is equal, or other columns say which rows are reached."""

VIEWS = {**FULL, **IN_PART}
CHANGES = [
    ["insert into {t} values (2, 'A', -0.0D), (9, 'a', 0.0D)", "delete from {t} where id = 4"],
    ["update {t} set w = 0.0D, k = 'C' where id = 3", "update {t} set w = -0.0D where id in (1, 9)"],
    ["update {u} set w = 0.0D, k = 'A' where id = 7", "insert into {t} values (120, 'a', 9.0D)"],
    ["delete from {t} where id = 120", "update {t} set w = 0.0D where id = 2"],
]


@pytest.fixture(scope="module")
def names(lake: LakeProject) -> dict[str, str]:
    names = filled(lake, "", TABLES)
    for view, sql in VIEWS.items():
        lake.model(view, sql.format(**names), refresh_policy="incremental")
    lake.run("--select", *VIEWS)
    return names


@pytest.mark.parametrize("statements", in_turn(CHANGES, 1))
def test_views_follow_and_are_full_where_nothing_says_what_is_reached(
    lake: LakeProject, names: dict[str, str], statements: list[str]
) -> None:
    found = assert_follows(lake, names, (statements, dict.fromkeys(FULL, "full")), VIEWS)
    kinds = {view: found[view]["refresh_kind"] for view in IN_PART}
    assert {*kinds.values()} <= {"overwrite", "append", "none"}, kinds


@pytest.mark.long
def test_a_table_with_a_partition_for_each_zero(lake: LakeProject) -> None:
    """Spark mixes the two when it sorts rows. So a view is partitioned so only where the model asks for it."""
    names = filled(lake, "zeros_", {"p": ("id bigint, w double", "(1, 0.0D), (2, 5.0D)")}, {"p": "PARTITIONED BY (w)"})
    for number in range(3, 40, 2):
        lake.sql(f"insert into {names['p']} values ({number}, -0.0D)")
        lake.sql(f"insert into {names['p']} values ({number + 1}, 0.0D)")
    views = ["zeros", "zeros_asked_for"]
    for view, config in zip(views, ({}, {"partition_by": ["w"]}), strict=True):
        lake.model(view, f"select id, w, cast(w as string) as ws from {names['p']} where id > 0", **config)
    lake.run("--select", *views)
    lake.assert_equals_definition(*views)
    update: Change = (["update {p} set id = id + 100 where id in (3, 4)", "insert into {p} values (99, -0.0D)"], {})
    found = assert_follows(lake, names, update, views)
    assert [found[view]["partition_by"] for view in views] == [[], ["`w`"]]
    assert found["zeros_asked_for"]["refresh_kind"] == "overwrite"
