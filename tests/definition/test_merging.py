"""Which aggregates can be merged, and by which states. What comes of it is compared on DuckDB (tests/randomised)."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import with_edits
from dbt.adapters.icebergmv.maintenance.definition.merging.merged_states import Call, KeyRead, Merging
from dbt.adapters.icebergmv.maintenance.definition.merging.row_states import MAGNITUDE, magnitude_of
from dbt.adapters.icebergmv.maintenance.errors import InvalidDefinition
from tests.randomised.tables import COLUMN_INFOS
from tests.support.analysis import analysed_in


def analysed(sql: str) -> ViewDefinition:
    return analysed_in(sql, "ns", lambda _: COLUMN_INFOS, True)


def merging(sql: str) -> Merging:
    found = analysed(sql).merging
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("sql", "hidden"),
    [
        ("SELECT region, count(*) AS n FROM t GROUP BY region", ()),
        ("SELECT region, count(1) AS n FROM t GROUP BY 1", ()),
        ("SELECT sum(v) AS s FROM t", ("count(1)", "count(v)")),
        ("SELECT sum( v ) AS s, count(v) AS c, count(*) AS n FROM t", ()),
        ("SELECT max(d) AS m, min(v) AS l FROM t", ("count(1)",)),
        (
            "SELECT count(*) AS n, avg(CAST(v AS decimal(7, 2))) AS a FROM t",
            (
                "try_sum(CAST(v AS decimal(7, 2)))",
                "count(CAST(v AS decimal(7, 2)))",
                "try_sum(abs(CAST(v AS decimal(7, 2))))",
            ),
        ),
        (
            "SELECT count(*) AS n, avg(v + 1) AS a FROM t",
            ("try_sum(v + 1)", "count(v + 1)", "try_sum(abs(try_cast(v + 1 AS DECIMAL(30, 11))))"),
        ),
        (
            "SELECT count(*) AS n, avg(v) AS a FROM t",
            ("try_sum(v)", "count(v)", "try_sum(abs(CAST(v AS bigint)))"),
        ),
        (
            "SELECT count(*) AS n, 2 * sum(v) FILTER (WHERE d IS NULL) / count(w) AS a FROM t",
            (
                "try_sum(v) FILTER (WHERE d IS NULL)",
                "count(v) FILTER (WHERE d IS NULL)",
                "count(w)",
            ),
        ),
        ("SELECT 'all' AS label, count_if(v > 0) AS n, count(*) AS c FROM t WHERE v < 3", ()),
    ],
)
def test_hidden_states(sql: str, hidden: tuple[str, ...]) -> None:
    assert merging(sql).hidden == hidden


@pytest.mark.parametrize(
    ("of", "written"),
    [
        ("tinyint", "abs(CAST({0} AS bigint))"),
        ("bigint", "CASE WHEN {0} < -9223372036854775807 THEN 9223372036854775807 ELSE abs({0}) END"),
        ("decimal(11,2)", "abs({})"),
        ("decimal(12,2)", None),
        ("double", MAGNITUDE),
        (None, MAGNITUDE),
    ],
)
def test_the_magnitude_of_what_is_averaged(of: str | None, written: str | None) -> None:
    assert magnitude_of(of) == written


def test_the_text_with_hidden_columns() -> None:
    sql = "WITH x AS (SELECT * FROM t) SELECT region -- where\n, sum(v) AS s -- of what\n FROM x GROUP BY region -- end"
    found = merging(sql)
    assert with_edits(sql, found.edits) == (
        "WITH x AS (SELECT * FROM t) SELECT region -- where\n, sum(v) AS s, count(1) AS icebergmv_state_0,"
        " count(v) AS icebergmv_state_1 -- of what\n FROM x GROUP BY region -- end"
    )


def test_items_keep_their_text() -> None:
    (item,) = merging("SELECT 100.0 * sum(v) / count(*) AS ratio FROM t").items
    assert [part.kind if isinstance(part, Call) else part for part in item.parts] == [
        "100.0 *",
        "sum",
        "/",
        "count",
        "",
    ]
    assert all(call.count is not None for call in item.parts if isinstance(call, Call) and call.kind == "sum")


def test_comments_behind_items_are_no_part_of_them() -> None:
    found = merging("SELECT sum(v -- of what\n) * 100 -- in cents\n AS cents, count(*) AS n FROM t")
    assert found.items[0].parts[2] == "* 100"
    assert found.hidden == ("try_sum(v)", "count(v)")


@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        ("SELECT count(*) AS n, region FROM t GROUP BY region", (1,)),
        ("SELECT x.region AS r, count(*) AS n FROM t x GROUP BY region", (0,)),
        ("SELECT upper(region) AS r, d, count(*) AS n FROM t GROUP BY d, upper(region)", (1, 0)),
        ("SELECT region, v, count(*) AS n FROM t GROUP BY ALL", (0, 1)),
        ("SELECT count(*) AS n FROM t", ()),
    ],
)
def test_which_items_are_the_keys_of_the_groups(sql: str, keys: tuple[int, ...]) -> None:
    assert merging(sql).keys == keys


@pytest.mark.parametrize(
    ("by", "levels"),
    [
        ("ROLLUP(region, v)", (0, 1)),
        ("CUBE(x.region, 2)", (0, 1)),
        ("region, v WITH ROLLUP", (0, 1)),
        ("ROLLUP((v, region))", (1, 0)),
        ("v, ROLLUP(region)", (1, 0)),
        ("GROUPING SETS ((region, v), (v), ())", (0, 1)),
    ],
)
def test_the_levels_of_grouping_sets(by: str, levels: tuple[int, ...]) -> None:
    found = merging(f"SELECT x.region, v, count(*) AS n FROM t x GROUP BY {by}")
    shown = {0: "CAST(grouping(x.region) AS int)", 1: "CAST(grouping(v) AS int)"}
    assert {*found.keys} == {0, 1} and len(found.levels) == 2
    assert [found.hidden[level.hidden or 0] for level in found.levels] == [shown[key] for key in found.keys]


def test_what_is_read_back_is_no_item_that_is_computed() -> None:
    sql = "SELECT region, max(v) AS m, grouping(region) AS l, 2 * count(*) AS n FROM t GROUP BY ROLLUP(region)"
    found = merging(sql).read_back(["region", "m", "l", "n"])
    assert found == {"region", "m", "icebergmv_state_0", "icebergmv_state_1"}


def test_items_read_keys_and_levels_and_rank_groups() -> None:
    (_, item) = merging(
        "SELECT region, v, count(*) AS n, rank() OVER (PARTITION BY grouping(v), x . `region` ORDER BY count(*)) AS r"
        " FROM t x GROUP BY ROLLUP(region, v)"
    ).items
    level = merging("SELECT region, v, count(*) AS n FROM t GROUP BY ROLLUP(region, v)").levels[1]
    assert [part.kind if isinstance(part, Call) else part for part in item.parts] == [
        "rank() OVER (PARTITION BY",
        KeyRead(1, level),
        ",",
        KeyRead(0),
        "ORDER BY",
        "count",
        ")",
    ]


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT region, count(*) AS n FROM t GROUP BY region", "SELECT region, 1 AS icebergmv_adds_0 FROM t"),
        (
            "SELECT /*+ COALESCE(1) */ d, count(*) AS n FROM t GROUP BY d",
            "SELECT /*+ COALESCE(1) */ d, 1 AS icebergmv_adds_0 FROM t",
        ),
        (
            "SELECT count(*) AS n, upper(region) AS r, d FROM t WHERE (v > 1)GROUP BY d, 2 ORDER BY 1",
            "SELECT upper(region) AS r, d, 1 AS icebergmv_adds_0 FROM t WHERE (v > 1)",
        ),
        (
            "WITH x AS (SELECT * FROM t) SELECT sum(v) AS s, min(d) AS v -- of what\n FROM x",
            "WITH x AS (SELECT * FROM t) SELECT (v) AS icebergmv_adds_0, (d) AS icebergmv_adds_1,"
            " 1 AS icebergmv_adds_2, CASE WHEN (v) IS NOT NULL THEN 1 ELSE 0 END AS icebergmv_adds_3"
            " -- of what\n FROM x",
        ),
        (
            "SELECT d, count_if(v > 1 OR d IS NULL) AS n, 1 + count(1) FILTER (WHERE v < 3) AS m FROM t GROUP BY d",
            "SELECT d, CASE WHEN (v > 1 OR d IS NULL) IS TRUE THEN 1 ELSE 0 END AS icebergmv_adds_0,"
            " 1 AS icebergmv_adds_1, CASE WHEN (v < 3) IS TRUE THEN 1 ELSE 0 END AS icebergmv_adds_2 FROM t",
        ),
        (
            "SELECT count(*) AS n, avg(v + 1) FILTER (WHERE d IS NULL OR v = 0) AS a FROM t",
            "SELECT 1 AS icebergmv_adds_0,"
            " CASE WHEN (d IS NULL OR v = 0) IS TRUE THEN (v + 1) END AS icebergmv_adds_1,"
            " CASE WHEN (d IS NULL OR v = 0) IS TRUE AND (v + 1) IS NOT NULL THEN 1 ELSE 0 END AS icebergmv_adds_2,"
            " CASE WHEN (d IS NULL OR v = 0) IS TRUE THEN abs(try_cast(v + 1 AS DECIMAL(30, 11))) END"
            " AS icebergmv_adds_3 FROM t",
        ),
    ],
)
def test_what_each_row_adds(sql: str, rows: str) -> None:
    found = merging(sql)
    assert found.ungrouped is not None
    assert with_edits(sql, found.ungrouped) == rows
    assert rows.count("icebergmv_adds_") == len(found.states)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(DISTINCT v) AS n FROM t",
        "SELECT count(v, d) AS n, sum(v) AS s FROM t",
        "SELECT count(*) AS n, max(d) AS last FROM t",
        "SELECT region, count(* EXCEPT (v)) AS n FROM t GROUP BY region",
        "SELECT region, count(t.*) AS n FROM t GROUP BY region",
        "SELECT region, count() AS n FROM t GROUP BY region",
        "SELECT region, v, count(*) AS n FROM t GROUP BY ROLLUP(region, v)",
        "SELECT v AS k, count(*) AS v FROM t GROUP BY v",
    ],
)
def test_groups_of_which_no_row_says_what_it_adds(sql: str) -> None:
    assert merging(sql).ungrouped is None


@pytest.mark.parametrize(
    ("sql", "additive"),
    [
        ("SELECT count(*) AS n FROM t JOIN u ON t.id = u.id", {0: frozenset(), 1: frozenset()}),
        ("SELECT count(*) AS n FROM t a JOIN t b ON a.id = b.v", {0: frozenset(), 1: frozenset()}),
        ("SELECT count(*) AS n FROM t LEFT JOIN u ON t.id = u.id", {0: frozenset()}),
        (
            "SELECT count(*) AS n FROM (SELECT id FROM t UNION ALL SELECT id FROM u) q",
            {0: frozenset({1}), 1: frozenset({0})},
        ),
        ("SELECT count(*) AS n FROM t WHERE v IN (SELECT v FROM u)", {0: frozenset()}),
    ],
)
def test_whose_changes_are_merged(sql: str, additive: dict[int, frozenset[int]]) -> None:
    assert merging(sql).additive == additive


@pytest.mark.parametrize(
    ("sql", "compared"),
    [
        ("SELECT count(DISTINCT v) AS n FROM t", {"`t`.`v`"}),
        ("SELECT count( distinct v, upper(region), d ) AS n, sum(id) AS s FROM t", {"`t`.`v`", "`t`.`d`"}),
        (
            "SELECT count(DISTINCT a.v, b.d) AS n, 2 * count(DISTINCT v2) AS m FROM t a, (SELECT v v2, d FROM t) b",
            set(),
        ),
        (
            "SELECT count(DISTINCT v, d) AS n, count(DISTINCT d) FILTER (WHERE v > 1) / count(*) AS m FROM t",
            {"`t`.`d`"},
        ),
        ("SELECT count(DISTINCT x.v) AS n FROM t x WHERE EXISTS (SELECT 1 FROM u WHERE u.id = x.id)", {"`x`.`v`"}),
        ("SELECT count(DISTINCT v + 1) AS n FROM t", set()),
        ("SELECT n, count(DISTINCT v) AS c FROM (SELECT v, count(*) AS n FROM t GROUP BY v) q GROUP BY n", {"`q`.`v`"}),
    ],
)
def test_values_that_differ_are_followed_by_what_is_compared(sql: str, compared: set[str]) -> None:
    found = merging(sql)
    assert found.below is not None
    assert (dict(found.additive), found.compared) == ({}, frozenset(compared))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(DISTINCT v) AS s FROM t",
        "SELECT avg(DISTINCT v) AS s FROM t",
        "SELECT count(DISTINCT v) AS n, max(DISTINCT d) AS m FROM t",
        "SELECT count_if(DISTINCT v > 1) AS n FROM t",
        "SELECT region, count(*) AS n FROM t GROUP BY region HAVING count(*) > 1",
        "SELECT DISTINCT region, count(*) AS n FROM t GROUP BY region",
        "SELECT region, count(*) AS n FROM t GROUP BY region ORDER BY n LIMIT 3",
        "SELECT region, v, count(*) AS n FROM t GROUP BY ROLLUP(region, v, region)",
        "SELECT x.region, y.region AS r, count(*) AS n FROM t x JOIN t y ON x.region = y.region"
        " GROUP BY CUBE(x.region, y.region)",
        "SELECT region, v, count(*) AS n FROM t GROUP BY region, ROLLUP(region, v)",
        "SELECT region, v, count(*) AS n FROM t GROUP BY ROLLUP(region), CUBE(v)",
        "SELECT region, v, count(*) AS n FROM t GROUP BY ROLLUP(region, (), v)",
        "SELECT region, v, count(*) AS n FROM t GROUP BY GROUPING SETS ((region, v), (v, region))",
        "SELECT region, v, count(*) AS n FROM t GROUP BY GROUPING SETS (ROLLUP(region), (v))",
        "SELECT region, count(*) AS n FROM t GROUP BY GROUPING SETS (())",
        "SELECT upper(region) AS r, count(*) AS n FROM t GROUP BY ROLLUP(upper(region))",
        "SELECT region, v + 1 AS w, count(*) AS n FROM t GROUP BY ROLLUP(region, v)",
        "SELECT region, count(*) AS n, grouping_id() AS l FROM t GROUP BY ROLLUP(region)",
        "SELECT region, count(*) AS n, grouping_id(region) AS l FROM t GROUP BY ROLLUP(region)",
        "SELECT region, count(*) AS n, grouping__id AS l FROM t GROUP BY ROLLUP(region)",
        "SELECT region, count(*) AS n, grouping(region) AS l FROM t GROUP BY region",
        "SELECT region AS r, count(*) AS n, upper(region) AS u FROM t GROUP BY region",
        "SELECT v, count(*) AS n, transform(array(1), x -> x + v) AS a FROM t GROUP BY v",
        "SELECT region, count(*) AS n, row_number() OVER (ORDER BY region) AS k FROM t GROUP BY region",
        "SELECT region, count(*) AS n, rank() OVER w AS k FROM t GROUP BY region WINDOW w AS (ORDER BY region)",
        "SELECT region, count(*) AS n, rank() OVER (ORDER BY rank() OVER (ORDER BY region)) AS k FROM t"
        " GROUP BY region",
        "SELECT region, count(*) AS n, rank() OVER (ORDER BY max(w) OVER ()) AS k FROM t GROUP BY region",
        "SELECT region, count(*) AS n FROM t GROUP BY region, d GROUPING SETS ((region), (d))",
        "SELECT count(*) AS n FROM t GROUP BY region",
        "SELECT date(ts) AS ts, count(*) AS n FROM t GROUP BY ts",
        "SELECT upper(region) AS r, count(*) AS n FROM t GROUP BY region",
        "SELECT region, count(DISTINCT v) AS n FROM t GROUP BY region",
        "SELECT region, median(v) AS n FROM t GROUP BY region",
        "SELECT region, collect_list(v) AS n FROM t GROUP BY region",
        "SELECT region, sum(sum(v)) OVER () AS n FROM t GROUP BY region",
        "SELECT region, sum(v) AS n, n + 1 AS m FROM t GROUP BY region",
        "SELECT region AS col, count(*) AS n FROM t LATERAL VIEW explode(array(v, w)) e GROUP BY region, col",
        "SELECT 'all' AS col, count(*) AS n FROM t LATERAL VIEW explode(array(v, w)) e GROUP BY col",
        "SELECT explode(array(count(*), sum(v))) AS n FROM t",
        "SELECT count(*) AS n, transform(array(1, 2), n -> n + count(*)) AS a FROM t",
        "SELECT region, sum(v) + (SELECT max(id) FROM u) AS n FROM t GROUP BY region",
        "SELECT region, v FROM t",
        "SELECT n FROM (SELECT count(*) AS n FROM t) q",
        "SELECT count(*) AS n FROM (SELECT v, max_by(id, v) AS m FROM t) q",
        "SELECT count(*) AS n FROM t UNION ALL SELECT count(*) FROM u",
        "SELECT count(*) AS n FROM (SELECT id FROM t LIMIT 3) q",
    ],
)
def test_what_is_not_merged(sql: str) -> None:
    assert analysed(sql).merging is None


@pytest.mark.parametrize("name", ["icebergmv_state_0", "ICEBERGMV_STATE_x"])
def test_names_of_hidden_columns_are_reserved(name: str) -> None:
    with pytest.raises(InvalidDefinition, match="Rename it with AS"):
        analysed(f"SELECT id AS {name} FROM t")


@pytest.mark.parametrize(
    ("sql", "signed"),
    [
        ("SELECT t.v, count(*) AS n FROM t, u WHERE t.id = u.id GROUP BY t.v", {0, 1}),
        ("SELECT a.v, count(*) AS n FROM t a LEFT JOIN (SELECT * FROM u) b ON a.id = b.id GROUP BY a.v", {0}),
        ("SELECT v, count(*) AS n FROM t LEFT SEMI JOIN u ON t.id = u.id GROUP BY v", {0}),
        ("SELECT v, count(*) AS n FROM t WHERE EXISTS (SELECT * FROM u WHERE u.id = t.id) GROUP BY v", {0}),
        ("SELECT v, count(*) AS n FROM (SELECT v FROM t) q GROUP BY v", {0}),
        ("WITH q AS (SELECT v FROM t) SELECT v, count(*) AS n FROM q GROUP BY v", {0}),
        ("WITH q AS (SELECT t.*, x.w FROM t JOIN x ON t.id = x.id) SELECT v, count(*) AS n FROM q GROUP BY v", {0, 1}),
        ("WITH q AS (SELECT *, 1 AS one FROM t) SELECT v, count(*) AS n FROM (SELECT one, v FROM q) p GROUP BY v", {0}),
        ("WITH q AS (SELECT *, t.* FROM t) SELECT id, count(*) AS n FROM u, (SELECT w FROM q) p GROUP BY id", {0}),
        ("WITH q AS (SELECT v, 1 AS one FROM t ORDER BY 1) SELECT v, count(*) AS n FROM q GROUP BY v", set()),
        ("SELECT v, count(*) AS n FROM (SELECT v FROM t UNION ALL SELECT v FROM u) q GROUP BY v", set()),
        ("SELECT x, count(*) AS n FROM (SELECT v FROM t) AS q(x) GROUP BY x", set()),
        ("SELECT v, count(*) AS n FROM t WHERE concat_ws('|', *) <> '' GROUP BY v", set()),
        ("SELECT a.v, count(*) AS n FROM t a, u b WHERE struct(b.*) IS NOT NULL AND a.id = b.id GROUP BY a.v", set()),
        ("SELECT v, count(*) AS n FROM t WHERE region <> 'icebergmv_sign' GROUP BY v", set()),
    ],
)
def test_whose_rows_can_have_a_sign(sql: str, signed: set[int]) -> None:
    """A `*` in WHERE would see one more column."""
    assert merging(sql).signed.keys() == signed
