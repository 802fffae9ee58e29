"""Which values that depend on the order of rows are those of groups, each shown in one row that nothing else reads."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.definition import at_moment
from dbt.adapters.icebergmv.maintenance.definition.row_order.shown_values import are_shown_alone
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import FUNCTIONS
from tests.support.bases import analysed, columns_of

ARGUMENTS = {
    "max_by": "v, id",
    "min_by": "v, id",
    "percentile_approx": "v, 0.5",
    "approx_percentile": "v, 0.5",
    "histogram_numeric": "v, 3",
}
ORDER_DEPENDENT = [name for name, function in FUNCTIONS.items() if function.order_dependent and function.aggregate]
LAST = "SELECT region, max_by(v, ts) AS last FROM t GROUP BY region"


def shown_alone(sql: str) -> bool:
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    return are_shown_alone(parsed)


@pytest.mark.parametrize("name", ORDER_DEPENDENT)
def test_every_such_function_is_known_in_the_tree(name: str) -> None:
    call = f"{name}({ARGUMENTS.get(name, 'region')})"
    assert shown_alone(f"SELECT region, {call} AS x FROM t GROUP BY region")
    assert not shown_alone(f"SELECT region, {call} OVER (PARTITION BY region) AS x FROM t")


@pytest.mark.parametrize(
    "sql",
    [
        LAST,
        "SELECT max_by(v, ts) AS last, count(*) AS n FROM t",
        "SELECT region, last(v) FILTER (WHERE v > 0) AS last FROM t JOIN u USING (id) GROUP BY ALL HAVING min(v) > 1",
        "SELECT d, concat_ws(',', sort_array(collect_set(region))) AS xs, first(v) IGNORE NULLS AS f FROM t GROUP BY 1",
        f"WITH a AS (SELECT * FROM t), final AS ({LAST}) SELECT * FROM final",
        f"SELECT q.region AS r, coalesce(last, 0) + 1 AS x FROM ({LAST}) q WHERE last > 1 OR region IS NULL ORDER BY r",
        f"{LAST} UNION ALL SELECT 'all', max_by(v, ts) FROM t",
        f"WITH a AS ({LAST}), b AS (SELECT * FROM a WHERE last > 0) SELECT region, last FROM b",
    ],
)
def test_each_row_shows_one_group(sql: str) -> None:
    assert shown_alone(sql)
    definition = analysed(sql)
    assert definition.full_when_changed is None
    assert "depends on the order" in (definition.depends_on_order or "")


@pytest.mark.parametrize(
    "sql",
    [
        f"{LAST} LIMIT 3",
        f"SELECT last, count(*) AS n FROM ({LAST}) GROUP BY last",
        f"SELECT DISTINCT last FROM ({LAST})",
        f"SELECT a.region, b.last FROM t a JOIN ({LAST}) b ON a.region = b.region",
        f"SELECT region, last, rank() OVER (ORDER BY last) AS r FROM ({LAST})",
        "SELECT region, max_by(v, ts) AS last, rank() OVER (ORDER BY max_by(v, ts)) AS r FROM t GROUP BY region",
        "SELECT DISTINCT region, max_by(v, ts) AS last FROM t GROUP BY region, d",
        "SELECT region, count(*) AS n FROM t GROUP BY region HAVING max_by(v, ts) > 1",
        "SELECT region, max_by(v, ts) AS last FROM t WHERE v = (SELECT first(v) FROM t) GROUP BY region",
        f"WITH a AS ({LAST}) SELECT region, last FROM a WHERE last = (SELECT max(last) FROM a)",
        f"WITH a AS ({LAST}) SELECT region, last FROM a UNION ALL SELECT region, last FROM a",
        f"{LAST} UNION SELECT region, v FROM t",
        f"{LAST} UNION ALL SELECT region, v FROM (SELECT region, first(v) OVER (PARTITION BY d) AS v FROM t)",
        f"SELECT region, x FROM ({LAST}) LATERAL VIEW explode(array(last, 1)) e AS x",
        "SELECT region, explode(collect_list(v)) AS x FROM t GROUP BY region",
        f"SELECT region, (SELECT max(v) FROM t WHERE v = last) AS m FROM ({LAST})",
        f"WITH a AS ({LAST}) SELECT * FROM a TABLESAMPLE (10 PERCENT)",
        f"SELECT region, window(last, '2 days', '1 day') AS w FROM ({LAST})",
    ],
)
def test_other_rows_may_follow_from_the_value(sql: str) -> None:
    assert not shown_alone(sql)


@pytest.mark.parametrize("term", ["d >= current_date", "last <= current_date"])
def test_where_the_clock_is_read_a_change_is_full(term: str) -> None:
    """A term may compare it with the value, and which of several is found decides what the clock reaches."""
    sql = f"SELECT d, last FROM (SELECT d, max_by(d, ts) AS last FROM t GROUP BY d) q WHERE {term}"
    now = at_moment(analysed(sql), columns_of, {"date": "2024-01-01"})
    assert now.clock is not None
    assert now.full_when_changed == "max_by() depends on the order in which rows are read"


@pytest.mark.parametrize(
    "value",
    [
        "row_number() OVER (PARTITION BY region ORDER BY d)",
        "ntile(2) OVER (PARTITION BY region ORDER BY d)",
        "lag(id) OVER (PARTITION BY region ORDER BY d)",
        "first_value(id) IGNORE NULLS OVER (PARTITION BY region ORDER BY d)",
        "sum(v) OVER (PARTITION BY region ORDER BY d ROWS UNBOUNDED PRECEDING) + 1",
    ],
)
def test_no_region_names_what_ties_may_change(value: str) -> None:
    """Joined with another table, the value would say which rows that table reaches."""
    q = f"SELECT id, region, {value} AS n, rank() OVER (PARTITION BY region ORDER BY d) AS r FROM t"
    reach = analysed(f"SELECT q.id, n AS m, r, u.v FROM ({q}) q JOIN u ON q.region = u.region").asked.reach
    assert set(reach[1].columns) == {"id", "r", "v"}
