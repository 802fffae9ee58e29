"""`dbt run-operation materialized_view_status` and `explain_materialized_view`, in a project without any Java."""

from __future__ import annotations

import json
import logging
import re
import socket
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from dbt.adapters.icebergmv import operations
from dbt.adapters.icebergmv.maintenance.reports import explanation
from dbt.adapters.icebergmv.maintenance.status.session.clock import utc_now
from tests.refresh.refreshes import ORDERS, sell
from tests.support.dry_project import DryProject
from tests.support.shares import one_of

pytestmark = pytest.mark.slow

TOTALS = "select region, sum(amount) as total from lake.ns.orders group by region"
COLUMNS = (("region", "string"), ("total", "bigint"))
DAYS = "select day, sum(amount) as total from lake.ns.orders group by day"
DAYS_COLUMNS = (("day", "date"), ("total", "bigint"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DryProject]:
    # Whoever starts Spark all the same fails.
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no java"))
    made = DryProject(tmp_path / "project")
    made.table("orders", ORDERS, "region")
    sell("EU", "US")({"orders": made.lake.iceberg.load_table("ns.orders")})
    made.model("totals", TOTALS)
    made.refresh("totals", TOTALS, COLUMNS)
    yield made
    made.close()


def add_catalog(project: DryProject, name: str, properties: dict[str, str], reader: str) -> None:
    """Describe another catalog in the profile."""
    file = project.folder / "profiles.yml"
    profiles = yaml.safe_load(file.read_text())
    described = {f"spark.sql.catalog.{name}.{key}": value for key, value in properties.items()}
    profiles["p"]["outputs"]["dev"].update({"server_side_parameters": described, "catalog_reader": reader})
    file.write_text(yaml.safe_dump(profiles))


def sell_more(project: DryProject) -> None:
    sell("EU")({"orders": project.lake.iceberg.load_table("ns.orders")})


def statuses(project: DryProject, select: str = "") -> dict[str, Any]:
    """Return the reported statuses by the name of the view."""
    success, text = project.operation("materialized_view_status", f"{{format: json, select: {select or 'null'}}}")
    assert success, text
    return {found["name"].split(".")[-1]: found for found in json.loads(text)}


def test_fresh_stale_new_and_gone(project: DryProject) -> None:
    assert statuses(project)["totals"]["state"] == "fresh"
    project.model("days", DAYS)
    project.refresh("old", TOTALS, COLUMNS)
    sell_more(project)
    found = statuses(project)
    assert {name: view["state"] for name, view in found.items()} == {"totals": "stale", "days": "new", "old": "stale"}
    assert found["totals"]["next"]["kinds"] == ["overwrite"]
    assert found["old"]["next"] is None
    assert "no model of this project" in found["old"]["note"]
    assert project.refresh("totals", TOTALS, COLUMNS).kind == "overwrite"
    assert statuses(project)["totals"]["state"] == "fresh"


@pytest.mark.long
def test_a_view_is_explained_as_a_part_of_the_same_run(project: DryProject) -> None:
    above = "select region, total + 1 as total from lake.ns.totals"
    project.model("above", f"-- depends_on: {{{{ ref('totals') }}}}\n{above}")
    project.refresh("above", above, COLUMNS)
    assert statuses(project)["above"]["next"]["kinds"] == ["none"]
    sell_more(project)
    said = statuses(project)
    assert said["above"]["next"]["questions"] == ["what comes of lake.ns.totals, which the same run builds first"]
    for model in ("null", "above"):
        success, text = project.operation("explain_materialized_view", f"{{format: json, model: {model}}}")
        assert success, text
        explained = {e["name"].split(".")[-1]: e["status"] for e in json.loads(text)}
        assert {name: view["next"] for name, view in explained.items()} == {
            name: said[name]["next"] for name in explained
        }


@pytest.mark.long
def test_a_view_that_is_a_table_and_has_lost_its_model(project: DryProject) -> None:
    project.refresh("old", TOTALS, COLUMNS, layout="table")
    project.model("sums", TOTALS)
    project.refresh("sums", TOTALS, COLUMNS, layout="table")
    found = statuses(project)
    assert {*found} == {"totals", "old", "sums"}
    assert "no model of this project" in found["old"]["note"]
    assert found["sums"]["note"] is None
    assert {*statuses(project, "old")} == {"old"}


@pytest.mark.long
def test_a_view_whose_model_became_ephemeral_has_none(project: DryProject) -> None:
    project.refresh("old", TOTALS, COLUMNS)
    project.model("old", "{{ config(materialized='ephemeral') }} " + TOTALS)
    assert "no model of this project" in statuses(project)["old"]["note"]


@pytest.mark.long
def test_what_is_wrong_with_one_model_hides_no_other(project: DryProject) -> None:
    project.model("unknown_macro", "select {{ nothing_of_this_name() }} from lake.ns.orders")
    project.model("unnamed", "select 1 + 1 from lake.ns.orders")
    project.model("no_sql", "select frm where")
    found = statuses(project)
    assert found["totals"]["state"] == "fresh"
    assert "nothing_of_this_name" in found["unknown_macro"]["error"]
    assert "has no name" in found["unnamed"]["error"]
    assert found["no_sql"]["next"]["questions"] or found["no_sql"]["limits"]


@pytest.mark.long
def test_a_model_that_asks_spark_while_it_is_compiled_is_judged_by_its_last_select(project: DryProject) -> None:
    project.model("totals", "{% set found = run_query('select 1') %} " + TOTALS)
    project.model("never", "{% set said, rows = adapter.execute('select 1', fetch=true) %} select 1 as a")
    found = statuses(project)
    assert (found["totals"]["state"], found["totals"]["error"]) == ("fresh", None)
    assert found["totals"]["next"]["kinds"] == ["none", "full"]
    assert "because it asks Spark while it is compiled" in found["totals"]["next"]["questions"][0]
    assert (found["never"]["state"], found["never"]["next"]["kinds"]) == ("new", ["full"])
    assert "so it is known when it runs" in found["never"]["note"]
    success, text = project.operation("explain_materialized_view", "{format: json}")
    assert success, text
    explained = {view["name"].split(".")[-1]: view for view in json.loads(text)}
    assert explained["totals"]["verdict"] == "incremental"
    assert explained["totals"]["status"]["next"] == found["totals"]["next"]
    assert explained["never"]["verdict"] == "unknown"
    _, said = project.operation("explain_materialized_view", "{}")
    assert re.search("never +materialized_view +not known yet +its SELECT asks Spark", said)


@pytest.mark.long
def test_a_model_that_asks_spark_may_be_configured_wrongly_before_it_is_built(project: DryProject) -> None:
    project.model("never", "{{ config(refresh_policy='often') }} {% set found = run_query('select 1') %} select 1 as a")
    found = statuses(project)["never"]
    assert found["state"] == "error"
    assert "refresh_policy" in found["error"]


@pytest.mark.parametrize(
    ("setting", "kinds"),
    one_of(
        3,
        [
            ("on_configuration_change='continue'", ["overwrite", "none"]),
            ("on_configuration_change='fail'", ["overwrite", "error"]),
            ("refresh_policy='incremental_strict'", ["overwrite", "full", "error"]),
        ],
    ),
)
@pytest.mark.long
def test_what_a_changed_select_would_come_to(project: DryProject, setting: str, kinds: list[str]) -> None:
    project.model("totals", "{{ config(" + setting + ") }} {% set found = run_query('select 1') %} " + TOTALS)
    sell_more(project)
    assert statuses(project)["totals"]["next"]["kinds"] == kinds


@pytest.mark.parametrize(
    ("kind", "scheme", "reader", "cannot"),
    one_of(2, [("rest", "http", "auto", "open"), ("hive", "thrift", "direct", "read")]),
)
def test_a_catalog_that_is_down_hides_no_other(
    project: DryProject, monkeypatch: pytest.MonkeyPatch, kind: str, scheme: str, reader: str, cannot: str
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(operations, "warn_or_error", told.append)
    # What the client of a metastore logs would be printed beside the JSON.
    monkeypatch.setattr(logging.getLogger("thrift.transport.TSocket"), "disabled", True)
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        uri = f"{scheme}://127.0.0.1:{probe.getsockname()[1]}"
    add_catalog(project, "other", {"type": kind, "uri": uri}, reader)
    project.model("elsewhere", "{{ config(database='other') }} select 1 as a")
    project.refresh("old", TOTALS, COLUMNS)
    found = statuses(project)
    assert {name: view["state"] for name, view in found.items()} == {
        "totals": "fresh",
        "old": "fresh",
        "elsewhere": "error",
    }
    message = f"Cannot {cannot} the catalog `other`: nothing answers at `{uri}`. Start the server"
    assert message in found["elsewhere"]["error"]
    (warning,) = [event.base_msg for event in told]
    assert warning.startswith("Materialized views of the catalog other that are of no model may be missing. Cannot ")
    assert message in warning


def test_a_table_that_pyiceberg_does_not_understand_hides_no_other(
    project: DryProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(operations, "warn_or_error", told.append)
    project.lake.iceberg.create_table("ns.with_variant", Schema(NestedField(1, "j", LongType(), required=False)))
    file = Path(unquote(urlsplit(project.lake.iceberg.load_table("ns.with_variant").metadata_location).path))
    file.write_text(file.read_text().replace('"type":"long"', '"type":"variant"'))
    project.refresh("old", TOTALS, COLUMNS)
    assert {name: view["state"] for name, view in statuses(project).items()} == {"totals": "fresh", "old": "fresh"}
    assert told == []


@pytest.mark.long
def test_selected_views_alone(project: DryProject) -> None:
    project.model("days", DAYS)
    assert {*statuses(project, "totals")} == {"totals"}
    assert {*statuses(project, "[days, 'tot*']")} == {"totals", "days"}
    success, _ = project.operation("materialized_view_status", "{select: nothing}")
    assert not success
    success, _ = project.operation("materialized_view_status", "{format: xml}")
    assert not success


def test_a_table_for_people(project: DryProject) -> None:
    sell_more(project)
    success, text = project.operation("materialized_view_status")
    assert success
    assert text.startswith("1 materialized view: 1 stale\n")
    assert "orders: 1 partition changed (1 row appended)" in text


@pytest.mark.long
def test_refs_and_ephemeral_models_are_compiled(project: DryProject) -> None:
    project.model("some", "{{ config(materialized='ephemeral') }} select * from lake.ns.orders where amount > 1")
    project.model("both", "select s.region, t.total from {{ ref('some') }} s join {{ ref('totals') }} t using (region)")
    found = statuses(project)["both"]
    assert found["state"] == "new"
    assert sorted(base["name"] for base in found["base_tables"]) == ["lake.ns.orders", "lake.ns.totals"]


@pytest.mark.long
def test_a_view_over_one_that_the_same_run_refreshes(project: DryProject) -> None:
    # The rows that are written here hold no values: a condition that NULL does not pass would rule them out.
    through = "select region, total from {} where coalesce(total, 1) > 0"
    project.model("above", through.format("{{ ref('totals') }}"))
    project.refresh("above", through.format("`lake`.`ns`.`totals`"), COLUMNS)
    fresh = statuses(project)["above"]
    assert (fresh["state"], fresh["next"]["kinds"]) == ("fresh", ["none"])
    sell_more(project)
    found = statuses(project, "above")["above"]
    assert found["state"] == "fresh"
    assert found["next"]["kinds"] == ["append", "overwrite", "full", "none"], "no group to merge"
    assert found["next"]["questions"] == ["what comes of lake.ns.totals, which the same run builds first"]
    project.model("above", "{{ config(refresh_policy='incremental_strict') }}" + through.format("{{ ref('totals') }}"))
    strict = statuses(project, "above")["above"]["next"]
    assert strict["kinds"] == ["append", "overwrite", "error", "none"]
    assert strict["refusal"].startswith("refresh_policy is incremental_strict")
    project.model("above", through.format("{{ ref('totals') }}"))
    project.model("totals", TOTALS + " -- the same\nhaving sum(amount) > 0")
    found = statuses(project, "above")["above"]
    assert {*found["next"]["kinds"]} == {"none", "append", "overwrite", "merge", "full"}, "it may have other columns"
    project.refresh("totals", TOTALS, COLUMNS)
    assert statuses(project)["above"]["state"] == "stale"


@pytest.mark.long
def test_a_view_over_a_table_that_every_run_makes(project: DryProject) -> None:
    project.model("made", "{{ config(materialized='table') }} select * from lake.ns.orders")
    project.plain_view("passed_on", "select * from `lake`.`ns`.`made`")
    project.model("passed_on", "{{ config(materialized='view') }} select * from {{ ref('made') }}")
    project.model("totals", "-- depends_on: {{ ref('passed_on') }}\n" + TOTALS)
    found = statuses(project)["totals"]
    assert found["state"] == "fresh"
    assert "lake.ns.made, which the same run builds first" in found["next"]["questions"][0]


@pytest.mark.long
def test_a_plain_view_that_the_run_gives_another_select(project: DryProject) -> None:
    """The run that changes the plain view refreshes what reads it."""
    select = "select region, amount from lake.ns.orders"
    project.plain_view("passed_on", select, "region", "amount")
    project.model("passed_on", "{{ config(materialized='view') }}\n" + select + "  -- as it is")
    reads = "select region, sum(amount) as total from {} group by region"
    project.model("above", reads.format("{{ ref('passed_on') }}"))
    project.refresh("above", reads.format("`lake`.`ns`.`passed_on`"), COLUMNS)
    assert statuses(project)["above"]["next"]["kinds"] == ["none"]
    project.model("passed_on", "{{ config(materialized='view') }}\n" + select + " where amount > 0")
    found = statuses(project, "above")["above"]["next"]
    assert "full" in found["kinds"]
    assert found["questions"] == ["what comes of lake.ns.passed_on, which the same run builds first"]


def explained(project: DryProject, model: str) -> Any:
    success, text = project.operation("explain_materialized_view", f"{{model: {model}, format: json}}")
    assert success, text
    return json.loads(text)


def test_explain_a_view(project: DryProject) -> None:
    sell_more(project)
    (found,) = explained(project, "totals")
    assert found["verdict"] == "incremental"
    assert found["considered"][0]["kind"] == "overwrite"
    assert "REPLACE WHERE" in found["sql"]["statements"][0]
    success, text = project.operation("explain_materialized_view", "{model: totals}")
    assert success
    assert "region  follows lake.ns.orders.region as it is" in text


@pytest.mark.long
def test_explain_what_an_incremental_model_would_be(project: DryProject) -> None:
    # Its own table is there, so that is_incremental() would be true of it.
    project.table("by_hand", ORDERS, "region")
    project.model(
        "by_hand",
        "{{ config(materialized='incremental') }} select id, region from lake.ns.orders "
        "{% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}",
    )
    (found,) = explained(project, "by_hand")
    assert (found["verdict"], found["status"]) == ("incremental", None)
    assert [base["name"] for base in found["base_tables"]] == ["lake.ns.orders"]
    assert found["base_tables"][0]["rows_added"]["kinds"] == ["append"]


@pytest.mark.long
def test_explain_the_project(project: DryProject) -> None:
    project.model("some", "{{ config(materialized='table') }} select region from lake.ns.orders limit 3")
    success, text = project.operation("explain_materialized_view")
    assert success
    lines = text.splitlines()
    assert lines[0] == "2 models: 1 incremental, 1 always full"
    assert any(line.startswith("ns.some") and "LIMIT may pick other rows" in line for line in lines)
    assert any(line.startswith("ns.totals") and line.endswith("orders: overwrite") for line in lines)
    success, _ = project.operation("explain_materialized_view", "{model: nothing}")
    assert not success


@pytest.mark.long
def test_all_models_are_explained_at_one_moment(project: DryProject, monkeypatch: pytest.MonkeyPatch) -> None:
    moments: list[datetime] = []

    def now() -> datetime:
        moments.append(utc_now())
        return moments[-1]

    monkeypatch.setattr(explanation, "utc_now", now)
    project.model("days", DAYS)
    project.model("at_the_top", "{{ config(materialized='table') }} select region from lake.ns.orders limit 3")
    found = explained(project, "null")
    assert [(e["name"], e["verdict"]) for e in found] == [
        ("lake.ns.at_the_top", "full"),
        ("lake.ns.days", "incremental"),
        ("lake.ns.totals", "incremental"),
    ]
    assert len(moments) == 1
