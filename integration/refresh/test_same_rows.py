"""A refresh that computes the rows that are stored leaves these where they are; one that differs anywhere does not."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.refresh import writing
from integration.support.following import assert_follows, built
from integration.support.lake import LakeProject
from integration.support.said import recorded

SAME = "every row was there already"
COMPARES = "HAVING sum(icebergmv_sign) <> 0 LIMIT 1"
TABLES = {
    "sales": "PARTITIONED BY (day) AS SELECT * FROM VALUES (1, date'2024-01-01', 'a', 10, 0D),"
    " (2, date'2024-01-01', 'a', 20, 0D), (3, date'2024-01-01', 'c', 30, -1D), (4, date'2024-01-02', 'b', 5, 2D),"
    " (5, date'2024-01-03', 'c', 90, cast('NaN' as double)), (6, null, null, null, null) AS s(id, day, region, v, f)"
}
VIEWS = {
    "newest": "select distinct region, max_by(v, id) as last, count(*) as n from {sales} group by region",
    "by_day": "select day, sum(v) as total, count(*) as n from {sales} group by day",
    "listed": "select day, region, f from {sales}",
    "lists": "select day, sort_array(collect_set(region)) as regions from {sales} group by day",
    "sold": "select region, bool_or(v > 8) as well, count(*) as n from {sales} group by region",
    "in_a_table": "select distinct region, max_by(v, id) as last from {sales} group by region",
    "above": "select n, count(*) as regions, max(last) as most from {{{{ ref('newest') }}}} group by n",
}


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    names = {"sales": f"lake.{lake.schema}.same_sales"}
    lake.model("in_a_table", VIEWS["in_a_table"].format(**names), layout="table")
    lake.sql(f"CREATE TABLE {names['sales']} USING iceberg {TABLES['sales']}")
    for view in ("newest", "by_day", "listed", "lists", "above"):
        lake.model(view, VIEWS[view].format(**names))
    lake.model("sold", VIEWS["sold"].format(**names), partition_by=[])
    lake.run("--select", *VIEWS)
    return names


def pinned(lake: LakeProject, *views: str) -> dict[str, str]:
    """Return the snapshots of the storage tables that views read."""
    return {view: lake.state(view)["icebergmv.storage-snapshot-id"] for view in views}


def test_rows_that_were_there_stay(tables: dict[str, str], lake: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of id 3 is in no result but that of its day, where id 1 makes up for it."""
    before, said = pinned(lake, "newest", "by_day", "sold", "above"), recorded(monkeypatch)
    change = ["UPDATE {sales} SET v = CASE id WHEN 3 THEN 31 ELSE 9 END WHERE id IN (1, 3)"]
    found = assert_follows(lake, tables, (change, {}), VIEWS)
    for view, kind in {"newest": "full", "by_day": "overwrite", "sold": "overwrite", "in_a_table": "full"}.items():
        response = found[view]
        assert (response["refresh_kind"], response["rows_affected"]) == (kind, 0), (view, response)
        assert response["refresh_reason"].endswith(SAME), (view, response["refresh_reason"])
        assert response["bytes_written"] == 0, view
    assert found["above"]["refresh_kind"] == "none"
    assert found["above"]["refresh_reason"].startswith("nothing changed since")
    assert pinned(lake, "newest", "by_day", "sold", "above") == before
    compared = [sql for _, model, sql in said if model == "model.p.sold" and COMPARES in sql]
    assert [sql.count("WHERE (`region` IN ('a', 'c'))") for sql in compared] == [2], "no more than was replaced is read"
    assert {r["refresh_kind"] for r in lake.run("--select", *VIEWS).values()} == {"none"}


DIFFERENCES = {
    "a value between others": ("UPDATE {sales} SET v = 25 WHERE id = 2", ["newest", "by_day"]),
    "a value for another one of the same bounds": ("UPDATE {sales} SET v = 8 WHERE region = 'c'", ["newest", "sold"]),
    "other numbers of the same rows": (
        "UPDATE {sales} SET region = 'c', f = -1D WHERE id = 2",
        ["newest", "listed", "sold"],
    ),
    "the other zero": ("UPDATE {sales} SET f = -0D WHERE id = 1", ["listed"]),
    "NULL for another value": ("UPDATE {sales} SET region = null WHERE id = 4", ["newest", "listed", "lists", "sold"]),
    "a list of others": ("UPDATE {sales} SET region = 'aa' WHERE id = 1", ["newest", "listed", "lists", "sold"]),
    "a day that is gone": ("DELETE FROM {sales} WHERE day = date'2024-01-02'", ["newest", "by_day", "listed", "lists"]),
}


@pytest.mark.parametrize("change", DIFFERENCES)
def test_rows_of_which_one_is_another_are_published(change: str, tables: dict[str, str], lake: LakeProject) -> None:
    statement, views = DIFFERENCES[change]
    found = assert_follows(lake, tables, ([statement], {}), views)
    for view in views:
        assert found[view]["refresh_kind"] != "none", view
        assert SAME not in found[view]["refresh_reason"], view


def test_a_rebuild_is_published_whatever_rows_there_were(tables: dict[str, str], lake: LakeProject) -> None:
    before = pinned(lake, "newest", "by_day")
    found = lake.run("--full-refresh", "--select", "newest", "by_day")
    assert all(response["rows_affected"] > 0 for response in found.values())
    assert not set(before.values()) & set(pinned(lake, "newest", "by_day").values())


def test_snapshots_that_are_expired_meanwhile_are_no_proof(lake: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """DELETE and INSERT make two snapshots; without the first one nothing is known of the files between."""
    rows = "PARTITIONED BY (day) AS SELECT * FROM VALUES (1, 'a', 10), (1, 'b', 20), (2, 'b', 5) AS t(day, region, v)"
    sold = f"lake.{lake.schema}.expired_sold"
    lake.sql(f"CREATE TABLE {sold} USING iceberg {rows}")
    lake.model("expired", f"select day, region, v from {sold}", partition_by=["region"])
    lake.run("--select", "expired")
    lake.sql(f"UPDATE {sold} SET v = 15 WHERE v = 20")
    storage = lake.state("expired")["icebergmv.storage-table"]

    meanwhile = [f"CALL lake.system.expire_snapshots('{storage}', TIMESTAMP '2099-01-01', retain_last => 1)"]
    monkeypatch.setattr(writing, "check_session", lambda *_: [lake.sql(meanwhile.pop()) for _ in meanwhile[:]])
    assert lake.run("--select", "expired")["expired"]["refresh_kind"] == "overwrite"
    assert not meanwhile
    lake.assert_equals_definition("expired")


def test_what_always_differs_is_compared_less_and_less(lake: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """The total of the day in the middle is never a bound of the column, so that metrics do not show that it changed."""
    rows = "select * from values (1, 0), (2, 5), (3, 9) as t(k, v)"
    names = built(
        lake,
        "vain_",
        {"sums": f"AS {rows}"},
        {"vain": "select distinct k, max_by(v, v) as v from {sums} group by k"},
        ["vain"],
    )
    said, compared = recorded(monkeypatch), []
    for value in (6, 7, 6, 7, 6, 7):
        lake.sql(f"UPDATE {names['sums']} SET v = {value} WHERE k = 2")
        said.clear()
        assert lake.run("--select", "vain")["vain"]["rows_affected"] == 3
        lake.assert_equals_definition("vain")
        compared.append(any(COMPARES in sql for _, model, sql in said if model == "model.p.vain"))
    assert compared == [True, True, False, True, False, False]
