"""New rows all over a large table, while another table changed: they are added beside what the other change replaces."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pyspark.sql import SparkSession

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.stitching.current_rows import current_query
from dbt.adapters.icebergmv.reading import read_materialized_view
from integration.support.following import assert_follows, built, except_later
from integration.support.lake import LakeProject

JOINED = "{facts} f join {customers} c on f.customer = c.id"
VIEWS = {
    "enriched": f"select f.id, f.day, f.amount, c.id as customer, c.country from {JOINED}",
    "renamed": f"select f.id as fact, f.amount, c.country from {JOINED} where f.amount >= 0",
    "outer": "select f.id, f.day, f.customer, c.country from {facts} f left join {customers} c on f.customer = c.id",
    "without": "select f.id, f.day, f.customer from {facts} f left anti join {customers} c on f.customer = c.id",
    "stacked": "select id, day, 'fact' as source from {facts} union all select id, null, country from {customers}",
}
TABLES = {
    "facts": "PARTITIONED BY (day) AS SELECT cast(id AS int) AS id, date_add(date'2024-01-01', cast(id % 6 AS int)) AS day,"
    " cast(if(id % 50 = 49, null, id % 50) AS int) AS customer, cast(id % 11 AS int) AS amount FROM range(120000)",
    "customers": "AS SELECT cast(id AS int) AS id, concat('c', id % 5) AS country FROM range(40)",
}
NEW_ROWS = (
    "INSERT INTO {facts} SELECT id + 1000000, day, customer, amount FROM {facts} WHERE id < 120000 AND id % 1000 < 60"
)
CHANGES: Mapping[str, tuple[list[str], Mapping[str, str]]] = {
    "a customer changed": (
        [NEW_ROWS, "UPDATE {customers} SET country = 'x''y' WHERE id = 7"],
        {"enriched": "overwrite", "renamed": "overwrite", "outer": "overwrite", "stacked": "overwrite"},
    ),
    "a customer went and one came": (
        [NEW_ROWS, "DELETE FROM {customers} WHERE id = 8", "INSERT INTO {customers} VALUES (45, null)"],
        dict.fromkeys(VIEWS, "overwrite"),
    ),
    "a customer came": (
        [NEW_ROWS, "INSERT INTO {customers} VALUES (46, 'new'), (47, null)"],
        {"enriched": "append", "renamed": "append", "outer": "overwrite", "without": "overwrite", "stacked": "append"},
    ),
    "no customer changed": (
        [NEW_ROWS, "INSERT OVERWRITE {customers} SELECT * FROM {customers}"],
        dict.fromkeys(VIEWS, "append"),
    ),
}


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    return built(lake, "beside_", TABLES, VIEWS, [*VIEWS])


LATER = ("a customer went and one came", "a customer came", "no customer changed")


@pytest.mark.parametrize("change", except_later(CHANGES, LATER))
def test_new_rows_are_added_beside_what_another_change_replaces(
    change: str, tables: dict[str, str], lake: LakeProject
) -> None:
    found = assert_follows(lake, tables, CHANGES[change], [*VIEWS])
    for name, response in found.items():
        assert "facts: " in response["refresh_reason"], name
        assert " rows appended" in response["refresh_reason"], (name, response["refresh_reason"])
        assert response["rows_affected"] < 40_000, (name, response["rows_affected"])


def test_a_read_adds_them_too(tables: dict[str, str], lake: LakeProject) -> None:
    for statement in (NEW_ROWS, "UPDATE {customers} SET country = 'z' WHERE id = 9"):
        lake.sql(statement.format(**tables))
    view = ("lake", lake.schema, "enriched")
    assert current_query(Lake(lake.reader(), lake.session({})), view).count("UNION ALL") == 2
    now = read_materialized_view(SparkSession.active(), ".".join(view))
    assert sorted(map(repr, now.collect())) == sorted(map(repr, lake.sql(lake.definition("enriched"))))
