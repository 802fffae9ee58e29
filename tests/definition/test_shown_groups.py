"""Values of groups that joins show in several rows: by which columns these rows are replaced, all of them together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import exp, parse_one

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, at_moment
from dbt.adapters.icebergmv.maintenance.definition.hidden_keys import wanted_keys
from dbt.adapters.icebergmv.maintenance.definition.row_order.shown_groups import groups_rows, with_joined_groups
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Equality, Slot, Sources
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedColumn, TrackedRelation
from tests.support.bases import analysed, columns_of

G = "(SELECT region, any_value(v) AS l, count(*) AS n FROM t GROUP BY region)"
BY_ID = "(SELECT id, first(d) AS f FROM t GROUP BY id)"


def named_by_regions(definition: ViewDefinition) -> set[str]:
    """Return the columns that some region may name: answered ones, and those that follow a base column."""
    asked = {name for reach in definition.asked.reach.values() for name in (*reach.columns, *reach.literals)}
    return asked | {c.name for c in definition.columns or () if c.tracks}


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        (f"SELECT o.id, o.region, g.l FROM o LEFT JOIN {G} g ON o.region = g.region", {"region"}),
        (f"SELECT o.id, o.region, g.l FROM {G} g RIGHT JOIN o ON o.region = g.region", {"region"}),
        (f"SELECT o.id, o.region, g.l FROM o JOIN {G} g ON o.region = g.region AND o.v > 1", {"region"}),
        (f"SELECT o.id, region, g.l FROM o LEFT JOIN {G} g USING (region)", {"region"}),
        (f"SELECT o.id, g.region, g.n, g.l FROM o JOIN {G} g ON o.region = g.region", {"region", "n"}),
        (
            f"SELECT g.region AS k, concat(o.region, 'x') AS c, g.l + o.v AS m FROM o JOIN {G} g USING (region)",
            {"k", "c"},
        ),
        (
            f"WITH g AS {G}, j AS (SELECT o.*, g.l FROM o LEFT JOIN g ON o.region = g.region) SELECT * FROM j",
            {"region"},
        ),
        (
            f"SELECT o.id, o.region, p.region AS r, g.l FROM o JOIN p ON o.region = p.region "
            f"LEFT JOIN {G} g ON g.region = p.region",
            {"region", "r"},
        ),
        (f"SELECT o.id, g.region, o.region AS r, g.l FROM {G} g LEFT JOIN o ON o.region = g.region", {"region"}),
        (
            f"SELECT o.id, o.d, g.l, h.f FROM o LEFT JOIN {BY_ID} h ON o.id = h.id "
            "LEFT JOIN (SELECT id, max_by(v, ts) AS l FROM t GROUP BY id) g ON g.id = o.id",
            {"id"},
        ),
        (
            f"SELECT o.id, o.region, g.l FROM o LEFT JOIN {G} g ON o.region = g.region "
            "WHERE o.id IN (SELECT u.id FROM u) AND o.v > 1",
            {"region"},
        ),
        (
            "SELECT o.id, o.region, g.l.a AS a, g.l FROM o JOIN (SELECT region, max_by(struct(v AS a), d) AS l FROM t "
            "GROUP BY region) g ON g.region = o.region",
            {"region"},
        ),
        # Nothing depends on what is not shown.
        (f"SELECT o.id, o.region, g.n FROM o LEFT JOIN {G} g ON o.region = g.region", {"id", "region", "n"}),
    ],
)
def test_a_region_names_what_is_one_in_all_rows_of_a_group(sql: str, columns: set[str]) -> None:
    definition = analysed(sql)
    assert definition.full_when_changed is None
    assert "depends on the order" in (definition.depends_on_order or "")
    assert named_by_regions(definition) == columns
    assert definition.asked.names_some(0)


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT o.region, g.l FROM o FULL JOIN {G} g ON o.region = g.region",
        f"SELECT o.region, g.l FROM o JOIN {G} g ON o.region = g.region WHERE g.l > 1",
        # Spark takes the alias for meant in HAVING.
        "SELECT o.id, o.region FROM o JOIN (SELECT region, max_by(v, ts) AS v FROM t GROUP BY region HAVING v > 1) g "
        "ON g.region = o.region",
        "SELECT o.region, g.v FROM o LEFT JOIN (SELECT region, any_value(v) AS v FROM t GROUP BY region "
        "HAVING v IN (SELECT u.v FROM u)) g ON g.region = o.region",
        # Rows are counted by count(*) alone.
        f"SELECT o.region, count(g.*, 1) OVER (PARTITION BY o.d) AS c FROM o LEFT JOIN {G} g ON o.region = g.region",
        f"SELECT o.region, count(*, 1) OVER (PARTITION BY o.d) AS c FROM o LEFT JOIN {G} g ON o.region = g.region",
        f"SELECT o.region, window(g.l, '10 minutes').start AS s FROM o JOIN {G} g ON o.region = g.region",
        f"SELECT o.region, g.l FROM o JOIN {G} g ON o.region = g.region AND g.l > o.v",
        f"SELECT o.region, g.l FROM o JOIN {G} g ON o.region = g.region ORDER BY o.region LIMIT 3",
        f"SELECT DISTINCT o.region, g.l FROM o JOIN {G} g ON o.region = g.region",
        f"SELECT DISTINCT * FROM (SELECT o.region, g.l FROM o JOIN {G} g ON o.region = g.region) q",
        f"SELECT o.region, max(g.l) AS m FROM o JOIN {G} g ON o.region = g.region GROUP BY o.region",
        f"SELECT c FROM (SELECT g.l, count(*) AS c FROM o JOIN {G} g ON o.region = g.region GROUP BY 1) q",
        f"SELECT o.region, rank() OVER (ORDER BY g.l) AS n FROM o JOIN {G} g ON o.region = g.region",
        f"SELECT o.region, g.l, rank() OVER w AS n FROM o JOIN {G} g ON o.region = g.region WINDOW w AS (ORDER BY l)",
        f"SELECT o.region, g.l FROM o JOIN {G} g ON o.region = g.region UNION ALL SELECT region, v FROM o",
        f"SELECT o.region, g.l FROM o JOIN {G} g ON o.region = g.region UNION SELECT region, v FROM o",
        f"SELECT o.region, g.l, e FROM o JOIN {G} g ON o.region = g.region LATERAL VIEW explode(array(g.l)) t AS e",
        f"WITH g AS {G} SELECT o.region, g.l, h.l AS m FROM o JOIN g ON o.region = g.region "
        "JOIN g h ON o.region = h.region",
        f"SELECT o.region, g.l, to_json(struct(*)) AS s FROM o JOIN {G} g ON o.region = g.region",
        f"SELECT o.region, g.l, struct(g.*) AS s FROM o JOIN {G} g ON o.region = g.region",
        f"SELECT o.region, (SELECT max(u.id) FROM u WHERE u.v = g.l) AS m FROM o JOIN {G} g ON o.region = g.region",
        f"SELECT o.region, g.l FROM o JOIN {G} g ON o.region = g.region WHERE g.l IN (SELECT u.v FROM u)",
        f"SELECT o.region, g.l FROM o JOIN {G} g ON o.region = g.region WHERE EXISTS (SELECT 1 FROM u WHERE u.v = g.l)",
        "SELECT o.region, a.l FROM o CROSS JOIN (SELECT any_value(v) AS l FROM t) a",
        f"SELECT o.id, o.region, g.l, h.f FROM o LEFT JOIN {G} g ON o.region = g.region "
        f"LEFT JOIN {BY_ID} h ON h.id = o.id",
        "SELECT v, o.d, q.m FROM o JOIN (SELECT any_value(v) AS v, any_value(d) AS m, region FROM t GROUP BY region) q "
        "USING (v)",
        "SELECT o.region, g.x FROM o JOIN (SELECT region, x FROM (SELECT region, any_value(v) AS l, l + 1 AS x FROM t "
        "GROUP BY region) p WHERE x > 1) g ON g.region = o.region",
        "SELECT o.region, l.a AS a, g.l FROM o JOIN (SELECT region, max_by(struct(v AS a), d) AS l FROM t "
        "GROUP BY region) g ON g.region = o.region",
        "SELECT o.region, g.l FROM o JOIN (SELECT region, any_value(v) AS l FROM t GROUP BY region HAVING l > 1) g "
        "ON g.region = o.region",
        "SELECT o.region, g.l FROM o JOIN (SELECT region, any_value(v) AS l FROM t GROUP BY ROLLUP(region)) g "
        "ON g.region = o.region",
        f"SELECT o.region, g.l, first(o.v) OVER (PARTITION BY o.region) AS f FROM o JOIN {G} g ON g.region = o.region",
        f"SELECT o.region, g.l, row_number() OVER (ORDER BY g.l) AS f FROM o JOIN {G} g ON g.region = o.region",
        f"SELECT o.region COLLATE UTF8_LCASE AS r, g.l FROM o JOIN {G} g ON g.region = o.region",
        f"SELECT * FROM (SELECT o.region, o.v, g.l FROM o JOIN {G} g ON g.region = o.region) "
        "PIVOT (max(v) FOR l IN (1, 2))",
        f"SELECT * FROM (SELECT o.region, o.v, g.l FROM o JOIN {G} g ON g.region = o.region) "
        "UNPIVOT (x FOR y IN (v, l))",
    ],
)
def test_what_more_comes_of_a_value_than_that_it_is_shown(sql: str) -> None:
    assert analysed(sql).full_when_changed is not None


def test_a_key_that_is_not_listed_can_be_stored_besides() -> None:
    sql = f"SELECT o.id, o.d, g.l FROM o LEFT JOIN {G} g ON o.region = g.region"
    definition = analysed(sql)
    assert definition.full_when_changed is None
    assert named_by_regions(definition) == set()
    assert {one.text for one in definition.unlisted} == {"`o`.`region`", "`g`.`region`", "`g`.`n`"}
    # By the day of `o` rows of one group would be replaced apart.
    assert wanted_keys(definition, {0: ("d",), 1: ("d",)}) == ("`o`.`region`",)


def test_where_the_clock_is_read_a_change_is_full() -> None:
    sql = f"SELECT o.region, g.l FROM o LEFT JOIN {G} g ON o.region = g.region WHERE o.d >= current_date"
    assert at_moment(analysed(sql), columns_of, {"date": "2024-01-01"}).full_when_changed is not None


def test_floats_that_are_equal_may_be_two() -> None:
    a, b = (TrackedColumn(name, one_in=frozenset(of), kind="float") for name, of in (("a", [1]), ("b", [])))
    slots = (Slot("x", a), Slot("y", b))
    both = Sources(slots, TrackedRelation(None), (0, 1))
    equal = [Equality(0, (), 1, ())]
    assert with_joined_groups(both, equal, 1, "").slots[1].column.one_in == frozenset()
    exact = replace(both, slots=(slots[0], Slot("y", replace(b, kind="number"))))
    assert with_joined_groups(exact, equal, 1, "").slots[1].column.one_in == {1}
    assert with_joined_groups(exact, equal, 1, "RIGHT").slots[1].column.one_in == {1}
    assert with_joined_groups(exact, equal, 1, "LEFT").slots[1].column.one_in == frozenset()
    assert with_joined_groups(exact, equal, 1, "FULL").slots[0].column.one_in == frozenset()


def test_rows_of_a_select_may_be_groups() -> None:
    found = [parse_one(sql) for sql in ("select max(a) from t", "select a from t group by a", "select a from t")]
    assert [groups_rows(select) for select in found if isinstance(select, exp.Select)] == [True, True, False]
