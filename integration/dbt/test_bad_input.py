"""Bad input: one clear error that names the model and the mend, and nothing that existed is touched."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from integration.support.lake import LakeProject


@pytest.fixture(scope="module")
def base(lake: LakeProject) -> str:
    table = f"lake.{lake.schema}.base"
    lake.sql(f"CREATE TABLE {table} (k string, ts timestamp, v int) USING iceberg PARTITIONED BY (k)")
    lake.sql(f"INSERT INTO {table} VALUES ('a', timestamp'2024-01-01 00:00:00Z', 1), (NULL, NULL, 2)")
    return table


@dataclass(frozen=True)
class Refusal:
    """A model that is refused, and words of its message. `{b}` in SQL is the base table, `{s}` the schema."""

    name: str
    sql: str
    config: dict[str, Any]
    words: list[str]


REFUSALS = (
    Refusal("unknown_column", "select k, v from {b}", {"partition_by": ["k", "days(ts)"]}, ["no column ts", "k, v"]),
    Refusal("duplicate", "select k, v, v as K from {b}", {}, ["two columns named", "AS"]),
    Refusal("duplicate_star", "select *, 1 as k from {b}", {}, ["two columns named", "AS"]),
    Refusal("unnamed", "select k, count(*) from {b} group by k", {}, ["no name", "COUNT(*)", "AS"]),
    Refusal("dialects", "select k from {b}", {"view_dialects": ["trino"]}, ["view_dialects", "layout table"]),
    Refusal(
        "reserved",
        "with icebergmv_base_0 as (select k from {b}) select k from icebergmv_base_0",
        {"stale_read_behavior": "use_stitching"},
        ["icebergmv_base_0", "Rename it"],
    ),
    Refusal(
        "strict_random",
        "select k, rand() as x from {b}",
        {"refresh_policy": "incremental_strict"},
        ["rand()", "auto"],
    ),
    Refusal("missing_table", "select k from lake.nowhere.nothing", {}, ["nowhere"]),
    Refusal("itself", "select k from lake.{s}.itself", {}, ["reads the view itself"]),
    Refusal("syntax", "select k frm {b}", {}, []),
    Refusal("interval", "select k, interval 1 day as i from {b}", {}, []),
)


@pytest.fixture(scope="module")
def refused(lake: LakeProject, base: str) -> dict[str, str]:
    """The messages of all models that are refused, after one run of them."""
    before = {e.name for e in lake.reader().entries(lake.schema)}
    for refusal in REFUSALS:
        lake.model(refusal.name, refusal.sql.format(b=base, s=lake.schema), **refusal.config)
    lake.fail("--select", *(refusal.name for refusal in REFUSALS))
    assert {e.name for e in lake.reader().entries(lake.schema)} == before
    for refusal in REFUSALS:
        lake.remove_model(refusal.name)
    return lake.failures()


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.name)
def test_refused(refused: dict[str, str], refusal: Refusal) -> None:
    message = refused[refusal.name]
    assert refusal.name in message
    for word in refusal.words:
        assert word in message, message
    assert "Unhandled" not in message


def test_bad_values_of_all_models_are_told_before_any_is_built(lake: LakeProject, base: str) -> None:
    bad = {
        "policy": {"refresh_policy": "sometimes"},
        "behavior": {"stale_read_behavior": "stitch", "staleness_window": "a while"},
        "unknown_transform": {"partition_by": "weeks(ts)"},
        "not_a_field": {"partition_by": "k + 1"},
    }
    for name, config in {**bad, "good": {"stale_reads": "fail"}}.items():
        lake.model(name, f"select k from {base}", **config)
    before = {e.name for e in lake.reader().entries(lake.schema)}
    error = lake.fail("--select", "good")
    for words in (
        "'sometimes'. Choose one of auto",
        "'stitch'. Choose one of use_data_table",
        "is 'a while'. Give",
        "'weeks(ts)' is no transform: Iceberg has",
        "'k + 1' is not a column or a transform",
    ):
        assert words in error
    assert {e.name for e in lake.reader().entries(lake.schema)} == before
    assert any("no setting `stale_reads`, which good has" in warning for warning in lake.warnings)
    for name in (*bad, "good"):
        lake.remove_model(name)


def test_refusal_leaves_an_existing_view_alone(lake: LakeProject, base: str) -> None:
    lake.model("kept", f"select k, v from {base}")
    lake.run("--select", "kept")
    state = lake.state("kept")
    for config in ({"partition_by": "weeks(ts)"}, {"refresh_policy": "x"}):
        lake.model("kept", f"select k, v from {base}", **config)
        lake.fail("--select", "kept")
    lake.model("kept", f"select k, cast(raise_error('stop') as int) as v from {base}")
    assert "stop" in lake.fail("--select", "kept")
    assert lake.state("kept") == state
    assert len(lake.sql(f"SELECT * FROM {lake.view('kept')}")) == 2
    lake.model("kept", f"select k, v from {base}")
    assert lake.run("--select", "kept")["kept"]["refresh_kind"] in ("none", "full")
    lake.assert_equals_definition("kept")


def test_non_deterministic_sql_is_warned_of_and_always_full(lake: LakeProject, base: str) -> None:
    expressions = {"rand": "rand()", "seconds": "unix_timestamp()", "uuid": "uuid()"}
    names = [f"moody_{name}" for name in expressions]
    for name, expression in zip(names, expressions.values(), strict=True):
        lake.model(name, f"select k, {expression} as x from {base}")
    lake.fail("--warn-error", "--select", *names)
    for name in names:
        assert f"{name} is refreshed in full at every run" in lake.failures()[name]
        assert "Runtime Error" in lake.failures()[name]
        assert lake.reader().view(lake.schema, name) is None
    responses = lake.run("--select", *names)
    assert {responses[name]["refresh_kind"] for name in names} == {"full"}
    assert len(lake.warnings) == len(names)
    # The state of the view is what it was, so nothing is said again.
    responses = lake.run("--warn-error", "--select", *names)
    for name in names:
        assert responses[name]["refresh_kind"] == "full"
        assert "new value at every run" in responses[name]["refresh_reason"]


@pytest.mark.long
def test_a_clock_outside_of_where_is_warned_of(lake: LakeProject, base: str) -> None:
    lake.model("aging", f"select k, current_date as today from {base}")
    lake.fail("--warn-error", "--select", "aging")
    warned = "aging is refreshed in full when the clock moves: not only conditions on rows read it"
    assert warned in lake.failures()["aging"]
    assert lake.run("--select", "aging")["aging"]["refresh_kind"] == "full"
    assert any(warned in warning for warning in lake.warnings)
    lake.model("recent", f"select k from {base} where current_date > date '2024-01-01'")
    lake.run("--select", "recent")
    assert lake.warnings == []


@pytest.mark.long
def test_base_that_is_not_iceberg(lake: LakeProject) -> None:
    lake.sql("CREATE TABLE spark_catalog.default.plain (k string, v int) USING parquet")
    lake.sql("INSERT INTO spark_catalog.default.plain VALUES ('a', 1)")
    lake.model("over_parquet", "select k, sum(v) as v from spark_catalog.default.plain group by k")
    for _ in range(2):
        response = lake.run("--select", "over_parquet")["over_parquet"]
        lake.assert_equals_definition("over_parquet")
        assert response["refresh_kind"] == "full"
    assert "spark_catalog.default.plain is not an Iceberg table" in response["refresh_reason"]
    lake.sql("DROP TABLE spark_catalog.default.plain")


def test_base_that_is_a_view_that_cannot_be_read_as_its_sql(lake: LakeProject, base: str) -> None:
    lake.sql(f"CREATE VIEW lake.{lake.schema}.plain_view AS SELECT {base}.k, v FROM {base}")
    lake.model("over_view", f"select k, sum(v) as v from lake.{lake.schema}.plain_view group by k")
    lake.run("--select", "over_view")
    lake.sql(f"INSERT INTO {base} VALUES ('z', NULL, 26)")
    response = lake.run("--select", "over_view")["over_view"]
    lake.assert_equals_definition("over_view")
    assert (response["refresh_kind"], "is a view" in response["refresh_reason"]) == ("full", True)


@pytest.mark.long
def test_state_of_a_newer_version(lake: LakeProject, base: str) -> None:
    lake.model("newer", f"select k, v from {base}")
    lake.run("--select", "newer")
    lake.sql(f"ALTER VIEW {lake.view('newer')} SET TBLPROPERTIES ('icebergmv.format-version' = '2')")
    message = lake.fail("--select", "newer")
    assert "newer" in message
    assert "Upgrade dbt-icebergmv" in message
    assert lake.run("--select", "newer", "--full-refresh")["newer"]["refresh_kind"] == "full"


EDITS = (
    ("base-tables", "[nonsense"),
    ("base-tables", "[]"),
    ("storage-snapshot-id", "12x"),
    ("storage-snapshot-id", "1"),
    ("storage-table", "a.b"),
    ("definition-hash", ""),
    ("format-version", "one"),
    ("config", json.dumps({"partition-by": 3})),
    ("checksum", "0"),
)


@pytest.fixture(scope="module")
def edited(lake: LakeProject, base: str) -> dict[str, str]:
    """The messages of one run over views whose recorded state somebody edited; what they show is as before."""
    names = [f"edited_{number}" for number in range(len(EDITS))]
    for name in names:
        lake.model(name, f"select k, v from {base}")
    lake.run("--select", *names)
    shown = [f"SELECT * FROM {lake.view(name)}" for name in names]
    before = lake.at_once(shown)
    for name, (key, value) in zip(names, EDITS, strict=True):
        lake.sql(f"ALTER VIEW {lake.view(name)} SET TBLPROPERTIES ('icebergmv.{key}' = '{value}')")
    lake.fail("--select", *names)
    assert lake.at_once(shown) == before
    return lake.failures()


@pytest.mark.parametrize("number", range(len(EDITS)), ids=lambda number: "=".join(EDITS[number]))
def test_state_edited_into_nonsense(edited: dict[str, str], number: int) -> None:
    message = edited[f"edited_{number}"]
    assert f"edited_{number}" in message
    assert "--full-refresh" in message


def test_storage_of_another_view(lake: LakeProject, base: str) -> None:
    store, other = f"{lake.schema}_store", f"{lake.schema}_other"
    lake.model("shared", f"select k, v from {base}", storage_schema=store)
    lake.run("--select", "shared")
    # Two projects, one after the other: within one, both models are refused before anything is built.
    (lake.folder / "models" / "shared.sql").rename(lake.folder / "shared.sql")
    lake.model("shared_too", f"select k from {base}", storage_schema=store, schema="other", alias="shared")
    message = lake.fail("--select", "shared_too")
    assert "is the storage table of lake." in message
    assert "storage_table_prefix" in message
    lake.assert_equals_definition("shared")
    assert lake.reader().view(other, "shared") is None
    (lake.folder / "models" / "shared_too.sql").unlink()


def test_table_that_is_not_ours_in_place_of_the_storage(lake: LakeProject, base: str) -> None:
    lake.sql(f"CREATE TABLE lake.{lake.schema}.__mv_storage__squatted (precious int) USING iceberg")
    lake.model("squatted", f"select k, v from {base}")
    message = lake.fail("--select", "squatted")
    assert "__mv_storage__squatted" in message
    assert "storage_table_prefix" in message
    lake.sql(f"SELECT precious FROM lake.{lake.schema}.__mv_storage__squatted")
