"""Keys of groups that a refresh names, and columns that EXCEPT leaves out, as Spark takes them."""

from __future__ import annotations

import pytest

from integration.support.following import in_turn
from integration.support.lake import LakeProject

VIEWS = {
    # 0.0 and -0.0 are one key below, and two texts above it.
    "by_text": "select cast(x as string) as t, median(n) as m from (select x, id, count(*) as n from {floats} "
    "group by x, id) q group by cast(x as string)",
    "by_sign": "select s, n, median(id) as m from (select 1 / nullif(x, 0) > 0 as s, x, id, count(*) as n from {floats} "
    "group by x, id) q group by s, n",
    "without_one": "select * except (a.x) from (select id as x, v as p from {pairs}) a "
    "join (select v as x, id as k from {pairs}) b on a.p = b.k "
    "union all select * except (a.x) from (select id as x, v as p from {pairs}) a "
    "join (select id as k, v as x from {pairs}) b on a.p = b.k",
    "without_others": "select id, w from (select * except (b.id, b.v) from {pairs} a join (select id, v, v + 1 as w "
    "from {pairs}) b on a.id = b.id)",
}
CHANGES = (
    "insert into {floats} values (3, 0.0D)",
    "insert into {floats} values (4, -0.0D), (5, 1.5D)",
    "delete from {floats} where id = 3",
    "update {pairs} set v = 2 where id = 3",
    "insert into {pairs} values (6, 0), (7, 6)",
    "delete from {pairs} where id = 0",
)


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    names = {name: f"lake.{lake.schema}.named_{name}" for name in ("floats", "pairs")}
    lake.sql(
        f"create table {names['floats']} using iceberg as "
        "select * from values (3, 0.0D), (4, 0.0D), (4, -0.0D), (9, 1.5D) f(id, x)"
    )
    lake.sql(
        f"create table {names['pairs']} using iceberg as select * from values (0, 3), (3, 0), (2, 3), (1, 1) p(id, v)"
    )
    for view, sql in VIEWS.items():
        lake.model(view, sql.format(**names), refresh_policy="incremental")
    lake.run("--select", *VIEWS)
    return names


@pytest.mark.parametrize("change", in_turn(CHANGES, 3))
def test_each_refresh_gives_what_a_full_one_gives(lake: LakeProject, tables: dict[str, str], change: str) -> None:
    lake.sql(change.format(**tables))
    found = lake.run("--select", *VIEWS)
    lake.assert_equals_definition(*VIEWS)
    if "{pairs}" in change:
        kinds = {view: found[view]["refresh_kind"] for view in ("without_one", "without_others")}
        assert "full" not in kinds.values(), {view: found[view]["refresh_reason"] for view in kinds}
