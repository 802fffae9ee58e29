"""A change that a join with a filtered table keeps nothing of, or little: a star of sales and months."""

from __future__ import annotations

import pytest

from integration.support.following import Change, assert_follows, built
from integration.support.lake import LakeProject
from integration.support.said import recorded

TABLES = {
    "sales": "PARTITIONED BY (month_key) TBLPROPERTIES ('write.update.mode'='copy-on-write') AS "
    "SELECT cast(id % 24 as int) AS month_key, id, cast(id % 500 as int) AS customer, cast(id % 97 as int) AS amount "
    "FROM range(240000)",
    "months": "AS SELECT cast(id as int) AS month_key, cast(2023 + id div 12 as int) AS year, "
    "cast(id % 12 + 1 as int) AS month FROM range(24)",
    "notes": "AS SELECT cast(id as int) AS customer, concat('n', id) AS note FROM range(10)",
}
OF_2023 = {
    "inner": "select s.customer, median(s.amount) as m from {sales} s join {months} m on s.month_key = m.month_key "
    "where m.year = 2023 and m.month > 2 group by s.customer",
    "outer": "select s.customer, count(distinct s.amount) as n from {sales} s left join {months} m "
    "on s.month_key = m.month_key where year < 2024 group by s.customer",
    "above": "with c as (select s.customer, m.year, count(distinct s.amount) as n from {sales} s "
    "join {months} m using (month_key) group by s.customer, m.year) "
    "select x.customer, x.n, y.n as same from c x join c y on x.customer = y.customer and y.year = 2023 "
    "where x.year = 2023",
    "ranked": "select customer, rank() over (order by total) as place from (select s.customer, sum(s.amount) as total "
    "from {sales} s, {months} m where s.month_key = m.month_key and m.year = 2023 group by s.customer)",
}
OTHERS = {
    "of_2024": "select s.customer, median(s.amount) as m from {sales} s join {months} m on s.month_key = m.month_key "
    "where m.year = 2024 group by s.customer",
    "of_both": "select s.customer, m.year, median(s.amount) as m from {sales} s join {months} m "
    "on s.month_key = m.month_key where m.month = 12 group by s.customer, m.year",
    "not_matched": "select s.customer, m.year, count(distinct s.amount) as n from {sales} s left join {months} m "
    "on s.month_key = m.month_key and m.year = 2023 group by s.customer, m.year",
    "noted": "select n.customer, n.note, x.n from {notes} n join (select s.customer, count(distinct s.id) as n "
    "from {sales} s join {months} m on s.month_key = m.month_key where m.year = 2023 group by s.customer) x "
    "on x.customer = n.customer where n.note <> 'n3'",
}
VIEWS = {**OF_2023, **OTHERS}
NONE = dict.fromkeys(OF_2023, "none")
IN_2024: list[Change] = [
    (["UPDATE {sales} SET amount = amount + 1 WHERE month_key IN (13, 14, 23)"], {**NONE, "noted": "none"}),
    (["INSERT INTO {sales} SELECT 20, id + 240000, id % 700, 1 FROM range(30000)"], {**NONE, "noted": "none"}),
    (["DELETE FROM {sales} WHERE month_key > 13 AND id % 3 = 1"], {**NONE, "noted": "none"}),
]
ANYWHERE: list[Change] = [
    (["UPDATE {sales} SET amount = 3 WHERE month_key IN (5, 6, 20)"], {}),
    (["UPDATE {sales} SET month_key = 7 WHERE month_key IN (15, 16)"], {}),
    (["UPDATE {sales} SET month_key = NULL WHERE month_key IN (17, 18)"], {}),
    (
        [
            "UPDATE {months} SET year = 2023 WHERE month_key = 20",
            "UPDATE {sales} SET amount = amount + 5 WHERE month_key IN (20, 21, 22)",
        ],
        {},
    ),
    (
        [
            "INSERT INTO {months} VALUES (NULL, 2023, 13)",
            "INSERT OVERWRITE {sales} SELECT * FROM {sales} WHERE id % 1000 <> 7",
        ],
        {},
    ),
]


@pytest.fixture(scope="module")
def star(lake: LakeProject) -> tuple[LakeProject, dict[str, str]]:
    return lake, built(lake, "star_", TABLES, VIEWS, VIEWS)


@pytest.mark.parametrize("change", [pytest.param(n, marks=[] if n == 1 else pytest.mark.long) for n in range(3)])
def test_what_a_filter_leaves_out_is_not_read(
    star: tuple[LakeProject, dict[str, str]], change: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, tables = star
    said = recorded(monkeypatch)
    found = assert_follows(lake, tables, IN_2024[change], VIEWS)
    for view in OF_2023:
        assert "no row of the view can be affected" in found[view]["refresh_reason"]
        statements = [sql.partition("*/")[2] for _, connection, sql in said if connection == f"model.p.{view}"]
        assert any("SELECT DISTINCT `m`.`month_key` FROM" in sql for sql in statements)
        read = [sql for sql in statements if tables["sales"].split(".")[-1] in sql and "DESCRIBE" not in sql]
        assert [sql for sql in read if "CREATE OR REPLACE VIEW" not in sql and "ALTER VIEW" not in sql] == []


@pytest.mark.parametrize("change", [pytest.param(n, marks=[] if n == 1 else pytest.mark.long) for n in range(5)])
def test_views_follow_what_filters_keep(star: tuple[LakeProject, dict[str, str]], change: int) -> None:
    assert_follows(*star, ANYWHERE[change], VIEWS)
