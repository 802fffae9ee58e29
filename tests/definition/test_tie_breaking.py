"""What windows are ordered by besides, so that rows tie no longer; and windows that stay as they are written."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import with_edits
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.definition.row_order.window_orders import MOST_COLUMNS
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from tests.support.analysis import analysed_in

_WIDE = [(f"c{n}", "int") for n in range(MOST_COLUMNS + 3)]
TABLES = {
    "t": [("id", "bigint"), ("d", "date"), ("region", "string"), ("x", "double"), ("m", "map<string,int>")],
    "u": [("id", "bigint"), ("v", "int"), ("a `b", "string"), ("xs", "array<int>"), ("ys", "array<float>")],
    "wide": _WIDE,
}


def analysed(sql: str) -> ViewDefinition:
    def columns_of(reference: TableReference) -> tuple[ColumnInfo, ...] | None:
        found = TABLES.get(reference.name)
        return None if found is None else tuple(ColumnInfo(name, type_, None) for name, type_ in found)

    return analysed_in(sql, "ns", columns_of, True)


SIGN = ", (`t`.`x` = 0 AND CAST(`t`.`x` AS STRING) = '-0.0')"
MORE = {
    "SELECT id, region, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t": [", `t`.`region`"],
    "SELECT id, x, row_number() OVER (PARTITION BY id ORDER BY d DESC NULLS LAST) AS n FROM t": [f", `t`.`x`{SIGN}"],
    "SELECT id, x FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY x) AS n FROM t) q WHERE n = 1": [SIGN],
    "SELECT id, row_number() OVER (PARTITION BY x ORDER BY id) AS n FROM t": [SIGN],
    "SELECT id, region, lag(d) OVER (PARTITION BY id ORDER BY d) AS p FROM t AS a": [", `a`.`region`"],
    "SELECT id, d, lead(d, 2) OVER (ORDER BY (id + 1)) AS p FROM t": [", `t`.`id`, `t`.`d`"],
    "SELECT id, ntile(4) OVER (ORDER BY d) AS p FROM t": [", `t`.`id`"],
    "SELECT id, d, count(*) OVER (PARTITION BY id ORDER BY region ROWS 2 PRECEDING) AS c FROM t": [", `t`.`d`"],
    "SELECT id, d, row_number() OVER (ORDER BY region ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c FROM t": [
        ", `t`.`id`, `t`.`d`"
    ],
    # No column that nothing reads.
    "SELECT id FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t) q WHERE n = 1": [],
    "SELECT region FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t) q WHERE n = 1": [
        ", `t`.`region`"
    ],
    "SELECT id, region FROM t QUALIFY row_number() OVER (PARTITION BY id ORDER BY d) = 1": [", `t`.`region`"],
    "SELECT id, xs, row_number() OVER (PARTITION BY id ORDER BY v) AS n FROM u": [", `u`.`xs`"],
    "SELECT id, `a ``b`, row_number() OVER (PARTITION BY id ORDER BY v) AS n FROM u": [", `u`.`a ``b`"],
    "SELECT t.id, v, row_number() OVER (PARTITION BY t.id ORDER BY d) AS n FROM t JOIN u ON t.id = u.id": [
        ", `u`.`id`, `u`.`v`"
    ],
    "SELECT id, v, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t JOIN u USING (id)": [
        ", `t`.`id`, `u`.`id`, `u`.`v`"
    ],
    "SELECT t.id, v, row_number() OVER (PARTITION BY t.id ORDER BY d) AS n FROM t FULL JOIN u ON t.id = u.id": [
        ", `u`.`id`, `u`.`v`"
    ],
    "SELECT id, v, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t FULL JOIN u USING (id)": [
        ", `t`.`id`, `u`.`id`, `u`.`v`"
    ],
    "SELECT id, d, count(DISTINCT d) FILTER (WHERE id > 1) OVER (ORDER BY region ROWS 2 PRECEDING) AS c FROM t": [
        ", `t`.`id`, `t`.`d`"
    ],
    "SELECT id, d, first_value(d) IGNORE NULLS OVER (ORDER BY region ROWS 2 PRECEDING) AS c FROM t": [
        ", `t`.`id`, `t`.`d`"
    ],
    "SELECT id, k, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM "
    "(SELECT id, d, upper(region) AS k FROM t) q": [", `q`.`k`"],
    "WITH l AS (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t) p WHERE n = 1) "
    "SELECT a.id, b.region FROM l a JOIN l b ON a.d = b.d": [", `t`.`region`"],
    "SELECT id, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t UNION ALL "
    "SELECT id, row_number() OVER (PARTITION BY id ORDER BY v) AS n FROM u": [],
    "SELECT id, row_number() OVER (ORDER BY d) AS n, lag(id) OVER (PARTITION BY id ORDER BY region) AS p FROM t": [
        ", `t`.`id`, `t`.`region`",
        ", `t`.`d`",
    ],
    "SELECT id, region FROM (SELECT id, region, row_number() OVER (PARTITION BY region ORDER BY n) AS o FROM "
    "(SELECT id, region, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t) p) q WHERE o = 1": [
        ", `t`.`region`"
    ],
}

AS_WRITTEN = [
    # Rows that tie belong together.
    "SELECT id, region, rank() OVER (PARTITION BY id ORDER BY d) AS n FROM t",
    "SELECT id, region, dense_rank() OVER (PARTITION BY id ORDER BY d) AS n FROM t",
    "SELECT id, region, percent_rank() OVER (PARTITION BY id ORDER BY d) AS n FROM t",
    "SELECT id, region, cume_dist() OVER (PARTITION BY id ORDER BY d) AS n FROM t",
    "SELECT id, region, count(*) OVER (PARTITION BY id ORDER BY d) AS n FROM t",
    "SELECT id, region, last_value(d) OVER (PARTITION BY id ORDER BY d) AS n FROM t",
    "SELECT id, region, nth_value(d, 2) OVER (PARTITION BY id ORDER BY d) AS n FROM t",
    "SELECT id, region, first_value(d) IGNORE NULLS OVER (PARTITION BY id ORDER BY d) AS n FROM t",
    "SELECT id, region, lag(d) IGNORE NULLS OVER (PARTITION BY id ORDER BY d) AS n FROM t",
    "SELECT id, region, sum(id) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM t",
    "SELECT id, region, rank() OVER (PARTITION BY id ORDER BY d ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n "
    "FROM t",
    "SELECT id, region, dense_rank() OVER (PARTITION BY id ORDER BY d ROWS UNBOUNDED PRECEDING) AS n FROM t",
    "SELECT id, region, percent_rank() OVER (ORDER BY d ROWS UNBOUNDED PRECEDING) AS n FROM t",
    "SELECT id, region, cume_dist() OVER (ORDER BY d ROWS UNBOUNDED PRECEDING) AS n FROM t",
    "SELECT id, region, my_rank(d) OVER (ORDER BY d ROWS UNBOUNDED PRECEDING) AS n FROM t",
    # Without an order, or with that of a window that others may use.
    "SELECT id, region, row_number() OVER (PARTITION BY id) AS n FROM t",
    "SELECT id, region, row_number() OVER w AS n FROM t WINDOW w AS (PARTITION BY id ORDER BY d)",
    # Values that cannot be ordered, or of which equal ones are not one.
    "SELECT id, m, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t",
    "SELECT id, ys, row_number() OVER (PARTITION BY id ORDER BY v) AS n FROM u",
    "SELECT *, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t",
    "SELECT id, upper(region COLLATE UTF8_LCASE) AS r, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t",
    # A float that is not that of a table: a sum is rounded on the way.
    "SELECT id, s, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM "
    "(SELECT id, d, sum(x) AS s FROM t GROUP BY id, d) q",
    # Rows whose columns are not known.
    "SELECT id, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM elsewhere",
    "SELECT id, k, row_number() OVER (PARTITION BY id ORDER BY v) AS n FROM u LATERAL VIEW explode(xs) e AS k",
    "SELECT id, explode(xs) AS k, row_number() OVER (PARTITION BY id ORDER BY v) AS n FROM u",
    "SELECT id, k, row_number() OVER (PARTITION BY id ORDER BY v) AS n FROM (SELECT id, v, f(id) AS k FROM u) q",
    # Rows that are made behind the columns of FROM.
    "SELECT id, count(*) AS c, row_number() OVER (PARTITION BY id ORDER BY region) AS n FROM t GROUP BY id, region",
    f"SELECT *, row_number() OVER (PARTITION BY c0 ORDER BY c1) AS n FROM {'wide'}",
    # A value that depends on the order of rows is read.
    "SELECT id, l, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM "
    "(SELECT id, d, any_value(region) AS l FROM t GROUP BY id, d) q",
]


@pytest.mark.parametrize("sql", MORE)
def test_what_windows_are_ordered_by_besides(sql: str) -> None:
    definition = analysed(sql)
    assert [edit.text for edit in definition.ties] == MORE[sql]
    without = with_edits(sql, definition.ties)
    assert isinstance(parse(without), ParsedSql)
    again = analysed(without)
    assert analysed(with_edits(without, again.ties)).ties == ()
    assert sum("OVER" in part for part in without.split("ORDER BY")) == sum("OVER" in p for p in sql.split("ORDER BY"))


@pytest.mark.parametrize("sql", AS_WRITTEN)
def test_windows_that_stay_as_they_are(sql: str) -> None:
    assert analysed(sql).ties == ()


def test_the_place_is_the_end_of_the_order() -> None:
    sql = (
        "SELECT id, region, row_number() OVER (PARTITION BY id ORDER BY coalesce(d, DATE '2024-01-01') DESC /* ) */ ) "
        "AS n, count(*) OVER (ORDER BY id ROWS 1 PRECEDING) AS c FROM t"
    )
    without = with_edits(sql, analysed(sql).ties)
    assert "DESC, `t`.`d`, `t`.`region` /* ) */ )" in without
    assert "ORDER BY id, `t`.`d`, `t`.`region` ROWS 1 PRECEDING" in without
    assert analysed(without).ties == ()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT region, count(*) AS c FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t) q "
        "WHERE n = 1 GROUP BY region",
        "SELECT a.region, sum(u.v) AS s FROM u LEFT JOIN (SELECT *, row_number() OVER (PARTITION BY id ORDER BY d) "
        "AS n FROM t) a ON a.id = u.id AND a.n = 1 GROUP BY a.region",
    ],
)
def test_groups_of_what_a_window_chooses_are_merged_by_their_rows(sql: str) -> None:
    written = analysed(sql)
    without = analysed(with_edits(sql, written.ties))
    assert written.merging is None or written.merging.only_adds
    assert without.merging is not None
    assert without.merging.below is not None
    assert not without.merging.only_adds


def test_a_column_that_is_listed_later_is_compared_too() -> None:
    sql = "SELECT id FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY d) AS n FROM t) q WHERE n = 1"
    assert analysed(sql).ties == ()
    assert [e.text for e in analysed(sql.replace("SELECT id", "SELECT id, region", 1)).ties] == [", `t`.`region`"]
