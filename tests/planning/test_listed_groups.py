"""Which groups a merge changes, and by what, as literals. What they give is compared on DuckDB (tests/randomised)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.planning.answers.listed_groups import MOST_GROUPS, GroupListing, query_of_listed
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import references_to_ask
from dbt.adapters.icebergmv.maintenance.planning.plan import ListedGroups, Merge, NoOp
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from tests.support.bare_tables import bare_table
from tests.support.bases import COLUMNS, analysed, change, partition_rows, sized, status
from tests.support.stub_catalog import StubCatalog

TABLES = {f"ns.{t}": bare_table(t, {c: kind for c, (kind, _) in COLUMNS.items()}, (), (1, 2)) for t in "tu"}
BASES = BaseTables(StubCatalog({}, TABLES))
MERGES = PlanRequest("auto", merges=True)
DAY = change([partition_rows([("day", "ts")], (10,))], unit="day")
SUMS = analysed("SELECT region, count(*) AS n, sum(v) AS s, max(d) AS last FROM t WHERE v > 2 GROUP BY region")
TYPES = {"region": "string", "n": "bigint", "s": "bigint", "last": "date", "icebergmv_state_0": "bigint"}
NAMES = ("region", *(f"icebergmv_adds_{n}" for n in range(4)), "icebergmv_state_sign")
Row = Sequence[object]


def plan(
    rows: Sequence[Row],
    definition: ViewDefinition = SUMS,
    bases: Sequence[BaseTableStatus] = (sized(DAY, 10),),
    stored: int | None = 5,
    **types: str,
) -> tuple[Merge | NoOp | None, list[str]]:
    """Return the plan where Spark lists these rows, and what it was asked."""
    asked: list[str] = []

    def spark(sql: str) -> Sequence[Row]:
        asked.append(sql)
        return rows

    found = status(*bases)
    columns = [Column(name, of) for name, of in {**TYPES, **types}.items()]
    listing = GroupListing(definition, BASES, found, columns, spark)
    return listing.plan(MERGES, references_to_ask(definition, found, MERGES), stored), asked


def test_few_groups_are_literals() -> None:
    found, (sql,) = plan([("EU", 2, 7, 19_000, 1, 1), ("EU", 2, 9, 18_000, 2, -1), (None, 1, None, None, 0, 1)])
    rows = (
        ("'EU'", "2L", "7L", "DATE '2022-01-08'", "1L", "1"),
        ("'EU'", "2L", "9L", "DATE '2019-04-14'", "2L", "-1"),
        ("CAST(NULL AS string)", "1L", "CAST(NULL AS bigint)", "CAST(NULL AS date)", "0L", "1"),
    )
    assert isinstance(found, Merge) and found.listed == ListedGroups(NAMES, rows)
    assert sql.endswith("GROUP BY `region`, `icebergmv_state_sign`\n) LIMIT 10001")
    assert "max(`icebergmv_adds_2`)" in sql and "try_sum(`icebergmv_adds_1`)" in sql
    query = query_of_listed(found.listed)
    assert query.sign == "`icebergmv_state_sign`" and query.text.count("('EU', 2L, ") == 2


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no row of the view can be affected (t: 1 day changed)"),
        ([("EU", 2, 7, 1, 1, 1), ("EU", 2, 7, 1, 1, -1)], "every group of the view stays as it is (t: 1 day changed)"),
        ([("EU", 0, None, None, 0, 1)], "every group of the view stays as it is (t: 1 day changed)"),
    ],
)
def test_where_no_group_changes_nothing_is_done(rows: Sequence[Row], reason: str) -> None:
    assert plan(rows)[0] == NoOp(reason)


def test_a_value_more_or_less_is_a_change() -> None:
    """Of another group, and of another state; the same group twice with one sign does not come."""
    for rows in (
        [("EU", 2, 7, 1, 1, 1), ("US", 2, 7, 1, 1, -1)],
        [("EU", 2, 7, 1, 1, 1), ("EU", 2, 8, 1, 1, -1)],
        [("EU", 2, None, 1, 1, 1), ("EU", 2, 0, 1, 1, -1)],
        [("EU", 2, 7, 1, 1, 1)],
    ):
        found, _ = plan(rows)
        assert isinstance(found, Merge) and found.listed is not None and len(found.listed.rows) == len(rows)


def test_a_sum_that_is_lost_is_not_the_same() -> None:
    """The statement that writes refuses it then."""
    for rows in (
        [("EU", 2, None, 1, 2, 1), ("EU", 2, None, 1, 2, -1)],
        [("EU", 2, None, 1, 2, 1), ("EU", 2, None, 1, 2, -1), ("US", 1, 1, 1, 1, 1)],
    ):
        found, _ = plan(rows)
        assert isinstance(found, Merge) and found.listed is not None and len(found.listed.rows) == len(rows)
    assert isinstance(plan([("EU", 2, None, 1, 0, 1), ("EU", 2, None, 1, 0, -1)])[0], NoOp)


def test_an_average_may_be_another_one_for_the_same_sum() -> None:
    """Where another group changes, the statement that writes looks at all of them."""
    means = analysed("SELECT region, avg(v) AS a, count(*) AS n FROM t WHERE v > 2 GROUP BY region")
    types = ("string", "double", "bigint", "bigint", "bigint", "decimal(38,11)")
    names = ("region", "a", "n", *(f"icebergmv_state_{n}" for n in range(3)))
    same = [("EU", 2, 7, 2, "7.00000000000", sign) for sign in (1, -1)]
    columns = [Column(name, of) for name, of in zip(names, types, strict=True)]
    for rows, expected in ((same, None), ([*same, ("US", 1, 1, 1, "1.00000000000", 1)], Merge)):
        found = status(sized(DAY, 10))
        listing = GroupListing(means, BASES, found, columns, lambda sql, rows=rows: rows)
        planned = listing.plan(MERGES, references_to_ask(means, found, MERGES), 5)
        assert planned is None if expected is None else isinstance(planned, expected)
    assert isinstance(planned, Merge) and planned.listed is not None and len(planned.listed.rows) == 1


def test_long_texts_are_merged_from_the_tables() -> None:
    """Of each the beginning is asked, and a thousand texts of a hundred characters are too many."""
    (_, (sql,)) = plan([])
    assert "left(`region`, 1001) AS v0" in sql
    for rows in ([("x" * 1001, 1, 1, 1, 1, 1)], [(f"{n:0900}", 1, 1, 1, 1, 1) for n in range(120)]):
        found, _ = plan(rows)
        assert isinstance(found, Merge) and found.listed is None
    found, _ = plan([("x" * 1000, 1, 1, 1, 1, 1)])
    assert isinstance(found, Merge) and found.listed is not None


def test_many_groups_are_merged_without_another_question() -> None:
    """Groups that stay as they are do not count, unless they are too many to be looked at."""
    same = [(f"same {n}", 1, 1, 1, 1, sign) for n in range(500) for sign in (1, -1)]
    few, _ = plan([*same, *((str(n), 1, 1, 1, 1, 1) for n in range(333))])
    many, _ = plan([(str(n), 1, 1, 1, 1, 1) for n in range(334)])
    alike, _ = plan([(str(n), 1, 1, 1, 1, sign) for n in range(5001) for sign in (1, -1)])
    assert isinstance(few, Merge) and few.listed is not None and len(few.listed.rows) == 333
    assert isinstance(many, Merge) and many.listed is None
    assert isinstance(alike, Merge) and alike.listed is None


def test_decimals_keep_their_digits() -> None:
    found, (sql,) = plan([("EU", 2, "0E-11", 1, 1, 1)], s="decimal(38,11)")
    assert isinstance(found, Merge) and found.listed is not None
    assert found.listed.rows[0][2] == "CAST('0E-11' AS decimal(38,11))"
    assert "CAST(`icebergmv_adds_1` AS string) AS v2" in sql
    assert "try_cast(try_sum(`icebergmv_adds_1`) AS decimal(38,11))" in sql


TWO = analysed("SELECT a.region, count(*) AS n, sum(b.v) AS s FROM t a JOIN u b ON a.id = b.id GROUP BY a.region")
SUBQUERY = analysed(
    "SELECT region, sum(v) AS s, count(*) AS n FROM t WHERE v > 2 AND id IN (SELECT id FROM u) GROUP BY region"
)


@pytest.mark.parametrize(
    ("definition", "bases", "stored", "types"),
    [
        (SUMS, [sized(DAY, 10)], MOST_GROUPS + 1, {}),
        (SUMS, [sized(DAY, 10)], None, {}),
        (SUMS, [sized(DAY, 10)], 5, {"last": "timestamp_ntz"}),
        (TWO, [sized(DAY, 10), sized(DAY, 10, "u", 1)], 5, {}),
        (SUBQUERY, [sized(DAY, 10), sized(change(status="fresh"), 10, "u", 1)], 5, {}),
        (analysed("SELECT region, median(v) AS m FROM t GROUP BY region"), [sized(DAY, 10)], 5, {}),
    ],
)
def test_what_is_not_listed(
    definition: ViewDefinition, bases: Sequence[BaseTableStatus], stored: int | None, types: dict[str, str]
) -> None:
    """Many groups, values without literals, several changes, subqueries that can be left out first, no merge."""
    assert plan([], definition, bases, stored, **types) == (None, [])


def test_a_text_that_is_not_utf_8_is_not_listed() -> None:
    assert plan([("\ufffd", 1, 1, 1, 1, 1)])[0] is None
