"""A view below that was read as its SELECT is stored again: its rows may be others than those that its SELECT gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.support.lake import LakeProject
from tests.support.shares import one_of

CASES = {
    "limit": ("select k from {base} order by rand() limit 3", {}),
    "rand": ("select k, rand() as r from {base}", {}),
    "first": ("select d, first(k) as k from (select * from {base} order by rand()) group by d", {}),
    "ties": ("select k, row_number() over (order by d, rand()) as n from {base}", {}),
    "written_at": ("select k, current_timestamp() as loaded_at from {base}", {"written_at_columns": ["loaded_at"]}),
}


@pytest.mark.parametrize("case", one_of(len(CASES), CASES))
def test_a_select_that_gives_other_rows(lake: LakeProject, case: str) -> None:
    select, config = CASES[case]
    base, low, high = f"lake.{lake.schema}.base_{case}", f"low_{case}", f"high_{case}"
    lake.sql(
        f"CREATE TABLE {base} USING iceberg AS SELECT cast(id % 2 as int) AS d, cast(id as int) AS k FROM range(40)"
    )
    lake.model(low, select.format(base=base), stale_read_behavior="use_view_query", **config)
    lake.model(high, f"select * from {{{{ ref('{low}') }}}}")
    lake.run("--select", low, high)
    lake.model(low, select.format(base=base), **config)
    lake.run("--select", low, high)
    assert sorted(lake.rows(high)) == sorted(lake.rows(low))


def test_a_table_that_is_at_no_recorded_snapshot(lake: LakeProject, tmp_path: Path) -> None:
    base, rates = f"lake.{lake.schema}.base_of_rates", "spark_catalog.default.rates_of_others"
    lake.sql(f"CREATE TABLE {base} USING iceberg AS SELECT cast(id as int) AS k FROM range(3)")
    lake.sql(f"CREATE TABLE {rates} (k int, rate int) USING parquet LOCATION '{tmp_path}/rates'")
    try:
        lake.sql(f"INSERT INTO {rates} VALUES (0, 10), (1, 20)")
        select = f"select b.k, r.rate from {base} b join {rates} r on r.k = b.k"
        lake.model("low_of_rates", select, stale_read_behavior="use_view_query")
        lake.model("high_of_rates", "select * from {{ ref('low_of_rates') }}")
        lake.run("--select", "low_of_rates", "high_of_rates")
        lake.sql(f"INSERT OVERWRITE {rates} VALUES (0, 1000), (1, 2000)")
        lake.model("low_of_rates", select)
        lake.run("--select", "low_of_rates", "high_of_rates")
        assert sorted(lake.rows("high_of_rates")) == sorted(lake.rows("low_of_rates")) == [(0, 1000), (1, 2000)]
    finally:
        lake.sql(f"DROP TABLE {rates}")
