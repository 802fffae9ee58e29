"""How stored groups and changes are merged, as text. What comes of it is compared on DuckDB (tests/randomised)."""

from __future__ import annotations

from dbt.adapters.icebergmv.maintenance.planning.queries.delta_queries import SignedQuery
from dbt.adapters.icebergmv.maintenance.planning.queries.merged_groups import MergedGroups, can_merge
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from tests.randomised.tables import COLUMN_INFOS
from tests.support.analysis import analysed_in


def merged(sql: str, **types: str) -> str:
    """Return the query that merges the groups of a SELECT; all hidden columns but the first two are counts."""
    merging = analysed_in(sql, "ns", lambda _: COLUMN_INFOS, True).merging
    assert merging is not None
    columns = [Column(name, kind) for name, kind in types.items()]
    assert can_merge(merging, columns)
    return MergedGroups(merging, columns, True).query("STORED", [SignedQuery("CAME", "1"), SignedQuery("WENT", "-1")])


def test_averages_of_few_digits_are_of_doubles() -> None:
    """Spark averages the digits as whole numbers (DecimalAggregates), so a last digit may differ from the quotient."""
    sql = merged(
        "SELECT count(*) AS n, avg(v) AS a FROM t",
        n="bigint",
        a="decimal(14,6)",
        icebergmv_state_0="decimal(20,2)",
        icebergmv_state_1="bigint",
        icebergmv_state_2="decimal(38,11)",
    )
    assert (
        "CAST(CAST((`icebergmv_state_0` * 100BD) AS double) / CAST(`icebergmv_state_1` AS double) / 100D"
        " AS decimal(14, 6))" in sql
    )
    assert "coalesce(`icebergmv_state_2` >= 90071992547409.92, true)" in sql


def test_averages_of_more_digits_are_quotients() -> None:
    sql = merged(
        "SELECT count(*) AS n, avg(v) AS a FROM t",
        n="bigint",
        a="decimal(16,6)",
        icebergmv_state_0="decimal(22,2)",
        icebergmv_state_1="bigint",
        icebergmv_state_2="decimal(38,11)",
    )
    assert "CAST(`icebergmv_state_0` / CAST(`icebergmv_state_1` AS decimal(20, 0)) AS decimal(16, 6))" in sql
    assert "`icebergmv_state_1` >= 1000000000000" in sql


def test_struct_does_not_name_its_fields_after_states() -> None:
    sql = merged(
        "SELECT count(*) AS n, to_json(struct(count(*), max(v))) AS j FROM t",
        n="bigint",
        j="string",
        icebergmv_state_0="int",
    )
    assert "coalesce(`n`)" in sql
    assert "coalesce(`icebergmv_state_0`)" in sql
