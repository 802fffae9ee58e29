"""Conditions on floats: what they say of a row does not depend on which other rows are in its file.

Iceberg leaves out files by bounds that NaN is no part of, and in which -0.0 is less than 0.0. Nothing here is compared
with the SELECT as Spark alone reads the tables: it would leave out rows of some files.
"""

from __future__ import annotations

from collections import Counter

import pytest

from integration.support.following import filled
from integration.support.lake import LakeProject

NAN, ZERO = "double('NaN')", "-0.0D"
TABLES = {
    "n": (
        "id bigint, x double, f float, s struct<a: double, b: int>, r string",
        f"(1, {NAN}, float('NaN'), named_struct('a', {NAN}, 'b', 1), 'a'), (2, 9D, 9F, named_struct('a', 9D, 'b', 2), 'b'), "
        "(3, 0.5D, 0.5F, named_struct('a', 0.5D, 'b', 3), 'b')",
    ),
    "z": ("id bigint, x double, r string", f"(1, {ZERO}, 'a'), (2, 3D, 'b'), (3, -4D, 'c')"),
}
VIEWS = {
    "greater": "select id, x from {n} where x > 1",
    "greater_single": "select id, f from {n} where f > cast(1 as float)",
    "greater_field": "select id from {n} where s.a > 1",
    "renamed": "with c as (select id, x as y from {n}) select id, y * 2 as z from c where not (y <= 1)",
    "counted": "select r, count(*) as n from {n} where x > 1 group by r",
    "left_joined": "select a.id, b.id as other from {z} a left join {n} b on a.r = b.r and b.x > 1",
    "at_zero": "select id, cast(x as string) as x from {z} where x = 0",
    "from_zero": "select r, count(*) as n from {z} where x >= 0 group by r",
}
BUILT, DELETED, CHANGED = 0, 1, 2
EXPECTED = {
    "greater": [{"1 nan", "2 9.0"}, {"1 nan"}, {"1 nan", "3 7.0", "4 nan"}],
    "greater_single": [{"1 nan", "2 9.0"}, {"1 nan"}, {"1 nan", "4 nan"}],
    "greater_field": [{"1", "2"}, {"1"}, {"1"}],
    "renamed": [{"1 nan", "2 18.0"}, {"1 nan"}, {"1 nan", "3 14.0", "4 nan"}],
    "counted": [{"a 1", "b 1"}, {"a 1"}, {"a 2", "b 1"}],
    "left_joined": [{"1 1", "2 2", "3 None"}, {"1 1", "3 None"}, {"1 1", "1 4", "3 None", "4 None"}],
    "at_zero": [{"1 -0.0"}, {"1 -0.0"}, {"1 -0.0", "4 0.0"}],
    "from_zero": [{"a 1", "b 1"}, {"a 1"}, {"a 1", "d 1"}],
}
REWRITE = "CALL lake.system.rewrite_data_files(table => '{}', options => map('rewrite-all', 'true'))"
DELETE = ["delete from {n} where id = 2", "delete from {z} where id = 2"]
CHANGE = [
    "update {n} set x = 7D where id = 3",
    "update {z} set x = -5D where id = 3",
    f"insert into {{n}} values (4, {NAN}, float('NaN'), null, 'a'), (5, 0.1D, 0.1F, null, 'b')",
    "insert into {z} values (4, 0.0D, 'd')",
]
COMPACT = [REWRITE.format("{n}"), REWRITE.format("{z}")]


def rows(lake: LakeProject, view: str) -> Counter[str]:
    return Counter(" ".join(map(str, row)) for row in lake.sql(f"select * from {lake.view(view)}"))


@pytest.fixture(scope="module")
def names(lake: LakeProject) -> dict[str, str]:
    names = filled(lake, "floats_", TABLES)
    for view, sql in VIEWS.items():
        lake.model(view, sql.format(**names), refresh_policy="incremental")
    return names


@pytest.mark.long
def test_rows_do_not_depend_on_those_beside_them_in_a_file(lake: LakeProject, names: dict[str, str]) -> None:
    kinds = []
    for statements, step in (([], BUILT), (DELETE, DELETED), (CHANGE, CHANGED), (COMPACT, CHANGED)):
        for statement in statements:
            lake.sql(statement.format(**names))
        found = lake.run("--select", *VIEWS)
        kinds.append({view: found[view]["refresh_kind"] for view in VIEWS})
        assert {v: rows(lake, v) for v in VIEWS} == {v: Counter(EXPECTED[v][step]) for v in VIEWS}, statements
    assert {kind for of in kinds[1:3] for kind in of.values()} <= {"none", "append", "overwrite", "merge"}, kinds
    assert {*kinds[3].values()} == {"none"}
    lake.run("--select", *VIEWS, "--full-refresh")
    assert {v: rows(lake, v) for v in VIEWS} == {v: Counter(EXPECTED[v][CHANGED]) for v in VIEWS}
