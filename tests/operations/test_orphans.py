"""Storage tables that no view reads: found, kept whenever there is doubt, and dropped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pyarrow as pa
import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.orphans import LooseStorage, drop_orphans, loose_storage
from dbt.adapters.icebergmv.maintenance.operations.orphans_text import orphans_text
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import STORAGE_KEY, STORAGE_OF, STORAGE_UUID
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import STATE_KEY
from tests.support.filed_lake import FiledLake
from tests.support.recording_spark import RecordingSpark

DAY = 86_400
LATER = datetime.now(timezone.utc) + timedelta(days=2)
SCHEMA = Schema(NestedField(1, "id", LongType(), required=False))


@pytest.fixture
def lake(filed_lake: FiledLake) -> FiledLake:
    return filed_lake


def store(lake: FiledLake, name: str, of: str | None) -> None:
    properties = {} if of is None else {STORAGE_OF: of}
    lake.iceberg.create_table(f"ns.{name}", SCHEMA, properties=properties)


def view(lake: FiledLake, name: str, sql: str, storage: str | None = None) -> None:
    properties = {} if storage is None else {STORAGE_KEY: storage}
    lake.views[name] = ViewInfo("ns", name, "11111111-1111-1111-1111-111111111111", sql, (), properties, None)


def found(lake: FiledLake, now: datetime = LATER) -> dict[str, LooseStorage]:
    return {loose.name.rpartition(".")[2]: loose for loose in loose_storage(lake, ["ns"], DAY, now)}


def test_only_a_marked_table_without_its_view_is_an_orphan(lake: FiledLake) -> None:
    store(lake, "__mv_storage__gone", "lake.ns.gone")
    store(lake, "__mv_storage__by_hand", None)
    store(lake, "__mv_storage__there", "lake.ns.there")
    view(lake, "there", "SELECT 1", "lake.ns.__mv_storage__there")
    assert {name: loose.kept for name, loose in found(lake).items()} == {"__mv_storage__gone": None}
    assert found(lake)["__mv_storage__gone"].reason == "its view is gone"


def test_a_table_that_pyiceberg_does_not_understand_is_kept(lake: FiledLake) -> None:
    for name in ("a_variant", "gone"):
        store(lake, f"__mv_storage__{name}", f"lake.ns.{name}")
    lake.not_understood = {"__mv_storage__a_variant"}
    assert {name: loose.kept for name, loose in found(lake).items()} == {"__mv_storage__gone": None}


def test_a_view_that_reads_another_table_has_left_the_former_one(lake: FiledLake) -> None:
    store(lake, "before", "lake.ns.there")
    store(lake, "now", "lake.ns.there")
    view(lake, "there", "SELECT id FROM lake.ns.now VERSION AS OF 1", "lake.ns.now")
    assert {name: loose.reason for name, loose in found(lake).items()} == {"before": "its view reads another table"}


@pytest.mark.parametrize(
    ("sql", "storage", "why"),
    [
        ("SELECT `id` FROM `lake`.`ns`.`__MV_storage__gone` VERSION AS OF 7", None, "lake.ns.other reads it"),
        ("SELECT 1", "lake.ns.__mv_storage__gone", "lake.ns.other reads it"),
        ("SELECT 1", "other_name_of_the_catalog.ns.__mv_storage__gone", "lake.ns.other reads it"),
        ("", None, "lake.ns.other has no SQL for Spark, so it is not known what it reads"),
    ],
)
def test_what_another_view_may_read_is_kept(lake: FiledLake, sql: str, storage: str | None, why: str) -> None:
    store(lake, "__mv_storage__gone", "lake.ns.gone")
    view(lake, "other", sql, storage)
    assert found(lake)["__mv_storage__gone"].kept == why


def test_the_catalog_may_have_had_another_name(lake: FiledLake) -> None:
    store(lake, "__mv_storage__there", "prod.ns.there")
    view(lake, "there", "SELECT 1", "prod.ns.__mv_storage__there")
    assert found(lake) == {}


def test_a_table_that_people_query_itself_is_no_orphan(lake: FiledLake) -> None:
    store(lake, "totals", "lake.ns.totals")
    assert found(lake) == {}


def test_a_table_that_was_made_anew_under_the_name_is_kept(lake: FiledLake) -> None:
    """CREATE OR REPLACE keeps the mark of a storage table, as renaming it does."""
    store(lake, "archive", "lake.ns.gone")
    store(lake, "__mv_storage__gone", "lake.ns.gone")
    rows = pa.table({"id": pa.array([1], pa.int64())})
    lake.iceberg.load_table("ns.archive").append(rows)
    lake.iceberg.load_table("ns.__mv_storage__gone").append(rows, snapshot_properties={STATE_KEY: "{}"})
    assert {name: loose.kept for name, loose in found(lake).items()} == {
        "archive": "its rows are not those of a refresh: it was made anew. Drop it by hand if nobody queries it",
        "__mv_storage__gone": None,
    }


def test_an_empty_table_that_a_first_refresh_left_is_an_orphan(lake: FiledLake) -> None:
    store(lake, "__mv_storage__dead", "lake.ns.dead")
    table = lake.iceberg.load_table("ns.__mv_storage__dead")
    table.append(pa.table({"id": pa.array([1], pa.int64())}))
    table.delete("id = 1")
    assert table.current_snapshot() is not None
    assert {name: loose.kept for name, loose in found(lake).items()} == {"__mv_storage__dead": None}


@pytest.mark.parametrize("model", ["gone", "a table", "a view"])
def test_a_table_that_was_a_model_is_kept_under_any_name(lake: FiledLake, model: str) -> None:
    """People rename such a table, or register it twice: its files may be those that another name reads."""
    properties = {STORAGE_OF: "lake.ns.totals", STATE_KEY: "{}"}
    made = lake.iceberg.create_table("ns.totals", SCHEMA, properties=properties)
    if model == "a table":
        lake.iceberg.register_table("ns.archive", made.metadata_location)
    else:
        lake.iceberg.rename_table("ns.totals", "ns.archive")
    if model == "a view":
        view(lake, "totals", "SELECT 1")
    assert {name: loose.kept for name, loose in found(lake).items()} == {
        "archive": "it was a materialized view itself (layout table). Drop it by hand if nobody queries it"
    }


def test_what_a_dead_switch_of_layouts_has_left_is_an_orphan(lake: FiledLake) -> None:
    properties = {STORAGE_OF: "lake.ns.totals", STATE_KEY: "{}"}
    lake.iceberg.create_table("ns.__mv_storage__totals__next", SCHEMA, properties=properties)
    assert [loose.kept for loose in found(lake).values()] == [None]


def test_a_storage_table_under_a_second_name_is_the_one_that_the_view_reads(lake: FiledLake) -> None:
    store(lake, "__mv_storage__there", "lake.ns.there")
    made = lake.iceberg.load_table("ns.__mv_storage__there")
    lake.iceberg.register_table("ns.second", made.metadata_location)
    properties = {STORAGE_KEY: "lake.ns.__mv_storage__there", STORAGE_UUID: str(made.metadata.table_uuid)}
    lake.views["there"] = ViewInfo(
        "ns", "there", "11111111-1111-1111-1111-111111111111", "SELECT 1", (), properties, None
    )
    assert found(lake) == {}


def test_a_table_whose_view_is_not_known_is_kept(lake: FiledLake) -> None:
    store(lake, "strange", "a..b")
    assert found(lake)["strange"].kept == "its view is not recorded readably"


def test_what_a_first_refresh_may_be_building_is_kept(lake: FiledLake) -> None:
    store(lake, "__mv_storage__new", "lake.ns.new")
    kept = found(lake, datetime.now(timezone.utc))["__mv_storage__new"].kept
    assert kept is not None
    assert kept.endswith("ago: a refresh may be building it")
    assert loose_storage(lake, ["ns"], 0, LATER)[0].is_orphan


def test_nothing_is_an_orphan_where_a_view_cannot_be_read(lake: FiledLake, monkeypatch: pytest.MonkeyPatch) -> None:
    store(lake, "__mv_storage__gone", "lake.ns.gone")
    view(lake, "other", "SELECT 1")

    def broken(namespace: str, name: str) -> ViewInfo | None:
        if name == "other":
            raise CatalogUnavailable("a file is gone")
        return None

    monkeypatch.setattr(lake, "view", broken)
    assert found(lake)["__mv_storage__gone"].kept == "lake.ns.other cannot be read, so it is not known what it reads"


def test_views_of_other_namespaces_count(lake: FiledLake, monkeypatch: pytest.MonkeyPatch) -> None:
    store(lake, "__mv_storage__gone", "lake.ns.gone")
    monkeypatch.setattr(lake, "namespaces", lambda: ["ns", "far"])
    entries = lake.entries
    monkeypatch.setattr(
        lake, "entries", lambda namespace: [CatalogEntry("v", "view")] if namespace == "far" else entries(namespace)
    )
    sql = "SELECT id FROM lake.ns.__mv_storage__gone"
    far = ViewInfo("far", "v", "u", sql, (), {}, None)
    monkeypatch.setattr(lake, "view", lambda namespace, name: far if (namespace, name) == ("far", "v") else None)
    assert found(lake)["__mv_storage__gone"].kept == "lake.far.v reads it"


def test_drop(lake: FiledLake) -> None:
    for name in ("gone", "written", "back", "kept"):
        store(lake, f"__mv_storage__{name}", f"lake.ns.{name}")
    view(lake, "reads", "SELECT id FROM lake.ns.__mv_storage__kept")
    loose = loose_storage(lake, ["ns"], DAY, LATER)
    assert [x.is_orphan for x in loose] == [True, True, False, True]
    view(lake, "back", "SELECT 1", "lake.ns.__mv_storage__back")
    lake.iceberg.load_table("ns.__mv_storage__written").transaction().set_properties(a="b").commit_transaction()
    spark = RecordingSpark(lake, ())
    dropped = drop_orphans(Lake(lake, spark), loose)
    assert spark.said == ["DROP TABLE IF EXISTS `lake`.`ns`.`__mv_storage__gone` PURGE"]
    assert {x.storage_of: (x.dropped, x.kept) for x in dropped} == {
        "lake.ns.back": (False, "it changed meanwhile"),
        "lake.ns.gone": (True, None),
        "lake.ns.kept": (False, "lake.ns.reads reads it"),
        "lake.ns.written": (False, "it changed meanwhile"),
    }
    assert not lake.iceberg.table_exists("ns.__mv_storage__gone")
    again = drop_orphans(Lake(lake, spark), [x for x in loose if x.storage_of == "lake.ns.gone"])
    assert [x.kept for x in again] == ["it was dropped meanwhile"]


def test_a_view_that_reads_it_came_while_another_was_dropped(lake: FiledLake) -> None:
    for name in ("a", "b"):
        store(lake, f"__mv_storage__{name}", f"lake.ns.{name}")

    class Slow(RecordingSpark):
        def __call__(self, sql: str) -> Sequence[Sequence[object]]:
            view(lake, "late", "SELECT id FROM lake.ns.__mv_storage__b")
            return super().__call__(sql)

    dropped = drop_orphans(Lake(lake, Slow(lake, ())), loose_storage(lake, ["ns"], DAY, LATER))
    assert [(x.dropped, x.kept) for x in dropped] == [(True, None), (False, "lake.ns.late reads it")]


def test_one_that_cannot_be_dropped_hides_no_other(lake: FiledLake) -> None:
    for name in ("a", "b", "c"):
        store(lake, f"__mv_storage__{name}", f"lake.ns.{name}")

    class Refusing(RecordingSpark):
        def __call__(self, sql: str) -> Sequence[Sequence[object]]:
            if "storage__b" in sql:
                raise RuntimeError("no right to drop\n at line 1")
            return super().__call__(sql)

    dropped = drop_orphans(Lake(lake, Refusing(lake, ())), loose_storage(lake, ["ns"], DAY, LATER))
    assert [x.dropped for x in dropped] == [True, False, True]
    assert dropped[1].kept == "it could not be dropped: no right to drop"


def test_files_stay_where_iceberg_may_not_delete_them(lake: FiledLake) -> None:
    store(lake, "__mv_storage__gone", "lake.ns.gone")
    table = lake.iceberg.load_table("ns.__mv_storage__gone")
    table.transaction().set_properties({"gc.enabled": "false"}).commit_transaction()
    spark = RecordingSpark(lake, ())
    drop_orphans(Lake(lake, spark), loose_storage(lake, ["ns"], DAY, LATER))
    assert spark.said == ["DROP TABLE IF EXISTS `lake`.`ns`.`__mv_storage__gone`"]


def test_nothing_is_an_orphan_where_a_profile_sees_no_views(lake: FiledLake) -> None:
    """A REST server may have views that it does not announce; another profile says so, and made this table."""
    store(lake, "__mv_storage__gone", "lake.ns.gone")
    lake.shows_all_views = False
    kept = "no view of the catalog lake can be seen with this profile, so it is not known who reads it"
    assert found(lake)["__mv_storage__gone"].kept == kept


def test_what_people_read() -> None:
    orphan = LooseStorage("lake.ns.a", "lake.ns.v", 2_500, "2024-01-02T03:04:05.000+00:00", "its view is gone", None)
    kept = replace(orphan, name="lake.ns.b", kept="lake.ns.w reads it", size=None)
    assert orphans_text([]) == "Every storage table in the schemas of the project is read by its view."
    assert orphans_text([orphan, kept]).splitlines() == [
        "1 orphaned storage table to drop, 2.5 kB. Nothing was changed: --args '{dry_run: false}' drops.",
        "",
        "STORAGE TABLE  MADE FOR   SIZE    CHANGED           WHAT    WHY",
        "lake.ns.a      lake.ns.v  2.5 kB  2024-01-02 03:04  orphan  its view is gone",
        "lake.ns.b      lake.ns.v  ?       2024-01-02 03:04  kept    its view is gone, but lake.ns.w reads it",
    ]
    assert orphans_text([replace(orphan, dropped=True)]).startswith("1 orphaned storage table dropped, 2.5 kB\n")
    assert orphans_text([kept]).startswith("Nothing is dropped: ")


def stored_under(name: str) -> dict[str, str]:
    """Return the summary of a snapshot whose rows a refresh wrote into a table of some name."""
    return {STATE_KEY: json.dumps({STORAGE_KEY: f"`prod`.`ns`.`{name}`"})}


def test_a_storage_table_that_people_renamed_is_kept(lake: FiledLake) -> None:
    """They keep its rows: the view that they were made for is gone, or has other storage."""
    rows = pa.table({"id": pa.array([1], pa.int64())})
    for name in ("__mv_storage__kept", "__mv_storage__gone"):
        store(lake, name, "lake.ns.gone")
        lake.iceberg.load_table(f"ns.{name}").append(rows, snapshot_properties=stored_under(name))
    lake.iceberg.rename_table("ns.__mv_storage__kept", "ns.archive")
    assert {name: loose.kept for name, loose in found(lake).items()} == {
        "__mv_storage__gone": None,
        "archive": "its rows were written under another name. Drop it by hand if nobody queries it",
    }


def test_files_that_a_second_name_has_too_are_kept(lake: FiledLake) -> None:
    store(lake, "__mv_storage__gone", "lake.ns.gone")
    made = lake.iceberg.load_table("ns.__mv_storage__gone")
    made.append(pa.table({"id": pa.array([1], pa.int64())}), snapshot_properties=stored_under("__mv_storage__gone"))
    lake.iceberg.register_table("ns.archive", made.metadata_location)
    assert {name: loose.kept for name, loose in found(lake).items()} == {
        "__mv_storage__gone": "lake.ns.archive is the same table under another name. Drop one by hand, without PURGE",
        "archive": "its rows were written under another name. Drop it by hand if nobody queries it",
    }
