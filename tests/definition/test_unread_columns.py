"""The hash of a SELECT over plain views, which columns of them that nobody reads do not change."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.references.unread_columns import hash_of_read_columns

SAME = {
    "a column more": (
        "select v.a from (select x as a from t) as v",
        "select v.a from (select x as a, y as b from t) as v",
    ),
    "a column more in front": (
        "select v.a from (select x as a from t) as v",
        "select v.a from (select y as b, x as a from t) as v",
    ),
    "a column less in between": (
        "select a, c from (select a, b, c from t) v",
        "select a, c from (select a, c from t) v",
    ),
    "another meaning of a column": (
        "select a from (select a, upper(s) as b from t) v",
        "select a from (select a, lower(s) as b from t) v",
    ),
    "through an import": (
        "with o as (select * from (select id, n from t) as v) select id from o where n > 1",
        "with o as (select * from (select id, n, more from t) as v) select id from o where n > 1",
    ),
    "through the CTE of a view": (
        "select v.id from (select v.id from (with r as (select id from t) select * from r) as v) as v",
        "select v.id from (select v.id, v.z from (with r as (select id, y as z from t) select * from r) as v) as v",
    ),
    "two views, of which one feeds the other": (
        "select a from (select a from (select x as a from t) w) v",
        "select a from (select a, b from (select x as a, y as b from t) w) v",
    ),
    "white space and a comment": ("select a from (select a from t) v", "select a\nfrom (select  a /* b */ from t) v"),
    "none of the columns": (
        "select count(*) as n from (select a, b from t) v",
        "select count(*) as n from (select b from t) v",
    ),
    "a window": (
        "select a from (select *, row_number() over (partition by a order by b) as n from (select a, b from t) v) w "
        "where n = 1",
        "select a from (select *, row_number() over (partition by a order by b) as n from (select a, b, c from t) v) w "
        "where n = 1",
    ),
    "a subquery in a column": (
        "select a from (select a from t) v",
        "select a from (select a, (select max(u.z) from u) as b from t) v",
    ),
    "a column whose type is checked": (
        "select a from (select icebergmv_view.a, cast(icebergmv_view.b as int) as b from (select a, f(b) as b from t) "
        "as icebergmv_view where if((typeof(icebergmv_view.b) = 'int'), true, raise_error('no'))) as v",
        "select a from (select icebergmv_view.a from (select a from t) as icebergmv_view) as v",
    ),
    "EXISTS of everything": (
        "select k from s where exists (select * from (select a from t) v where v.a = s.k)",
        "select k from s where exists (select * from (select a, b from t) v where v.a = s.k)",
    ),
}
OTHER = {
    "a WHERE of a view under the name of ours": (
        "select a from (select a from t as icebergmv_view where coalesce(c, 3) > 5) v",
        "select a from (select a from t as icebergmv_view where coalesce(c, 4) > 5) v",
    ),
    "an IF of a view under the name of ours": (
        "select a from (select a from t as icebergmv_view where if(c > 3, true, false)) v",
        "select a from (select a from t as icebergmv_view where if(c > 4, true, false)) v",
    ),
    "an IF that is a part of a WHERE": (
        "select a from (select a from t as icebergmv_view where if(c > 3, true, raise_error('no')) and a > 1) v",
        "select a from (select a from t as icebergmv_view where if(c > 3, true, raise_error('no')) and a > 2) v",
    ),
    "a term in parentheses under the name of ours": (
        "select a from (select a, c from t) as icebergmv_view where (c > 0 or a > 1)",
        "select a from (select a, c from t) as icebergmv_view where (a > 0 or a > 1)",
    ),
    "a name and an alias that look like one word": (
        "with r as (select v.primary key, a from (select p as primary, a from t) v) select key, a from r",
        "with r as (select v.primary key, a from (select q as primary, a from t) v) select key, a from r",
    ),
    "a column that is read": (
        "select a from (select x as a, y as b from t) v where b > 0",
        "select a from (select x as a, z as b from t) v where b > 0",
    ),
    "a column that another column of the view is made of": (
        "select c from (select x as a, a + 1 as c from t) v",
        "select c from (select y as a, a + 1 as c from t) v",
    ),
    "a filter": ("select a from (select a from t) v", "select a from (select a from t where b > 0) v"),
    "a join": ("select a from (select a from t) v", "select a from (select a from t left join u on t.k = u.k) v"),
    "a name in other letters": (
        "select a, B from (select a, x as b from t) v",
        "select a, B from (select a, y as b from t) v",
    ),
    "a name in a string": (
        "select a from (select a, x as b from t) v where f('b') = 1",
        "select a from (select a, y as b from t) v where f('b') = 1",
    ),
    "* of the view itself": ("select * from (select a from t) v", "select * from (select a, b from t) v"),
    "* under DISTINCT": (
        "select count(1) as n from (select distinct * from (select a from t) v) w",
        "select count(1) as n from (select distinct * from (select a, b from t) v) w",
    ),
    "DISTINCT": (
        "select a from (select distinct a from t) v",
        "select a from (select distinct a, b from t) v",
    ),
    "a branch of UNION": (
        "select a from (select a, b from t union select a, c from u) v",
        "select a from (select a, d from t union select a, c from u) v",
    ),
    "* in a branch of UNION": (
        "select a from (select * from (select a, b from t) v union select a, c from u) w",
        "select a from (select * from (select b, a from t) v union select a, c from u) w",
    ),
    "* in a value": (
        "select to_json(struct(*)) as j from (select a from t) v",
        "select to_json(struct(*)) as j from (select a, b from t) v",
    ),
    "* that is counted": (
        "select count(v.*) as n from (select a from t) v",
        "select count(v.*) as n from (select a, b from t) v",
    ),
    "* in a hash that a query reads by name": (
        "select h from (select hash(*) as h from (select a from t) v) w",
        "select h from (select hash(*) as h from (select a, b from t) v) w",
    ),
    "NATURAL JOIN": (
        "select v.a from (select a from t) v natural join u",
        "select v.a from (select a, b from t) v natural join u",
    ),
    "PIVOT": (
        "select * from (select a, b, c from t) v pivot (sum(c) for b in (1, 2))",
        "select * from (select a, b, c, d from t) v pivot (sum(c) for b in (1, 2))",
    ),
    "PIVOT of what is read by name": (
        "select a from (select a, b, c from t) v pivot (sum(c) as n for b in (1, 2))",
        "select a from (select a, b, c, d from t) v pivot (sum(c) as n for b in (1, 2))",
    ),
    "GROUP BY ALL": (
        "select a, n from (select a, count(1) as n from t group by all) v",
        "select a, n from (select a, b, count(1) as n from t group by all) v",
    ),
    "a number in ORDER BY": (
        "select a from (select a, b from t order by 2 limit 1) v",
        "select a from (select a, c from t order by 2 limit 1) v",
    ),
    "columns renamed by their places": (
        "with v(x, y) as (select a, b from t) select x from v",
        "with v(x, y) as (select c, b from t) select x from v",
    ),
    "aliases of a table": (
        "select x from (select a, b from t) v(x, y)",
        "select x from (select c, b from t) v(x, y)",
    ),
    "an aggregate of all rows": (
        "select count(*) as n from (select max(a) as a from t) v",
        "select count(*) as n from (select a from t) v",
    ),
    "a generator": (
        "select a from (select a, explode(xs) as x from t) v",
        "select a from (select a, xs as x from t) v",
    ),
    "a generator that is called by another name": (
        "select a from (select a, posexplode_outer(xs) as (p, x) from t) v",
        "select a from (select a from t) v",
    ),
    "a scalar subquery": (
        "select (select * from (select max(a) as a from t) v) as a from u",
        "select (select * from (select max(b) as a from t) v) as a from u",
    ),
    "LATERAL": (
        "select w.* from u, lateral (select * from (select a from t) v) w",
        "select w.* from u, lateral (select * from (select a, b from t) v) w",
    ),
    "an item and its alias": ("select a, b from (select a b from t) v", "select a, b from (select a, b from t) v"),
    "text that cannot be parsed": ("select a from (select a from t", "select a from (select a, b from t"),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=[*SAME])
def test_what_nobody_reads_does_not_count(one: str, other: str) -> None:
    assert hash_of_read_columns(one) == hash_of_read_columns(other)


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=[*OTHER])
def test_what_may_be_read_counts(one: str, other: str) -> None:
    assert hash_of_read_columns(one) != hash_of_read_columns(other)
