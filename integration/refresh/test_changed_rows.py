"""Changes that no output column follows: the changed rows say which groups, or rows, of the view they reach."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyspark.sql import SparkSession

from benchmarks.parts.scans import last_execution, scanned_since
from dbt.adapters.icebergmv.maintenance.planning import write
from dbt.adapters.icebergmv.maintenance.planning.cost import cost
from dbt.adapters.icebergmv.maintenance.planning.questions.question_texts import QuestionTexts
from integration.support.following import CUSTOMERS, among, assert_follows, built, in_turn
from integration.support.lake import LakeProject

JOINED = "from {orders} o join {customers} c on o.customer = c.id"
VIEWS = {
    "by_country": f"select c.country, sum(o.amount) as total, count(distinct o.id) as n {JOINED} group by c.country",
    "large": f"select c.country, count(*) as n {JOINED} group by c.country having count(*) > 2",
    "of_sums": "select total, count(*) as n from (select customer, sum(amount) as total from {orders} group by customer)"
    " group by total",
    "ranked": "select country, score, rank() over (partition by country order by score, id) as place"
    f" from (select c.country, c.id, o.score {JOINED})",
    "quiet": "select c.country from {customers} c left anti join {orders} o on o.customer = c.id",
    "unordered": f"select country from {{customers}} except all select c.country {JOINED}",
    "never_ordered": "select c.country, count(*) as n from {customers} c where c.id not in"
    " (select o.customer from {orders} o where o.customer is not null) group by c.country",
    "busy": "select c.country, c.id from {customers} c where exists (select 1 from {orders} o where o.customer = c.id"
    " and o.amount > 2) or c.id in (select customer from {orders} group by customer having count(*) > 4)",
    "below": "select c.country, c.id from {customers} c where c.id < (select max(o.amount) from {orders} o"
    " where o.customer = c.id)",
    "above_all": "select c.country, count(*) as n from {customers} c where c.id * 4 >= (select max(amount) from {orders})"
    " group by c.country",
    "twice": f"with x as (select c.country, o.day, o.amount {JOINED}) select a.country, count(*) as n from x a join x b"
    " on a.amount < b.amount group by a.country",
    "total": f"select count(distinct o.id) as n, sum(o.amount) as total {JOINED} where o.amount > 0",
    "branches": "select 'order' as source, id, rank() over (order by score, id) as place from {orders}"
    " union all select 'customer', id, rank() over (order by country, id) from {customers}",
    "one_branch": "select id, place from (select 'order' as source, id, rank() over (order by score, id) as place"
    " from {orders} union all select 'customer', id, id from {customers}) where source = 'customer'",
    "pairs": f"select count(distinct c.country, o.day) as n, count(*) as rows {JOINED}",
    "best": "select c.country, c.id, (select max(o.amount) from {orders} o where o.customer = c.id) as best,"
    " exists (select 1 from {orders} p where p.customer = c.id and p.score > 1) as well from {customers} c",
    "scores": f"select c.country, cast(max(o.score) as string) as best {JOINED} group by c.country",
    "latest": "select customer, max_by(amount, id) as amount from {orders} group by customer",
    "picked": "select id, amount from {orders} limit 1000",
    "monitor": "select 'orders' as of, count(*) as n, max(day) as last from {orders} union all"
    " select 'customers', count(*), null from {customers} having max(id) is null or count(*) > 1",
}
IN_EVERY_RUN = ("by_country", "best", "scores", "monitor", "latest")
# Changes one after the other, and how the views follow that are refreshed then; for others changes come together.
ROUNDS = {
    "one more order": (
        ["INSERT INTO {orders} VALUES (100, 1, date'2024-03-01', 5, 1.5D)"],
        {
            **dict.fromkeys(["by_country", "large", "ranked", "scores", "busy", "below", "twice", "best"], "overwrite"),
            **{
                "never_ordered": "overwrite",
                "above_all": "overwrite",
                "total": "merge",
                "pairs": "merge",
                "of_sums": "merge",
                "unordered": "overwrite",
                "quiet": "overwrite",
                "branches": "overwrite",
                "one_branch": "none",
                "monitor": "overwrite",
                "latest": "overwrite",
                "picked": "full",
            },
        },
    ),
    "an order of nobody": (
        ["INSERT INTO {orders} VALUES (101, 99, date'2024-03-01', 5, 9.5D)"],
        {
            **dict.fromkeys(["by_country", "large", "ranked", "scores", "twice", "total"], "none"),
            **{"of_sums": "merge", "unordered": "none"},
            # Column bounds follow the customer of new orders here, the last by a hidden key.
            **{"never_ordered": "overwrite", "busy": "overwrite", "below": "overwrite", "above_all": "none"},
            **{"quiet": "overwrite", "branches": "overwrite", "one_branch": "none"},
            # Partitions follow the days that are counted; the changed row names a customer that is not there.
            **{"pairs": "merge", "best": "overwrite", "monitor": "overwrite", "latest": "overwrite"},
            "picked": "full",
        },
    ),
    "written again with the same rows": (
        ["UPDATE {orders} SET amount = amount WHERE day = date'2024-01-02'"],
        dict.fromkeys([name for name in VIEWS if name not in ("quiet", "pairs")], "none"),
    ),
    "to another customer": (
        ["UPDATE {orders} SET customer = 2 WHERE id = 3"],
        {
            **dict.fromkeys(["by_country", "large", "ranked", "scores", "best"], "overwrite"),
            **{"monitor": "none", "latest": "overwrite"},
        },
    ),
    "a customer of no country": (
        ["UPDATE {orders} SET customer = 4 WHERE id = 4"],
        dict.fromkeys(["by_country", "scores", "quiet", "never_ordered", "busy", "below"], "overwrite"),
    ),
    "a zero becomes a negative one": (
        ["UPDATE {orders} SET score = -0.0D WHERE score = 0.0D"],
        {"by_country": "none", "scores": "overwrite"},
    ),
    "a group dies": (
        ["DELETE FROM {orders} WHERE customer = 3"],
        {**dict.fromkeys(["by_country", "scores", "monitor"], "overwrite"), "total": "merge", "pairs": "merge"},
    ),
    "both tables": (
        ["UPDATE {customers} SET country = 'O\\'x \\\\ `y`' WHERE id = 1", "DELETE FROM {orders} WHERE id IN (1, 2)"],
        {"by_country": "overwrite", "large": "overwrite", "branches": "overwrite", "total": "merge", "pairs": "merge"},
    ),
    "the whole table, with one row less": (
        ["INSERT OVERWRITE {orders} SELECT * FROM {orders} WHERE id <> 6"],
        {"by_country": "overwrite", "scores": "overwrite"},
    ),
    "replaced by the same rows": (
        ["CREATE OR REPLACE TABLE {orders} USING iceberg AS SELECT * FROM {orders}"],
        {"by_country": "none", "scores": "none"},
    ),
}
TABLES = {
    "orders": (
        "PARTITIONED BY (day) TBLPROPERTIES "
        "('format-version'='2', 'write.delete.mode'='merge-on-read', 'write.update.mode'='copy-on-write') AS "
        "SELECT cast(id AS int) AS id, cast(id % 3 + 1 AS int) AS customer, date_add(date'2024-01-01', "
        "cast(id % 4 AS int)) AS day, cast(id % 5 AS int) AS amount, cast(id % 3 AS double) AS score FROM range(12)"
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


@pytest.mark.parametrize("change", in_turn(ROUNDS, 3))
def test_what_is_reached_is_refreshed(lake: LakeProject, tables: dict[str, str], change: str) -> None:
    expected = among(ROUNDS[change], IN_EVERY_RUN)
    assert_follows(lake, tables, expected, expected[1])


@pytest.mark.long
@pytest.mark.parametrize("change", ROUNDS)
def test_what_is_reached_of_others(lake: LakeProject, other_tables: dict[str, str], change: str) -> None:
    expected = among(ROUNDS[change], OTHERS)
    assert_follows(lake, other_tables, expected, expected[1] or OTHERS)


def test_more_keys_than_a_predicate_takes(lake: LakeProject, tables: dict[str, str]) -> None:
    wide, names = f"lake.{lake.schema}.wide", f"lake.{lake.schema}.names"
    lake.sql(
        f"CREATE TABLE {wide} USING iceberg TBLPROPERTIES ('write.metadata.metrics.default'='none') AS"
        " SELECT id, 1 AS v FROM range(1500)"
    )
    lake.sql(f"CREATE TABLE {names} USING iceberg AS SELECT id, concat('n', id) AS name FROM range(1500)")
    lake.model(
        "by_name", f"select n.name, median(w.v) as middle from {wide} w join {names} n on w.id = n.id group by n.name"
    )
    lake.run("--select", "by_name")
    lake.sql(f"UPDATE {wide} SET v = 2 WHERE id = 7")
    few = lake.run("--select", "by_name")["by_name"]
    lake.sql(f"UPDATE {wide} SET v = 3")
    many = lake.run("--select", "by_name")["by_name"]

    lake.assert_equals_definition("by_name")
    assert (few["refresh_kind"], few["rows_affected"]) == ("overwrite", 1)
    assert many["refresh_kind"] == "full"
    assert "cheaper than an overwrite of 100% of the rows by their keys (wide: " in many["refresh_reason"]


@pytest.mark.long
def test_a_seed_that_is_loaded_again(lake: LakeProject) -> None:
    """The view outputs the key of the seed, so column bounds follow it; all its files are new at every load."""
    (lake.folder / "seeds").mkdir()
    seed = lake.folder / "seeds" / "shops.csv"
    seed.write_text("shop,city\n1,Ulm\n2,Bern\n3,Graz\n")
    sales = f"lake.{lake.schema}.sales"
    lake.sql(
        f"CREATE TABLE {sales} USING iceberg PARTITIONED BY (day) AS"
        " SELECT id % 3 + 1 AS shop, id AS v, id % 2 AS day FROM range(30)"
    )
    lake.model(
        "by_shop",
        f"select s.shop, s.city, sum(v) as total from {{{{ ref('shops') }}}} s join {sales} using (shop) group by 1, 2",
    )
    lake.model("copied", "select shop, city from {{ ref('shops') }}", materialized="table")
    lake.model(
        "of_copied", f"select c.city, count(*) as n from {{{{ ref('copied') }}}} c join {sales} using (shop) group by 1"
    )
    kinds = []
    for text in ("", "", "4,Linz\n"):
        seed.write_text(seed.read_text() + text)
        assert lake.dbt("seed", "--quiet").success
        found = lake.run("--select", "by_shop", "copied", "of_copied")
        lake.assert_equals_definition("by_shop", "of_copied")
        kinds.append((found["by_shop"]["refresh_kind"], found["of_copied"]["refresh_kind"]))
    lake.sql(f"INSERT INTO {sales} VALUES (4, 1, 1)")
    found = lake.run("--select", "by_shop", "of_copied")
    lake.assert_equals_definition("by_shop", "of_copied")
    assert kinds == [("full", "full"), ("none", "none"), ("none", "none")]
    assert (found["by_shop"]["refresh_kind"], found["of_copied"]["refresh_kind"]) == ("merge", "merge")


def test_one_row_that_many_rows_refer_to(lake: LakeProject, tables: dict[str, str]) -> None:
    """Of all columns that the changed rows answer, the one with the fewest values names the region."""
    facts, dims = f"lake.{lake.schema}.facts", f"lake.{lake.schema}.dims"
    lake.sql(f"CREATE TABLE {facts} USING iceberg AS SELECT id, id % 3 AS dim, id * 2 AS amount FROM range(6000)")
    lake.sql(f"CREATE TABLE {dims} USING iceberg AS SELECT id, concat('d', id) AS name FROM range(3)")
    lake.model("enriched", f"select f.id, f.amount, d.id as dim, d.name from {facts} f join {dims} d on f.dim = d.id")
    lake.run("--select", "enriched")
    lake.sql(f"UPDATE {dims} SET name = 'other' WHERE id = 1")
    found = lake.run("--select", "enriched")["enriched"]
    lake.assert_equals_definition("enriched")
    assert (found["refresh_kind"], found["rows_affected"]) == ("overwrite", 2000)


def test_values_of_a_few_changed_rows_narrow_what_is_read_of_large_tables(
    lake: LakeProject, tables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One renamed row of a small table: facts are partitioned by its key, and only its partition is read of them."""
    monkeypatch.setattr(cost, "MANY_ROWS", 1000)
    monkeypatch.setattr(cost, "FEW_ROWS", 1000)
    facts, dims = f"lake.{lake.schema}.by_dim", f"lake.{lake.schema}.dims_beside"
    lake.sql(
        f"CREATE TABLE {facts} USING iceberg PARTITIONED BY (dim) AS SELECT id, id % 40 AS dim, id * 2 AS amount"
        " FROM range(40000)"
    )
    lake.sql(f"CREATE TABLE {dims} USING iceberg AS SELECT id, concat('d', id % 5) AS name FROM range(40)")
    lake.model(
        "by_name", f"select d.name, sum(f.amount) as total from {facts} f join {dims} d on f.dim = d.id group by d.name"
    )
    lake.run("--select", "by_name")
    found = []
    for statement in (
        f"UPDATE {dims} SET name = 'other' WHERE id = 7",
        f"UPDATE {dims} SET name = NULL WHERE id = 8",
        f"INSERT OVERWRITE {dims} SELECT * FROM {dims}",
        f"DELETE FROM {dims} WHERE id = 7",
        f"INSERT INTO {dims} VALUES (7, 'again'), (NULL, 'nobody')",
    ):
        lake.sql(statement)
        before = last_execution(SparkSession.active())
        kind = lake.run("--select", "by_name")["by_name"]["refresh_kind"]
        found.append((kind, scanned_since(SparkSession.active(), before).files))
        lake.assert_equals_definition("by_name")
    kinds, files = zip(*found, strict=True)
    assert kinds == ("merge", "merge", "none", "merge", "merge")
    # One scan of all facts takes 40 files.
    assert max(files) < 40, files


def test_new_rows_reach_their_own_keys_and_not_all_between_them(
    lake: LakeProject, tables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bounds of two new rows are those of the whole table; a NULL key and a batch of too many keys are among them."""
    monkeypatch.setattr(cost, "FEW_ROWS", 1000)
    visits = f"lake.{lake.schema}.visits"
    lake.sql(f"CREATE TABLE {visits} (id bigint, guest string, day date) USING iceberg PARTITIONED BY (day)")
    lake.sql(f"INSERT INTO {visits} SELECT id, concat('g', id % 1500), date'2024-01-01' FROM range(6000)")
    window = "row_number() over (partition by guest order by id)"
    lake.model("numbered", f"select id, guest, {window} as visit from {visits}", partition_by=[])
    lake.run("--select", "numbered")
    rows = []
    for values in (
        "VALUES (6000, 'g0', date'2024-01-02'), (6001, 'g999', date'2024-01-02')",
        "VALUES (6002, NULL, date'2024-01-02')",
        "VALUES (6003, NULL, date'2024-01-02'), (6004, 'it''s', date'2024-01-03')",
        "SELECT 7000 + id, concat('g', id), date'2024-01-04' FROM range(1200)",
    ):
        lake.sql(f"INSERT INTO {visits} {values}")
        found = lake.run("--select", "numbered")["numbered"]
        rows.append((found["refresh_kind"], found["rows_affected"]))
        lake.assert_equals_definition("numbered")
    assert rows == [("overwrite", 5 + 5), ("overwrite", 1), ("overwrite", 2 + 1), ("full", 7205)]
    full = "cheaper than an overwrite of 80% of the rows by their keys (visits: 1200 rows appended)"
    assert found["refresh_reason"] == full


@pytest.mark.parametrize("having", ["", pytest.param(" having count(*) > 0", marks=pytest.mark.long)])
def test_keys_of_all_stored_groups_are_a_full_refresh(
    lake: LakeProject, monkeypatch: pytest.MonkeyPatch, having: str
) -> None:
    """A text from which something is left out may name groups that are not there; here all of them are."""
    monkeypatch.setattr(cost, "FEW_ROWS", 1000)
    orders, items = f"lake.{lake.schema}.ranked_orders", f"lake.{lake.schema}.their_items"
    lake.sql(f"CREATE OR REPLACE TABLE {orders} USING iceberg AS SELECT id, id % 3 AS priority FROM range(6000)")
    lake.sql(f"CREATE OR REPLACE TABLE {items} USING iceberg AS SELECT id AS order_id FROM range(3000)")
    exists = f"exists (select * from {items} i where i.order_id = o.id)"
    lake.model(
        "by_priority",
        f"select priority, median(id) as m from {orders} o where {exists} group by priority{having}",
    )
    lake.run("--select", "by_priority", "--full-refresh")
    lake.sql(f"INSERT INTO {items} VALUES (3000)")
    found = lake.run("--select", "by_priority")["by_priority"]
    assert (found["refresh_kind"], found["rows_affected"]) == ("overwrite", 1)
    lake.sql(f"INSERT INTO {items} VALUES (3001), (3002), (3003)")
    found = lake.run("--select", "by_priority")["by_priority"]
    reason = "cheaper than an overwrite of 100% of the rows by their keys (their_items: 3 rows appended)"
    assert (found["refresh_kind"], found["refresh_reason"]) == ("full", reason)
    lake.assert_equals_definition("by_priority")


@pytest.mark.long
def test_scattered_keys_of_a_large_view(
    lake: LakeProject, tables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few rows of every file go: they are deleted by delete files, until there are many of these."""
    monkeypatch.setattr(write, "MANY_ROWS", 1000)
    facts, dims = f"lake.{lake.schema}.many_facts", f"lake.{lake.schema}.few_dims"
    lake.sql(
        f"CREATE TABLE {facts} USING iceberg PARTITIONED BY (day) AS SELECT id, id % 300 AS dim, id % 7 AS day"
        " FROM range(6000)"
    )
    lake.sql(f"CREATE TABLE {dims} USING iceberg AS SELECT id, concat('d', id) AS name FROM range(300)")
    lake.model("scattered", f"select f.id, f.day, d.id as dim, d.name from {facts} f join {dims} d on f.dim = d.id")
    lake.run("--select", "scattered")
    deletes, found = [], []
    for number, most in enumerate((50, 50, 1)):
        monkeypatch.setattr(write, "MOST_DELETE_FILES", most)
        lake.sql(f"UPDATE {dims} SET name = 'other {number}' WHERE id = {number}")
        found.append(lake.run("--select", "scattered")["scattered"])
        lake.assert_equals_definition("scattered")
        summary = lake.sql(
            f"SELECT summary FROM {found[-1]['storage_table']}.snapshots WHERE snapshot_id ="
            f" {found[-1]['storage_snapshot_id']}"
        )[0][0]
        deletes.append(int(summary["total-position-deletes"]))
    assert [r["refresh_kind"] for r in found] == ["overwrite"] * 3
    assert deletes[0] > 0 and deletes[1] > deletes[0] and deletes[2] <= deletes[1], deletes
    assert [r["rows_affected"] for r in found] == [20] * 3


@contextmanager
def questions_over_changed_rows() -> Iterator[list[str]]:
    """Collect the questions that are the definition over the changed rows of a table."""
    asked: list[str] = []
    real = QuestionTexts.over_changed_rows

    def watched(texts: QuestionTexts, index: int, *, that_pass: bool = False) -> str | None:
        question = real(texts, index, that_pass=that_pass)
        if question is not None:
            asked.append(question)
        return question

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(QuestionTexts, "over_changed_rows", watched)
        yield asked


def test_questions_over_tables_that_a_where_joins_multiply_none(lake: LakeProject, tables: dict[str, str]) -> None:
    """A hint at the changed rows would keep Spark from taking the tables before them in another order."""
    parts, shops, sold = (f"lake.{lake.schema}.{name}" for name in ("parts", "shops_of_parts", "sold"))
    for table in (parts, shops):
        lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT id, concat('n', id % 5) AS name FROM range(500)")
    lake.sql(
        f"CREATE TABLE {sold} USING iceberg PARTITIONED BY (day) TBLPROPERTIES ('write.update.mode'='copy-on-write') AS"
        " SELECT id, id % 500 AS part, id % 7 AS shop, id % 10 AS day FROM range(1000)"
    )
    lake.model(
        "sold_by_name",
        f"select p.name, count(distinct s.id) as n from {parts} p, {shops} h, {sold} s where s.part = p.id"
        " and s.shop = h.id group by p.name",
    )
    lake.run("--select", "sold_by_name")
    lake.sql(f"UPDATE {sold} SET part = 3 WHERE id = 14")
    with questions_over_changed_rows() as asked:
        kind = lake.run("--select", "sold_by_name")["sold_by_name"]["refresh_kind"]
    lake.assert_equals_definition("sold_by_name")
    plans = [str(lake.sql(f"EXPLAIN {question}")[0][0]) for question in asked]
    assert kind == "overwrite" and plans
    assert not [plan for plan in plans if "NestedLoop" in plan or "CartesianProduct" in plan], plans


MANY_REWRITTEN = {
    "nested": "select p.name, x.day, x.total, x.n from (select s.part, s.day, sum(s.price) as total,"
    " count(distinct s.id) as n from {sold} s, {shops} h where s.shop = h.id and h.id in (1, 2, 3) and s.price > 3"
    " group by s.part, s.day) x join {parts} p on x.part = p.id",
    "by_cte": "with wanted as (select id from {shops} where id < 4) select s.part, count(distinct s.id) as n,"
    " max(s.price) as most from {sold} s join wanted w on s.shop = w.id where s.price > 3 group by s.part",
    "by_subquery": "select s.part, count(distinct s.id) as n from {sold} s where s.price > 3"
    " and s.part in (select id from {parts} where name <> 'n1') group by s.part",
    "preserved": "select `s`.part, count(distinct h.name) as n, min(s.price) as least from {sold} as `s` left join {shops} h"
    " on s.shop = h.id where s.price >= 0 group by s.part",
}


@pytest.mark.long
def test_few_of_many_rows_that_are_written_again_pass_a_where(lake: LakeProject) -> None:
    """A group comes, one goes, a row changes to -0.0, and one that passes no WHERE changes too."""
    names = {name: f"lake.{lake.schema}.{name}_rewritten" for name in ("sold", "shops", "parts")}
    sold = names["sold"]
    for name in ("shops", "parts"):
        lake.sql(f"CREATE TABLE {names[name]} USING iceberg AS SELECT id, concat('n', id % 5) AS name FROM range(500)")
    lake.sql(
        f"CREATE TABLE {sold} USING iceberg TBLPROPERTIES ('write.update.mode'='copy-on-write') AS SELECT"
        " /*+ REPARTITION(1) */ id, id % 400 AS part, id % 7 AS shop, id % 9 AS day, CAST(id % 100 AS double) AS price"
        " FROM range(25000)"
    )
    for model, sql in MANY_REWRITTEN.items():
        lake.model(model, sql.format(**names))
    lake.run("--select", *MANY_REWRITTEN)
    lake.sql(
        f"UPDATE {sold} SET part = CASE id WHEN 15 THEN 450 ELSE part END,"
        " price = CASE id WHEN 100 THEN -0.0D WHEN 1 THEN 2D WHEN 23 THEN 0D ELSE price END WHERE id IN (1, 15, 23, 100)"
    )
    with questions_over_changed_rows() as asked:
        found = lake.run("--select", *MANY_REWRITTEN)
    for model in MANY_REWRITTEN:
        lake.assert_equals_definition(model)
    assert {name: r["refresh_kind"] for name, r in found.items()} == dict.fromkeys(MANY_REWRITTEN, "overwrite")
    assert all(r["rows_affected"] < 50 for r in found.values()), found
    assert len(asked) == len(MANY_REWRITTEN)
    assert all("HAVING sum(`s`.icebergmv_sign) <> 0" in question for question in asked), asked
