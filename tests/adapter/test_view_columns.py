"""Which views take columns as the tables below have them: these are named, all others stay as they are written."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.view_columns import takes_columns_of_tables

OF_TABLES = [
    "select * from t",
    "select * from s.t",
    "select * from c.s.t",
    "select t.* from t",
    "select a.id, b.* from a join b on a.id = b.id",
    "select id, payload.* from t",
    "select * except (id) from t",
    "select *, count(*) over () as n from t",
    "select distinct * from t where id > 0",
    "select * from (select id from a) as a cross join b",
    "select * from (select id from a) as a, b",
    "select * from a natural join b",
    "select * from t lateral view explode(list) as item",
    "select * from (select id, list from t) lateral view explode(list) as item",
    "select * from (select id, list from t), lateral explode(list) as item",
    "select * from range(3)",
    "select * from (select k, v from t) pivot (sum(v) for k in ('a', 'b'))",
    "select * from t union all select a, b from u",
    "(select * from t)",
    "(select * from t) union all select a, b from u",
    "select * from (select * from t)",
    "select * from (select * from (t join u using (id)))",
    "with a as (select * from t) select * from a",
    "with a as (select * from t), b as (select * from a) select * from b",
    "with a as (select id from t) select * from (with b as (select * from u) select * from b)",
    "with a as (select id from t) select * from s.a",
    "with a as (select id from t) (select * from b)",
    "with t as (select * from t) select * from t",
    "table t",
    "with a as (table t) select * from a",
    "from t select *",
    "from t",
    "from t where id > 0",
    "(from t)",
    "-- all of it\nfrom t",
    "/* all of it */ from t",
    "from t union all select a, b from u",
    "with a as (from t) from a",
    "with a as (select id from t)\nfrom b",
    "with a as (select id from t union all from u), b as (select v from u) from c",
    "with src as (select id, payload from t) select src.id, payload.* from src",
    "with src as (select id, payload from t) select src.payload.* from src",
    "with src as (select id, payload from t) select *, payload.* from src",
    "with src as (select id, payload from t) select id, (payload).* from src",
    "select q.*, payload.* from (select id, payload from t) as q",
    "with src as (select id from t) select src.* from src as x, s.src",
    "with a as (select id from t) select a.*, b.* from a join b using (id)",
    "with a as (select id from t) select b.* from a join (select * from u) as b",
    "with a as (select id from t) select item.* from a lateral view explode(list) item as value",
    "select * from ${what is this} ((",
]
ITS_OWN = [
    "select id from t",
    "select count(*) as n from t",
    "select count(*) as n, 2 * v as w from t /* all of it */",
    "select id from (select * from t)",
    "select t.id from t where exists (select * from u where u.id = t.id)",
    "with a as (select * from t) select id from a",
    "with a as (select id, v from t) select * from a",
    "with a as (select id from t) select * from A",
    "with a as (select id, v from t), b as (select * from a where v > 0) select * from b",
    "with a as (select id from t), b as (select id from u) select * from a join b using (id)",
    "with a(x, y) as (select * from t) select * from a",
    "with a as (select id from t) (select * from a)",
    "select * from (select id, v from t) as q",
    "select * from (select * from t) as q(a, b)",
    "select q.* from (select id, v from t) as q",
    "with a as (select id, v from t) select a.* from a",
    "with a as (select id, v from t) select A.* from a",
    "with a as (select id, v from t) select x.*, 1 as one from a as x",
    "with a as (select id, v from t) select a.*, u.w from a join u on a.id = u.id",
    "with a as (select id, v from t) select u.w, a.* from u left join a on a.id = u.id",
    "with a as (select id, v from t) from a",
    "from t select id",
    "from (select id, v from t)",
    "select extract(year from ts) as y from t",
    "select a union_all\n-- a comment\nfrom t",
    "(select id, 2 * v as w from t)",
    "select a, 2 * b as b from t union all select * from u",
    "select * from (select a from t union all select b from u)",
    "select * from values (1, 2) as v(a, b)",
    "select * from (values (1, 2)) as v(a, b)",
    "select id, v * 2 as w from t order by v * 2 limit 3",
    "with a as (table t) select id from a",
]


@pytest.mark.parametrize("sql", OF_TABLES)
def test_columns_of_tables(sql: str) -> None:
    assert takes_columns_of_tables(sql)


@pytest.mark.parametrize("sql", ITS_OWN)
def test_columns_of_its_own(sql: str) -> None:
    assert not takes_columns_of_tables(sql)


def test_a_query_too_deep_to_be_read() -> None:
    assert takes_columns_of_tables(f"select * from {'(' * 5000}t{')' * 5000}")
