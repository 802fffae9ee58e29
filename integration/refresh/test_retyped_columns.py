"""Tables that are replaced by ones with another type for a column that partitions them, and that no view reads."""

from __future__ import annotations

import pytest

from integration.support.following import built
from integration.support.lake import LakeProject

VIEWS = {
    "rows": "select region, amount from {sales}",
    "totals": "select region, sum(amount) as amount, count(*) as n from {sales} group by region",
    "medians": "select region, median(amount) as m from {sales} group by region",
}
ROWS = "as select * from values (7, 'EU', 10), (8, 'US', 20), (9, 'US', 30) as s(customer, region, amount)"
AGAIN = (
    "create or replace table {sales} using iceberg partitioned by ({by}) as "
    "select cast(customer as {type}) as customer, region, amount from {sales} where customer <> 7"
)


@pytest.mark.parametrize(
    ("by", "type_"), [("bucket(16, customer)", "string"), ("customer", "string"), ("bucket(16, customer)", "bigint")]
)
def test_rows_that_went_are_found(lake: LakeProject, by: str, type_: str) -> None:
    prefix = f"retyped_{type_}_{len(by)}_"
    views = {f"{prefix}{name}": sql for name, sql in VIEWS.items()}
    tables = built(lake, prefix, {"sales": f"partitioned by ({by}) {ROWS}"}, views, [*views])
    lake.sql(AGAIN.format(**tables, by=by, type=type_))
    found = lake.run("--select", *views)
    lake.assert_equals_definition(*views)
    reasons = {name: one["refresh_reason"] for name, one in found.items()}
    assert {name for name, one in found.items() if one["refresh_kind"] == "none"} == set(), reasons
    assert found[f"{prefix}totals"]["refresh_kind"] != "full", reasons
