"""Clock functions in columns that nothing reads, or that say when their row was written."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.clock.clock import at_clock
from dbt.adapters.icebergmv.maintenance.definition.clock.clock_columns import listing, written_at_items
from dbt.adapters.icebergmv.maintenance.definition.definition import at_moment
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from tests.support.rule_tables import analysed, columns_of

NOW = {"date": "2026-11-22", "timestamp": "2026-11-22 10:00:00Z", "timestamp_ntz": "2026-11-22 10:00:00"}
LATER = {"date": "2026-11-23", "timestamp": "2026-11-23 10:00:00Z", "timestamp_ntz": "2026-11-23 10:00:00"}
NAMES = ("loaded_at", "loaded_on")

OF_NO_ROW = {
    "SELECT id, current_timestamp() AS loaded_at FROM t": "loaded_at",
    "SELECT id, current_timestamp AS Loaded_At, date_format(now(), 'yyyy') AS year FROM t": None,
    "SELECT *, CAST(current_date AS string) AS loaded_on, now() AS loaded_at FROM t": "loaded_at loaded_on",
    "WITH final AS (SELECT id, 'run' AS by, now() AS loaded_at FROM t) SELECT * FROM final": "loaded_at",
    "SELECT region, sum(v) AS s, current_timestamp() AS loaded_at FROM t GROUP BY region": "loaded_at",
    # The view is full at every run, unless the model says that the function is one of one row.
    "SELECT id, my_function(now()) AS loaded_at FROM t": "loaded_at",
    # Nothing reads it.
    "WITH x AS (SELECT id, d, current_timestamp() AS seen FROM t) SELECT id, d FROM x": "",
    "SELECT id FROM (SELECT *, now() AS loaded_at FROM t) x": "",
    "SELECT trunc(d, 'MM') AS m, sum(v) AS s, now() AS loaded_at FROM t GROUP BY trunc(d, 'MM')": "loaded_at",
    # Rows are compared by it, without its name.
    "SELECT region, now() AS loaded_at, sum(v) AS s FROM t GROUP BY ALL": None,
    "SELECT region, now() AS loaded_at, sum(v) AS s FROM t GROUP BY 1, 2": None,
    "SELECT region, v, now() AS loaded_at, count(*) AS c FROM t GROUP BY region, CUBE (v, 3)": None,
    "SELECT DISTINCT region, now() AS loaded_at FROM t": None,
    "WITH f AS (SELECT region, now() AS loaded_at FROM t) SELECT DISTINCT * FROM f": None,
    "WITH f AS (SELECT region, now() AS loaded_at FROM t) SELECT * FROM f GROUP BY ALL": None,
    # It makes rows.
    "SELECT id, explode(IF(current_date > DATE '2026-11-22', array(1), array())) AS loaded_at FROM t": None,
    "SELECT id, explode(array(now())) AS loaded_at FROM t": None,
    # It is more than the clock, or is read.
    "SELECT id, greatest(ts, current_timestamp()) AS loaded_at FROM t": None,
    "SELECT id, max(now()) AS loaded_at FROM t GROUP BY id": None,
    "SELECT id, now() AS loaded_at, date(loaded_at) AS day FROM t": None,
    "SELECT id, now() AS seen_at FROM t": None,
    "SELECT id, loaded_at FROM (SELECT id, now() AS loaded_at FROM t) x": None,
    "SELECT id, now() AS loaded_at FROM t UNION ALL SELECT id, now() AS loaded_at FROM u": None,
    "WITH x AS (SELECT id, now() AS seen FROM t) SELECT id FROM x WHERE seen > '2024-01-01'": None,
    "SELECT id, (SELECT max(w) FROM u WHERE d < current_date) AS loaded_at FROM t": None,
}


@pytest.mark.parametrize("sql", OF_NO_ROW)
def test_which_clocks_no_row_depends_on(sql: str) -> None:
    found, wanted = at_clock(sql, NOW, [()], NAMES), OF_NO_ROW[sql]
    assert found is not None
    assert (not found.values) is (wanted is not None)
    assert wanted is None or (found.written_at, found.followed) == (frozenset(wanted.split()), found.sql)


def test_others_are_followed_still() -> None:
    sql = "SELECT id, now() AS loaded_at FROM t WHERE d >= current_date - 30"
    found = at_clock(sql, NOW, [()], NAMES)
    assert found is not None and found.values == {"date": "2026-11-22"}
    assert (
        found.followed == "SELECT id, TIMESTAMP '2026-11-22 10:00:00Z' AS loaded_at FROM t WHERE d >= current_date - 30"
    )
    definition = at_moment(analysed(sql), columns_of, LATER, NAMES)
    assert not definition.full_when_clock_moves and definition.written_at == {"loaded_at"}
    (asked,) = definition.asked_since(NOW) or ()
    assert "TIMESTAMP '2026-11-23 10:00:00Z' AS loaded_at" in asked.sql
    assert all("loaded_at" not in reach.columns for reach in asked.reach.values())


def test_what_no_row_depends_on_need_not_be_known() -> None:
    assert at_clock("SELECT id, now() AS loaded_at FROM t", {}, [()], NAMES) is not None
    assert at_clock("SELECT id, now() AS loaded_at FROM t WHERE d < current_date", {}, [()], NAMES) is None


def test_it_says_nothing_of_where_a_row_comes_from() -> None:
    definition = at_moment(analysed("SELECT region, now() AS loaded_at FROM t"), columns_of, NOW, NAMES)
    column = (definition.columns or ())[1]
    assert (column.tracks, column.answered) == (frozenset(), frozenset())


def test_the_list_of_a_view() -> None:
    parsed = parse("WITH a AS (SELECT 1 AS x FROM t), b AS (SELECT * FROM a) SELECT * FROM b")
    assert isinstance(parsed, ParsedSql)
    select = listing(parsed.tree)
    assert select is not None and select.expressions[0].alias == "x"
    assert written_at_items(parsed, ["x"], ()).keys() == {"x"}
    assert written_at_items(parsed, (), ()) == {}
