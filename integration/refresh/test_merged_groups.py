"""Aggregates that no output column follows: what came and what went is merged into the stored groups."""

from __future__ import annotations

from collections.abc import Callable, Collection

import pytest

from dbt.adapters.icebergmv.maintenance.planning.queries.row_changes import RowChanges
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect
from integration.support.following import CUSTOMERS, among, assert_follows, built
from integration.support.lake import LakeProject

JOINED = "from {orders} o join {customers} c on o.customer = c.id"
VIEWS = {
    "total": "select count(*) as n, sum(amount) as total, min(day) as first_day, max(note) as last_note from {orders}",
    "averages": "select avg(amount) as a, avg(price) as p, avg(big) as b, 100.0 * sum(price) / count(amount) as ratio,"
    " 'all' as label from {orders}",
    "by_country": f"select c.country, sum(o.amount) as total, sum(price) as prices, avg(price) as price, count(*) as n"
    f" {JOINED} group by c.country",
    "open_ones": "select customer, count_if(note is null) as n, sum(amount) filter (where day > date'2024-01-02') as late"
    " from {orders} group by customer",
    "extremes": f"select country, min(o.amount) as low, max(o.day) as high {JOINED} group by all",
    "of_union": "with x as (select customer, amount from {orders} union all select id, null from {customers})"
    " select customer as who, count(*) as n, sum(amount) as s from x group by 1",
    "outer_join": "select c.country, count(o.id) as n, sum(o.amount) as total from {orders} o"
    " left join {customers} c on o.customer = c.id group by c.country",
    "in_final": "with o as (select * from {orders}), final as (select customer, count(*) as n, sum(amount) as s"
    " from o group by customer) select * from final",
    "in_ctes": "with o as (select customer, amount + 1 as more from {orders} where amount is not null), c as (select *"
    " from {customers}), j as (select o.more, c.country from o join c on o.customer = c.id) select country, sum(more) as s,"
    " count(*) as n from j group by country",
    "ranked_sets": "select c.country, customer, sum(amount) as total, grouping(c.country) + grouping(customer) as level,"
    " rank() over (partition by grouping(c.country) + grouping(customer), case when grouping(customer) = 0 then c.country"
    f" end order by sum(amount) / count(*) desc) as place {JOINED} group by rollup(c.country, customer)",
    "of_floats": "select count(*) as n, sum(score) as s from {orders}",
    "distinct_ones": "select count(distinct customer) as n from {orders}",
    "filtered": "select customer, sum(amount) as s, count(*) as n from {orders} as o where o.amount > 2 group by customer",
    "renamed": "select coalesce(note, 'none') as note, count(note) as n, sum(amount) as amount, min(price) as price,"
    " count_if(null) as big from {orders} where amount >= 0 or amount is null group by coalesce(note, 'none')",
    "shown_whole": "select customer, count(*) as n from {orders} where concat_ws('|', *) not like '%-1' group by customer",
}
MERGED = [name for name in VIEWS if name not in ("of_floats", "distinct_ones")]
IN_EVERY_RUN = ("averages", "by_country", "filtered", "shown_whole", "in_ctes")
# Changes one after the other, and how views follow.
ROUNDS = {
    "one more order": (
        ["INSERT INTO {orders} VALUES (100, 1, date'2024-03-01', 5, 1.25, 7, null, 1.5D)"],
        {**dict.fromkeys(MERGED, "merge"), "of_floats": "full", "distinct_ones": "merge"},
    ),
    "an order of nobody, of nothing": (
        ["INSERT INTO {orders} VALUES (101, null, date'2024-03-01', null, null, null, 'zz', null)"],
        {"total": "merge", "averages": "merge", "by_country": "none", "open_ones": "merge", "of_union": "merge"},
    ),
    "written again with the same rows": (
        ["UPDATE {orders} SET amount = amount WHERE day = date'2024-01-02'"],
        dict.fromkeys(MERGED, "none"),
    ),
    "to another customer": (
        ["UPDATE {orders} SET customer = 2, price = price + 0.01 WHERE id = 3"],
        {"by_country": "merge", "open_ones": "merge", "total": "none", "averages": "merge", "outer_join": "merge"},
    ),
    "a group dies and another loses its values": (
        ["DELETE FROM {orders} WHERE customer = 3", "UPDATE {orders} SET amount = null WHERE customer = 2"],
        dict.fromkeys(
            ("by_country", "open_ones", "of_union", "outer_join", "averages", "filtered", "shown_whole"), "merge"
        ),
    ),
    "a day is replaced, and customers move": (
        [
            "DELETE FROM {orders} WHERE day = date'2024-01-04'",
            "INSERT INTO {orders} VALUES (102, 3, date'2024-01-04', 9, 99.99, -7, 'a', 0.5D)",
            "UPDATE {customers} SET country = 'O\\'x \\\\ `y`' WHERE id = 1",
        ],
        {"by_country": "merge", "outer_join": "merge", "averages": "merge", "of_union": "overwrite"},
    ),
    "the extremes go": (
        ["DELETE FROM {orders} WHERE day = date'2024-03-01' OR note = 'zz'"],
        {"total": "full", "extremes": "overwrite", "by_country": "merge"},
    ),
    "everything goes": (
        ["DELETE FROM {orders}"],
        {"total": "full", "averages": "merge", "by_country": "merge", "of_union": "merge", "ranked_sets": "merge"},
    ),
    "and begins again": (
        ["INSERT INTO {orders} VALUES (1, 1, date'2024-05-01', 5, 1.25, 7, 'x', 1.5D)"],
        dict.fromkeys(("total", "averages", "by_country", "extremes", "ranked_sets"), "merge"),
    ),
}
TABLES = {
    "orders": (
        "PARTITIONED BY (day) TBLPROPERTIES "
        "('format-version'='2', 'write.delete.mode'='merge-on-read', 'write.update.mode'='copy-on-write') AS "
        "SELECT cast(id AS int) AS id, cast(id % 3 + 1 AS int) AS customer, date_add(date'2024-01-01', "
        "cast(id % 4 AS int)) AS day, cast(id % 5 AS int) AS amount, cast(id * 1.37 AS decimal(12, 2)) AS price,"
        " id * 1000 AS big, if(id % 2 = 0, concat('n', id), null) AS note, cast(id AS double) / 2 AS score"
        " FROM range(24)"
    ),
    "customers": CUSTOMERS,
}
OTHERS = [name for name in VIEWS if name not in IN_EVERY_RUN]


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    return built(lake, "", TABLES, VIEWS, IN_EVERY_RUN)


@pytest.fixture(scope="module")
def other_tables(lake: LakeProject) -> dict[str, str]:
    return built(lake, "other_", TABLES, VIEWS, OTHERS)


def _assert_merged(lake: LakeProject, tables: dict[str, str], change: str, views: Collection[str]) -> None:
    expected = among(ROUNDS[change], views)
    found = assert_follows(lake, tables, expected, views)
    assert all((found[n]["bytes_written"] > 0) == (found[n]["rows_affected"] > 0) for n in expected[1])


@pytest.mark.parametrize("change", ROUNDS)
def test_groups_are_merged(lake: LakeProject, tables: dict[str, str], change: str) -> None:
    _assert_merged(lake, tables, change, IN_EVERY_RUN)


@pytest.mark.long
@pytest.mark.parametrize("change", ROUNDS)
def test_groups_of_others_are_merged(lake: LakeProject, other_tables: dict[str, str], change: str) -> None:
    _assert_merged(lake, other_tables, change, OTHERS)


def test_hidden_columns_are_shown_to_nobody(lake: LakeProject, tables: dict[str, str]) -> None:
    lake.model("over_it", f"select * from lake.{lake.schema}.by_country")
    lake.run("--select", "over_it")
    lake.assert_equals_definition("over_it")
    shown = [row[0] for row in lake.sql(f"DESCRIBE lake.{lake.schema}.by_country")]
    assert shown == [row[0] for row in lake.sql(f"DESCRIBE lake.{lake.schema}.over_it")]
    assert shown == ["country", "total", "prices", "price", "n"]


def test_a_sum_that_overflows(lake: LakeProject) -> None:
    """The full refresh that is right fails as the SELECT does; afterwards groups are merged again."""
    big = f"lake.{lake.schema}.big"
    lake.sql(f"CREATE TABLE {big} USING iceberg AS SELECT 9223372036854775807 AS v, 1 AS id")
    lake.model("sums", f"select sum(v) as s, count(*) as n from {big}")
    lake.run("--select", "sums")
    lake.sql(f"INSERT INTO {big} VALUES (-5, 2)")
    assert lake.run("--select", "sums")["sums"]["refresh_kind"] == "merge"
    lake.sql(f"INSERT INTO {big} VALUES (1, 3), (4, 3)")
    assert lake.run("--select", "sums")["sums"]["refresh_kind"] == "merge"
    lake.assert_equals_definition("sums")


def test_the_smallest_bigint_goes(lake: LakeProject) -> None:
    """No bigint is its negative, which in ANSI mode is an error."""
    least = f"lake.{lake.schema}.least"
    lake.sql(f"CREATE TABLE {least} USING iceberg AS SELECT -9223372036854775808 AS v, 1 AS id UNION ALL SELECT 5, 2")
    lake.model("least_sum", f"select sum(v) as s, count(*) as n from {least}")
    lake.run("--select", "least_sum")
    lake.sql(f"DELETE FROM {least} WHERE id = 1")
    found = lake.run("--select", "least_sum")["least_sum"]
    assert found["refresh_reason"].endswith("; groups were not merged: a sum overflowed")
    lake.assert_equals_definition("least_sum")
    lake.sql(f"DELETE FROM {least} WHERE id = 2")
    assert lake.run("--select", "least_sum")["least_sum"]["refresh_kind"] == "merge"
    lake.assert_equals_definition("least_sum")


def test_the_reason_says_why_groups_were_not_merged(lake: LakeProject) -> None:
    facts = f"lake.{lake.schema}.refusing"
    unnoted = "TBLPROPERTIES ('write.metadata.metrics.default'='none')"
    lake.sql(f"CREATE TABLE {facts} USING iceberg {unnoted} AS SELECT id, id AS v, cast(id AS int) AS w FROM range(9)")
    items = {"largest": "max(v)", "summed": "sum(v)", "averaged": "avg(w * 1000000000000L)"}
    for name, item in items.items():
        lake.model(f"not_{name}", f"select {item} as found, count(*) as n from {facts}")
    lake.run("--select", *(f"not_{name}" for name in items))
    lake.sql(f"DELETE FROM {facts} WHERE id = 8")
    lake.sql(f"INSERT INTO {facts} VALUES (20, 9223372036854775807, 2000000000)")
    found = lake.run("--select", *(f"not_{name}" for name in items))
    reasons = {
        name: found[f"not_{name}"]["refresh_reason"].rpartition("; groups were not merged: ")[2] for name in items
    }
    assert reasons["summed"] == "a sum overflowed"
    assert reasons["averaged"] == "an average would not be exact"
    lake.sql(f"DELETE FROM {facts} WHERE id = 20")
    found = lake.run("--select", "not_largest")
    assert found["not_largest"]["refresh_reason"].endswith(
        "; groups were not merged: the smallest or largest value of a group went"
    )
    lake.assert_equals_definition("not_largest")


def test_an_average_of_the_smallest_whole_number(lake: LakeProject) -> None:
    """It has no absolute value of its type."""
    facts = f"lake.{lake.schema}.smallest"
    lake.sql(f"CREATE TABLE {facts} USING iceberg AS SELECT id, bigint('-9223372036854775808') AS v FROM range(1)")
    lake.model("of_smallest", f"select avg(v) as a, count(*) as n from {facts}")
    lake.run("--select", "of_smallest")
    lake.sql(f"INSERT INTO {facts} VALUES (5, 1)")
    _assert_not_averaged(lake, "of_smallest")
    lake.sql(f"INSERT INTO {facts} VALUES (6, 2)")
    _assert_not_averaged(lake, "of_smallest")


@pytest.mark.long
def test_averages_of_large_numbers_that_cancel(lake: LakeProject) -> None:
    """The sum of their absolute values overflows, in what is stored or in what came."""
    facts = f"lake.{lake.schema}.cancelling"
    large = "(1, 5000000000000000000), (2, 3), (3, -5000000000000000000)"
    lake.sql(f"CREATE TABLE {facts} (id int, v bigint) USING iceberg")
    lake.sql(f"INSERT INTO {facts} VALUES (0, 1)")
    models = {
        "of_all": f"select avg(v) as a, count(*) as n from {facts}",
        "of_some": f"select avg(v) as a, count(*) as n from {facts} where id >= 0",
        "of_groups": f"select id % 1 as g, avg(v) as a, count(*) as n from {facts} where id >= 0 group by 1",
        "of_sets": f"select q.g, avg(q.v) as a, count(*) as n from (select id % 1 as g, v from {facts}) q"
        " group by rollup(q.g)",
    }
    for name, sql in models.items():
        lake.model(name, sql)
    lake.run("--select", *models)
    for rows in (large, "(9, 1)"):
        lake.sql(f"INSERT INTO {facts} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows} AS t(id, v)")
        found = lake.run("--select", *models)
        assert "merge" not in {found[name]["refresh_kind"] for name in models}


def _assert_not_averaged(lake: LakeProject, name: str) -> None:
    reason = lake.run("--select", name)[name]["refresh_reason"]
    assert reason.endswith("; groups were not merged: an average would not be exact")
    lake.assert_equals_definition(name)


@pytest.mark.long
def test_averages_of_few_digits(lake: LakeProject) -> None:
    """Spark computes them with doubles, and the last digit shows it."""
    prices = f"lake.{lake.schema}.prices"
    lake.sql(f"CREATE TABLE {prices} USING iceberg AS SELECT id, cast(0 AS decimal(10, 2)) AS p FROM range(159)")
    lake.model("average_price", f"select avg(p) as a, avg(cast(p as decimal(12, 2))) as b, count(*) as n from {prices}")
    lake.run("--select", "average_price")
    for price in ("2627660.09", "88393930.39", "56521.31"):
        lake.sql(f"INSERT INTO {prices} VALUES (1000, {price})")
        assert lake.run("--select", "average_price")["average_price"]["refresh_kind"] == "merge"
        lake.assert_equals_definition("average_price")
        lake.sql(f"DELETE FROM {prices} WHERE id = 1000")


PLACES_CHANGE = {
    "one of two equal rows": "UPDATE {places} SET country = 'XX' WHERE name = 'p1'",
    "a NULL that is a value": "UPDATE {places} SET country = 'YY' WHERE country IS NULL",
    "written again": "INSERT OVERWRITE {places} SELECT * FROM {places}",
    "a third equal row": "INSERT OVERWRITE {places} SELECT * FROM {places} UNION ALL SELECT 2, 'p2', 'EU'",
}


@pytest.mark.long
def test_rows_of_a_small_table_that_cancel(lake: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file is written again as a whole; what is in it unchanged, two equal rows among it, is not joined twice."""
    compared = _compared(monkeypatch)
    stays, places = f"lake.{lake.schema}.stays", f"lake.{lake.schema}.places"
    lake.sql(
        f"CREATE TABLE {places} USING iceberg TBLPROPERTIES ('write.metadata.metrics.default'='none') AS"
        " SELECT * FROM VALUES (1, 'p1', 'EU'), (1, 'other', 'EU'), (2, 'p2', 'EU'), (2, 'p2', 'EU'),"
        " (3, 'p3', cast(null as string)) AS p(id, name, country)"
    )
    lake.sql(f"CREATE TABLE {stays} USING iceberg AS SELECT id, cast(id % 5 AS int) AS place FROM range(1000)")
    lake.model(
        "by_place",
        f"select country, count(*) as n, sum(s.id) as ids from {stays} s join {places} p on s.place = p.id group by all",
    )
    lake.run("--select", "by_place")
    for about, change in PLACES_CHANGE.items():
        lake.sql(change.format(places=places))
        kind = lake.run("--select", "by_place")["by_place"]["refresh_kind"]
        lake.assert_equals_definition("by_place")
        assert (kind, len(compared)) == ("none" if about == "written again" else "merge", 1), about
        compared.clear()


def _compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets what is read in place of a table of which two versions are compared."""
    compared: list[str] = []

    def spied(read: Callable[[RowChanges, Dialect], str]) -> Callable[[RowChanges, Dialect], str]:
        def read_and_keep(changes: RowChanges, dialect: Dialect) -> str:
            compared.append(read(changes, dialect))
            return compared[-1]

        return read_and_keep

    monkeypatch.setattr(RowChanges, "that_came", spied(RowChanges.that_came))
    monkeypatch.setattr(RowChanges, "that_went", spied(RowChanges.that_went))
    monkeypatch.setattr(RowChanges, "that_moved", spied(RowChanges.that_moved))
    return compared


WORDS = {
    "of_comments": "select k, sum(v) * 100 -- in cents\n as cents from {words} group by k",
    "of_generated": "select k as col, count(*) as n from {words} lateral view explode(array(v, v + 1)) x group by k, col",
    "of_several_rows": "select explode(array(count(*), sum(v))) as e from {words}",
    "of_structs": "select to_json(struct(count(*), max(v), sum(v))) as j from {words}",
    "of_small_numbers": "select min(cast(v as tinyint)) + max(cast(v as tinyint)) as t from {words}",
    "of_divisions": "select sum(10 div d.v) as s, count(*) as n from {words} w join {divisors} d on w.v = d.id",
}


@pytest.mark.long
def test_words_that_mean_something_else_over_states(lake: LakeProject) -> None:
    names = {name: f"lake.{lake.schema}.{name}" for name in ("words", "divisors")}
    lake.sql(f"CREATE TABLE {names['words']} USING iceberg AS SELECT * FROM VALUES ('a', 1), ('b', 2) AS t(k, v)")
    lake.sql(f"CREATE TABLE {names['divisors']} USING iceberg AS SELECT * FROM VALUES (1, 1), (3, 0) AS t(id, v)")
    for name, sql in WORDS.items():
        lake.model(name, sql.format(**names))
    lake.run("--select", *WORDS)
    # Rows that no version of the two tables has together would be divided by 0.
    lake.sql(f"INSERT INTO {names['words']} VALUES ('a', 3), ('c', 1)")
    lake.sql(f"UPDATE {names['divisors']} SET v = 5 WHERE id = 3")
    found = lake.run("--select", *WORDS)
    lake.assert_equals_definition(*WORDS)
    assert {name: found[name]["refresh_kind"] for name in ("of_comments", "of_structs")} == {
        "of_comments": "merge",
        "of_structs": "merge",
    }


def test_a_storage_table_made_anew_by_a_refresh_that_died(lake: LakeProject) -> None:
    """The rows that the view shows have other hidden columns than the table, or none."""
    base = f"lake.{lake.schema}.base_of_it"
    lake.sql(f"CREATE TABLE {base} USING iceberg AS SELECT 1 AS v")
    lake.model("half_made", f"select sum(v) as s from {base}")
    lake.run("--select", "half_made")
    storage = lake.published("half_made").sql.split(" FROM ")[1].split(" VERSION ")[0]
    hidden = [row[0] for row in lake.sql(f"DESCRIBE {storage}") if row[0].startswith("icebergmv_state_")]
    for column in hidden:
        lake.sql(f"ALTER TABLE {storage} DROP COLUMN {column}")
        lake.sql(f"ALTER TABLE {storage} ADD COLUMN {column} bigint")
    for kind in ("full", "merge"):
        lake.sql(f"INSERT INTO {base} VALUES (2)")
        assert lake.run("--select", "half_made")["half_made"]["refresh_kind"] == kind
        lake.assert_equals_definition("half_made")
