"""Status and explain on a real lake: what they say before a run is what the run does, and they ask Spark nothing."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from typing import Any

import pytest
from pyspark.sql import SparkSession

from integration.support.lake import LakeProject

VIEWS = {
    "by_day": "select day, count(*) as orders, sum(amount) as total from lake.{0}.orders group by day",
    "rows": "select id, day, amount from lake.{0}.orders where amount > 0",
    "by_customer": "select customer, count(*) as orders, sum(amount) as total from lake.{0}.orders group by customer",
    "biggest": "select customer, max(amount) as most from lake.{0}.orders group by customer",
    "all_of_them": "select count(*) as orders, sum(amount) as total from lake.{0}.orders",
    "upper_customers": "select upper(customer) as name, max(amount) as most from lake.{0}.orders group by upper(customer)",
    "some": "select id from lake.{0}.orders order by id limit 3",
    "names": "select c.name, o.amount from lake.{0}.orders o join lake.{0}.customers c on o.customer = c.name",
    "busy_days": "select day, orders from {{{{ ref('by_day') }}}} where orders > 2",
    "busy": "select n, count(*) as customers from (select customer, count(*) as n from lake.{0}.orders group by customer) x group by n",
}
CHANGES = {
    "rows that came": "insert into {0}.orders values (100, 'bo', date'2024-01-02', 5)",
    "rows updated": "update {0}.orders set amount = amount + 1 where customer = 'al'",
    "rows deleted": "delete from {0}.orders where day = date'2024-01-01'",
    "the same rows": "update {0}.orders set amount = amount where id = 100",
    "no row": "delete from {0}.orders where id = -1",
    "another table": "insert into {0}.customers values ('zoe')",
    "compaction": "call lake.system.rewrite_data_files(table => '{0}.orders', options => map('rewrite-all', 'true'))",
}


@pytest.fixture(scope="module")
def shop(lake: LakeProject) -> LakeProject:
    """The lake with two tables and a project of views over them, of which none is built."""
    schema = f"lake.{lake.schema}"
    lake.sql(f"create table {schema}.orders (id int, customer string, day date, amount bigint) partitioned by (day)")
    lake.sql(f"create table {schema}.customers (name string)")
    lake.sql(f"insert into {schema}.customers values ('al'), ('bo')")
    days = ", ".join(f"({n}, '{'al' if n % 2 else 'bo'}', date'2024-01-0{n % 3 + 1}', {n})" for n in range(9))
    lake.sql(f"insert into {schema}.orders values {days}")
    for name, sql in VIEWS.items():
        lake.model(name, sql.format(lake.schema))
    return lake


def operation(lake: LakeProject, name: str, **arguments: Any) -> str:
    """Run an operation without Spark; return what it printed."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as printed:

        def refuse(self: object, statement: str, *_: object, **__: object) -> None:
            raise AssertionError(f"an operation asked Spark: {statement}")

        patch.setattr(SparkSession, "sql", refuse)
        answer = lake.dbt("--quiet", "run-operation", name, "--args", json.dumps(arguments))
    assert answer.success, printed.getvalue()
    return printed.getvalue()


def status_of(lake: LakeProject) -> dict[str, Any]:
    """Return the status of every view by its name."""
    found = json.loads(operation(lake, "materialized_view_status", format="json"))
    return {view["name"].rsplit(".", 1)[-1]: view for view in found}


def compare(lake: LakeProject, change: str) -> list[str]:
    """Return where a run differs from what status said of it just before."""
    said = status_of(lake)
    wrong = []
    for name, response in lake.run().items():
        expected = said[name]["next"]
        if response["refresh_kind"] not in expected["kinds"]:
            wrong.append(f"{change}, {name}: {expected} and then {response['refresh_kind']}")
        elif not expected["questions"] and response["refresh_reason"].split(";")[0] != expected["reason"].split(";")[0]:
            wrong.append(f"{change}, {name}: {expected['reason']} and then {response['refresh_reason']}")
        is_fresh = said[name]["state"] == "fresh" and not expected["questions"]
        if is_fresh and response["refresh_kind"] != "none":
            wrong.append(f"{change}, {name}: {response['refresh_kind']} of a fresh view")
    return wrong


def test_never_built_then_fresh(shop: LakeProject) -> None:
    assert {view["state"] for view in status_of(shop).values()} == {"new"}
    assert compare(shop, "the first run") == []
    assert {view["state"] for view in status_of(shop).values()} == {"fresh"}
    assert "10 materialized views: 10 fresh" in operation(shop, "materialized_view_status")


def test_the_run_does_what_was_said(shop: LakeProject) -> None:
    shop.run()
    wrong = []
    for change, statement in CHANGES.items():
        shop.sql(statement.format(f"lake.{shop.schema}" if not statement.startswith("call") else shop.schema))
        wrong += compare(shop, change)
    assert wrong == []
    shop.assert_equals_definition(*(name for name in VIEWS if name != "some"))


def test_explain_before_and_after_a_change(shop: LakeProject) -> None:
    shop.run()
    fresh = operation(shop, "explain_materialized_view", model="by_day")
    assert "nothing is computed" in fresh
    shop.sql(f"insert into lake.{shop.schema}.orders values (200, 'al', date'2024-01-03', 7)")
    stale = operation(shop, "explain_materialized_view", model="by_day")
    assert "REPLACE WHERE" in stale
    assert "follows" in stale
    project = operation(shop, "explain_materialized_view").splitlines()
    assert len([line for line in project if line.startswith(shop.schema)]) == len(VIEWS)
    assert shop.run("-s", "by_day")["by_day"]["refresh_kind"] == "overwrite"


def test_what_is_wrong_is_told_and_the_others_are_shown(shop: LakeProject) -> None:
    shop.run()
    shop.model("broken", "select {{ no_such_macro() }} from nowhere")
    shop.model("typo", f"select idd from lake.{shop.schema}.orders")
    shop.model("old", f"select max(id) as last from lake.{shop.schema}.orders")
    shop.dbt("run", "--quiet", "-s", "old")
    shop.remove_model("old")
    shop.sql(f"drop table lake.{shop.schema}.__mv_storage__by_day purge")
    found = status_of(shop)
    shop.remove_model("broken")
    shop.remove_model("typo")
    assert "idd is no column of a table that it reads" in found["typo"]["limits"]
    assert "no_such_macro" in found["broken"]["error"]
    assert (found["by_day"]["state"], found["by_day"]["next"]["reason"]) == ("lost", "its storage table was dropped")
    assert "no model of this project" in found["old"]["note"]
    assert found["rows"]["state"] == "fresh"
    assert shop.run("-s", "by_day")["by_day"]["refresh_kind"] == "full"
    assert status_of(shop)["by_day"]["state"] == "fresh"
