"""More keys than a predicate takes: they are listed in one text, and the rows of each are replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import yaml

from integration.support.following import among, assert_follows, built, except_later
from integration.support.lake import LakeProject
from integration.support.spark_settings import with_settings

NAMED = "{facts} f join {names} n on f.customer = n.id"
VIEWS = {
    "by_customer": "select customer, count(distinct product) as n, median(amount) as m from {facts} group by customer",
    "numbered": "select id, customer, amount, row_number() over (partition by customer order by id) as place"
    " from {facts}",
    "by_name": f"select n.name, median(f.amount) as m from {NAMED} group by n.name",
    "by_moment": f"select n.at, count(distinct f.product) as n from {NAMED} group by n.at",
    "by_day": f"select n.day, max(f.amount) as best, median(f.amount) as m from {NAMED} group by n.day",
    "outer": "select n.name, n.id, f.products from {names} n left join (select customer, count(distinct product) as products"
    " from {facts} group by customer) f on f.customer = n.id",
    "unsold": "select n.id, n.name from {names} n left anti join {facts} f on f.customer = n.id",
    "pairs": "select distinct customer, product from {facts} where amount > 3",
}
TABLES = {
    "facts": "TBLPROPERTIES ('write.metadata.metrics.default'='none') AS SELECT cast(id AS int) AS id,"
    " cast(if(id % 20000 = 19, null, id % 20000) AS int) AS customer, cast(id % 7 AS int) AS product,"
    " cast(id % 11 AS int) AS amount FROM range(40000)",
    "names": "TBLPROPERTIES ('write.metadata.metrics.default'='none') AS SELECT cast(id AS int) AS id,"
    " concat(array('', 'it\\'s ', 'a,b;', '$x\\\\')[id % 4], if(id % 3 = 0, '~#', 'é'), if(id % 20000 = 3, '', id))"
    " AS name, timestamp_millis(id * 1000003) AS at, date_add(date'1930-01-01', cast(id AS int)) AS day"
    " FROM range(21000)",
}
OVERWRITE = dict.fromkeys(VIEWS, "overwrite")
ROUNDS = {
    "a thirteenth of the customers": (
        ["UPDATE {facts} SET amount = amount + 1 WHERE customer % 13 = 0 OR customer IS NULL"],
        {**OVERWRITE, **dict.fromkeys(["by_moment", "outer", "unsold"], "none")},
    ),
    "their rows go": (
        ["DELETE FROM {facts} WHERE customer % 13 = 1"],
        OVERWRITE,
    ),
    "to other customers": (
        ["UPDATE {facts} SET customer = if(id % 2 = 0, customer + 1, null) WHERE customer % 26 = 2"],
        OVERWRITE,
    ),
    "new ones, and names": (
        [
            "INSERT INTO {facts} SELECT id + 50000, 20000 + id % 1000, 3, 9 FROM range(1300)",
            "UPDATE {names} SET name = concat(name, '\\'') WHERE id % 17 = 0 OR id > 20500",
        ],
        {"by_customer": "overwrite", "by_name": "overwrite", "outer": "overwrite"},
    ),
    "a quarter of the customers": (
        ["UPDATE {facts} SET amount = amount + 1 WHERE customer % 4 = 0"],
        {"by_customer": "full", "numbered": "full", "unsold": "none"},
    ),
}


IN_EVERY_RUN = ("by_customer", "numbered", "outer", "unsold")
OTHERS = [name for name in VIEWS if name not in IN_EVERY_RUN]


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    return built(lake, "many_", TABLES, VIEWS, IN_EVERY_RUN)


@pytest.fixture(scope="module")
def other_tables(lake: LakeProject) -> dict[str, str]:
    return built(lake, "other_many_", TABLES, VIEWS, OTHERS)


LATER = ("a quarter of the customers", "their rows go", "to other customers", "new ones, and names")


@pytest.mark.parametrize("change", except_later(ROUNDS, LATER))
def test_rows_of_many_keys_are_replaced(lake: LakeProject, tables: dict[str, str], change: str) -> None:
    found = assert_follows(lake, tables, among(ROUNDS[change], IN_EVERY_RUN), IN_EVERY_RUN)
    if "a quarter" in change:
        assert re.match(r"cheaper than an overwrite of 2\d% of the rows by", found["numbered"]["refresh_reason"])


@pytest.mark.long
@pytest.mark.parametrize("change", ROUNDS)
def test_rows_of_many_keys_of_others(lake: LakeProject, other_tables: dict[str, str], change: str) -> None:
    assert_follows(lake, other_tables, among(ROUNDS[change], OTHERS), OTHERS)


@pytest.fixture
def ansi(lake: LakeProject) -> Iterator[None]:
    """The session and the profile in ANSI mode, as Spark 4 is by default."""
    profile = lake.folder / "profiles.yml"
    kept = profile.read_text()
    settings = yaml.safe_load(kept)
    for target in settings["p"]["outputs"].values():
        target.setdefault("server_side_parameters", {})["spark.sql.ansi.enabled"] = "true"
    profile.write_text(yaml.safe_dump(settings))
    with with_settings({"spark.sql.ansi.enabled": "true"}):
        yield
    profile.write_text(kept)


@pytest.mark.usefixtures("ansi")
def test_keys_beyond_the_type_of_a_joined_column(lake: LakeProject) -> None:
    """Spark compares a bigint with an int as bigints. In ANSI mode it fails to make an int of a larger number."""
    facts, names = f"lake.{lake.schema}.ansi_facts", f"lake.{lake.schema}.ansi_names"
    lake.sql(
        f"CREATE TABLE {facts} USING iceberg TBLPROPERTIES ('write.metadata.metrics.default'='none') AS"
        " SELECT id, if(id % 2 = 0, id, 3000000000 + id) AS customer, id % 7 AS amount FROM range(20000)"
    )
    lake.sql(f"CREATE TABLE {names} USING iceberg AS SELECT cast(id AS int) AS customer FROM range(20000)")
    lake.model(
        "with_names",
        f"select customer, f.m, n.customer is not null as known from (select customer, median(amount) as m from {facts}"
        f" group by customer) f left join {names} n using (customer)",
    )
    lake.run("--select", "with_names")
    lake.sql(f"UPDATE {facts} SET amount = amount + 1 WHERE id % 13 = 0")
    found = lake.run("--select", "with_names")["with_names"]
    lake.assert_equals_definition("with_names")
    assert (found["refresh_kind"], found["rows_affected"]) == ("overwrite", 1539)


@pytest.mark.long
def test_new_rows_that_reach_all_groups(lake: LakeProject) -> None:
    """What new rows reach may be new groups: the stored ones are counted before all of them are overwritten."""
    visits = f"lake.{lake.schema}.visits_of_all"
    row = "id, concat('c', {}) AS country, id % 977 AS guest"
    lake.sql(f"CREATE TABLE {visits} USING iceberg AS SELECT {row.format('id % 50')} FROM range(150000)")
    lake.model("guests", f"select country, count(distinct guest) as guests from {visits} group by country")
    lake.run("--select", "guests")
    steps = [
        ("id % 60", 60, "full", "cheaper than an overwrite of 100% of the rows by their keys ("),
        ("60 + id % 55", 60, "overwrite", "visits_of_all: 60 rows appended"),
        ("id % 100", 90, "overwrite", "visits_of_all: 90 rows appended"),
    ]
    for country, rows, kind, reason in steps:
        lake.sql(f"INSERT INTO {visits} SELECT {row.format(country)} FROM range({rows})")
        found = lake.run("--select", "guests")["guests"]
        assert (found["refresh_kind"], found["refresh_reason"][: len(reason)]) == (kind, reason), country
        lake.assert_equals_definition("guests")
