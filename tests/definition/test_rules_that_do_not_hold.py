"""SQL for which a plausible reading tracks too much, or adds up too much. Each is one that Spark reads otherwise."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableChange
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.questions.key_evaluation import evaluated
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Computed
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable
from tests.support.rule_tables import analysed


def is_followed(definition: ViewDefinition, index: int) -> bool:
    """Return whether a change in the reference leads to less than a full refresh."""
    if definition.always_full is not None or definition.full_when_changed is not None:
        return False
    return all(definition.tracks_of(use) for use in definition.uses_of(index))


def plain_tracks(definition: ViewDefinition, column: str, index: int) -> set[str]:
    """Return the base columns of a reference that an output column tracks without saying that it may be NULL."""
    if definition.always_full is not None or definition.full_when_changed is not None:
        return set()
    found = (t for use in definition.uses_of(index) for t in definition.tracks_of(use).get(column, ()))
    return {t.column for t in found if not any(step.only_adds_null for step in t.function)}


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        # The column is equal to a key of every set, but it is NULL where it is not in the set itself.
        ("SELECT u.d AS k, count(*) AS c FROM t JOIN u ON t.d = u.d GROUP BY t.d, ROLLUP (u.d)", "k"),
        ("SELECT u.d AS k, count(*) AS c FROM t JOIN u ON t.d = u.d GROUP BY GROUPING SETS ((t.d, u.d), (t.d))", "k"),
        # A function of a key of every set, but a grouping expression of its own: NULL in the other sets.
        ("SELECT year(d) AS y, count(*) AS c FROM t GROUP BY d, ROLLUP (year(d))", "y"),
        ("SELECT year(d) AS y, count(*) AS c FROM t GROUP BY GROUPING SETS ((d, year(d)), (d))", "y"),
        ("SELECT upper(region) AS y, count(*) AS c FROM t GROUP BY region, CUBE (upper(region))", "y"),
        # An alias of the SELECT list means a column that is NULL there.
        ("SELECT u.d AS a, year(a) AS y, count(*) AS c FROM t JOIN u ON t.d = u.d GROUP BY t.d, ROLLUP (u.d)", "y"),
        # d is t.d itself, so t.d is NULL there too.
        ("SELECT t.d AS k, count(*) AS c FROM t JOIN u USING (d) GROUP BY u.d, ROLLUP (d)", "k"),
        # Spark takes these for the same expression.
        ("SELECT v + 1 AS k, count(*) AS c FROM t GROUP BY v, ROLLUP (1 + v)", "k"),
        ("SELECT date(ts) AS k, count(*) AS c FROM t GROUP BY ts, ROLLUP (CAST(ts AS date))", "k"),
        # The window sees the NULLs of the second set as one partition.
        (
            "SELECT t.d AS k, sum(count(*)) OVER (PARTITION BY u.d) AS s "
            "FROM t JOIN u ON t.d = u.d GROUP BY GROUPING SETS ((t.d, u.d), (t.d))",
            "k",
        ),
    ],
)
def test_keys_that_a_grouping_set_shows_as_null(sql: str, column: str) -> None:
    assert plain_tracks(analysed(sql), column, 0) == set()


@pytest.mark.parametrize("column", ["t.s.d", "T.s.d"])
def test_a_field_of_a_struct_is_not_a_column_of_a_relation_with_the_name_of_the_struct(column: str) -> None:
    definition = analysed(f"SELECT {column} AS k FROM t JOIN u AS s ON t.id = s.id")
    assert plain_tracks(definition, "k", 1) == set()


@pytest.mark.parametrize(
    "sql",
    [
        # d comes first in t.* and u.* under USING (d), so a is d.
        "SELECT x.a FROM (SELECT u.* FROM t JOIN u USING (d)) AS x(a, b, c)",
        "SELECT x.a FROM (SELECT u.* FROM u LEFT JOIN t USING (d)) AS x(a, b, c)",
        "SELECT x.a FROM (SELECT u.* FROM u LEFT SEMI JOIN t USING (d)) AS x(a, b, c)",
        "SELECT x.a FROM (SELECT u.* FROM u NATURAL JOIN (SELECT d FROM t)) AS x(a, b, c)",
    ],
)
def test_a_qualified_star_shows_the_columns_of_using_first(sql: str) -> None:
    definition = analysed(sql)
    index = next(r.index for r in definition.references if r.name == "u")
    assert "id" not in plain_tracks(definition, "a", index)


PLACES_OF_A_CTE = [
    "WITH a AS (SELECT d, v, id FROM t) SELECT a.d "
    "FROM (a JOIN u ON a.id = u.id AND EXISTS (SELECT 1 FROM a AS b WHERE b.v > 3))",
    "WITH a AS (SELECT d, v, id FROM t) SELECT a.d FROM a JOIN u ON (SELECT v > 3 FROM a WHERE id = 1)",
    "WITH a AS (SELECT d, v FROM t) SELECT a.d, e.x FROM explode((SELECT array(v) FROM a WHERE v = 1)) AS e(x) JOIN a",
    "WITH b AS (SELECT d, v FROM t) SELECT d FROM b WHERE v IN "
    "(WITH RECURSIVE a(v) AS (SELECT v FROM b UNION ALL SELECT v + 1 FROM a WHERE v < 3) SELECT v FROM a)",
    "WITH b AS (SELECT d, v FROM t) SELECT b.d, x.v FROM b, "
    "(WITH RECURSIVE a(v) AS (SELECT v FROM b UNION ALL SELECT v + 1 FROM a WHERE v < 3) SELECT v FROM a) AS x",
]


@pytest.mark.parametrize("sql", PLACES_OF_A_CTE)
def test_a_cte_used_again_where_the_rules_do_not_look(sql: str) -> None:
    definition = analysed(sql)
    index = next(r.index for r in definition.references if r.name == "t")
    assert not is_followed(definition, index)
    assert index not in definition.additive


@pytest.mark.parametrize(
    "sql",
    [
        "FROM t |> AS x |> SELECT x.d",
        "FROM t |> AS x |> WHERE v > 1 |> SELECT d",
        "FROM t |> AS x |> AGGREGATE count(*) AS c GROUP BY d",
        "FROM t |> AS x |> JOIN u ON x.d = u.d |> SELECT x.d, u.w",
    ],
)
def test_no_reference_goes_unnoticed(sql: str) -> None:
    """The parser shows `x` as an alias in FROM, not as a table; a change of t then seems to matter to nothing."""
    definition = analysed(sql)
    assert definition.always_full is not None or definition.uses_of(0)


@pytest.mark.parametrize("condition", ["IN", "NOT IN"])
def test_in_may_mean_an_alias_in_having(condition: str) -> None:
    """v is no grouping column, so Spark takes the aggregate, whatever v is equal to below."""
    definition = analysed(
        "SELECT u.id AS k, max(t.id) AS v FROM t JOIN u ON t.v = u.id GROUP BY u.id "
        f"HAVING v {condition} (SELECT o.id FROM u AS o)"
    )
    assert not is_followed(definition, 2)


@pytest.mark.parametrize(
    "condition",
    [
        "d NOT IN ((SELECT d FROM u WHERE w = 1), DATE '2020-01-01')",
        "NOT d IN ((SELECT d FROM u WHERE w = 1))",
        "(d IN ((SELECT d FROM u WHERE w = 1), DATE '2020-01-01')) IS NULL",
    ],
)
def test_a_list_with_a_scalar_subquery_is_null_for_every_row_when_the_subquery_is(condition: str) -> None:
    assert not is_followed(analysed(f"SELECT d FROM t WHERE {condition}"), 1)


@pytest.mark.parametrize(
    "key",
    [
        "string(window(CAST(d AS timestamp), '2 days', '1 day'))",
        "window_time(window(CAST(d AS timestamp), '2 days', '1 day'))",
        "window(CAST(d AS timestamp), '2 days', '1 day')['start']",
    ],
)
def test_windows_of_time_are_not_computed_row_by_row(key: str) -> None:
    """A sliding window makes several rows of one."""
    assert plain_tracks(analysed(f"SELECT {key} AS k, count(*) AS c FROM t GROUP BY 1"), "k", 0) == set()


def test_schema_of_variant_agg_is_an_aggregate() -> None:
    definition = analysed("SELECT schema_of_variant_agg(parse_json(region)) AS s FROM t")
    assert definition.additive == {}
    assert not is_followed(definition, 0)


def test_pivot_groups_without_the_struct_whose_field_it_mentions() -> None:
    definition = analysed("SELECT * FROM (SELECT d, v, s, region FROM t) PIVOT (max(s.d) AS m FOR region IN ('a'))")
    assert [c.name for c in definition.columns or ()][:2] in ([], ["d", "v"])


def test_in_behind_grouping_sets_sees_null_for_a_column_that_is_equal_to_a_key() -> None:
    """In the second set u.d is NULL whatever t.d is; NULL NOT IN (...) is true only while there is no row at all."""
    definition = analysed(
        "SELECT t.d AS k, count(*) AS c FROM t JOIN u ON t.d = u.d GROUP BY t.d, ROLLUP (u.d) "
        "HAVING u.d NOT IN (SELECT o.d FROM odd AS o)"
    )
    assert not is_followed(definition, 2)


@pytest.mark.parametrize(
    "keys",
    [
        "(SELECT v AS k FROM t) a FULL JOIN (SELECT id AS k FROM u) b USING (k)",
        "(SELECT coalesce(a.v, b.id) AS k FROM t a LEFT JOIN u b ON a.v = b.id)",
        "(SELECT coalesce(a.v, b.id) AS k FROM t a JOIN u b ON a.v = b.id)",
    ],
)
def test_the_width_of_columns_that_are_merged_is_that_of_the_wider_one(keys: str) -> None:
    """hash(int) is not hash(bigint)."""
    definition = analysed(f"SELECT hash(k) AS h FROM {keys}")
    found = [t for c in definition.columns or () for t in c.tracks]
    assert all(getattr(step, "argument_type", None) != "int" for t in found for step in t.function)


@pytest.mark.parametrize(
    "join", ["CROSS JOIN (SELECT w FROM u LIMIT 1) AS x", "JOIN (SELECT * FROM u LIMIT 5) AS x ON t.id = x.id"]
)
def test_rows_that_limit_picks_may_be_others_at_the_next_refresh(join: str) -> None:
    assert not is_followed(analysed(f"SELECT t.d, x.w FROM t {join}"), 0)


@pytest.mark.parametrize("name", ["v", "i"])
def test_a_column_that_the_parser_takes_for_a_unit_is_not_found_where_the_key_is_evaluated(name: str) -> None:
    """trunc(d, v) follows from two columns. Spark must refuse it over values of d alone, whatever v is called."""
    key = analysed(f"SELECT trunc(d, {name}) AS k FROM t GROUP BY 1")
    (track,) = (t for c in key.columns or () for t in c.tracks)
    asked: list[str] = []

    def run(sql: str) -> list[list[object]]:
        asked.append(sql)
        return []

    base = BaseTable(("lake", "ns", "t"), None)
    status = BaseTableStatus(base, (track.occurrence.index,), None, TableChange("stale"))
    evaluated(key, MaterializedViewStatus((status,)), run, lambda _base, _column: Domain.of(1))
    assert asked
    names = [n.strip() for sql in asked for n in sql.split(" AS x(")[1].split(")")[0].split(",")]
    assert name not in names


@pytest.mark.parametrize(("text", "is_known"), [("a", True), ("\ufffd", False), ("x\ufffdy", False)])
def test_a_computed_key_that_is_not_utf8_is_not_followed(text: str, is_known: bool) -> None:
    """What Spark gives for bytes that are no text stands for many of them; stored rows have the bytes."""
    key = analysed("SELECT CAST(unhex(region) AS string) AS k, max(v) AS m FROM t GROUP BY 1")
    (track,) = (t for c in key.columns or () if c.name == "k" for t in c.tracks)

    def run(sql: str) -> list[list[object]]:
        if sql.startswith("DESCRIBE"):
            return [["e", "string", None]]
        return [[place, text] for place in range(sql.count("CAST(NULL AS") + sql.count("'FF'"))]

    base = BaseTable(("lake", "ns", "t"), None)
    status = BaseTableStatus(base, (track.occurrence.index,), None, TableChange("stale"))
    found = evaluated(key, MaterializedViewStatus((status,)), run, lambda _base, _column: Domain.of("FF"))
    (after,) = (t for c in found.columns or () if c.name == "k" for t in c.tracks)
    assert any(isinstance(step, Computed) for step in after.function) != is_known
