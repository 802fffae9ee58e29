"""A model names another storage table: the one that the view had goes, and nothing else that has its name by now."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, InvalidConfig
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.left_storage import LEFT_KEY
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import ORDERS, STORAGE, Model, Stage
from tests.support.recording_spark import RecordingSpark

MODEL = Model()
OTHER_STORAGE = ("lake", "ns", "s2_sales")


def statements(stage: Stage, request: RefreshRequest) -> list[str]:
    """Refresh; return the statements that Spark was given."""
    spark = RecordingSpark(stage.catalog, MODEL.columns)
    inspection = inspect(stage.catalog, request)
    refresh(Lake(stage.catalog, spark), inspection, read_plan(inspection))
    return spark.said


def run(stage: Stage, request: RefreshRequest) -> list[str]:
    """Refresh; return what was dropped."""
    return [said for said in statements(stage, request) if said.startswith("DROP TABLE")]


def around_the_view(said: list[str]) -> list[str]:
    """Return which tables get the mark of a table that was left, before and after the view is published."""
    found = [
        re.match(rf"(CREATE OR REPLACE VIEW|DROP VIEW|ALTER TABLE .*`(\w+)` SET .*'{LEFT_KEY}')", text) for text in said
    ]
    return [match[2] or "the view" for match in found if match]


def moved(stage: Stage) -> RefreshRequest:
    request = stage.request(MODEL)
    return replace(request, config=replace(request.config, storage_table=OTHER_STORAGE))


def test_the_old_one_is_dropped(stage: Stage) -> None:
    stage.refresh(MODEL)
    assert run(stage, moved(stage)) == [f"DROP TABLE IF EXISTS `lake`.`ns`.`{STORAGE[2]}` PURGE"]
    assert run(stage, moved(stage)) == []


def test_another_view_has_its_name_by_now(stage: Stage) -> None:
    stage.refresh(MODEL)
    stage.catalog.iceberg.drop_table(".".join(STORAGE[1:]))
    run(stage, replace(stage.request(MODEL), view=("lake", "ns", "other")))
    with pytest.raises(InvalidConfig, match="the storage table of"):
        run(stage, stage.request(MODEL))
    assert run(stage, moved(stage)) == []
    assert run(stage, moved(stage)) == []


def test_two_names_of_one_table(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a catalog folds case, the table of the former name is the one that was just written."""
    stage.refresh(MODEL)
    table, uuid = stage.catalog.table, stage.tables()[STORAGE[2]].metadata.table_uuid

    def of_one_uuid(schema: str, name: str) -> Table | None:
        found = table(schema, name)
        if found is not None and name in (STORAGE[2], OTHER_STORAGE[2]):
            found.metadata = found.metadata.model_copy(update={"table_uuid": uuid})
        return found

    monkeypatch.setattr(stage.catalog, "table", of_one_uuid)
    assert run(stage, moved(stage)) == []


def test_a_table_of_people_has_its_name_by_now(stage: Stage) -> None:
    stage.refresh(MODEL)
    stage.catalog.iceberg.drop_table(".".join(STORAGE[1:]))
    stage.catalog.iceberg.create_table(".".join(STORAGE[1:]), ORDERS)
    with pytest.raises(InvalidConfig, match="in the way"):
        run(stage, stage.request(MODEL))
    assert run(stage, moved(stage)) == []


def test_who_watches_the_old_one_sees_it_before_and_after_the_view_is_another(stage: Stage) -> None:
    stage.refresh(MODEL)
    assert around_the_view(statements(stage, moved(stage))) == [STORAGE[2], "the view", STORAGE[2]]
    assert around_the_view(statements(stage, moved(stage))) == []


def test_so_it_is_where_the_view_becomes_a_table(stage: Stage) -> None:
    stage.refresh(MODEL)
    _, said = stage.refresh(Model(config={"layout": "table"}))
    assert around_the_view(said) == [STORAGE[2], "the view", STORAGE[2]]


def test_so_it_is_where_the_state_cannot_be_read(stage: Stage) -> None:
    stage.refresh(MODEL)
    view = stage.catalog.views["sales"]
    stage.catalog.views["sales"] = replace(view, properties={**view.properties, "icebergmv.owner": "Eve"})
    said = statements(stage, replace(moved(stage), rebuild="--full-refresh"))
    assert around_the_view(said) == [STORAGE[2], "the view", STORAGE[2]]


@pytest.mark.parametrize("is_first", [True, False])
def test_another_run_drops_the_old_one_meanwhile(stage: Stage, *, is_first: bool) -> None:
    class BesideAnother(RecordingSpark):
        def __call__(self, sql: str) -> Sequence[Sequence[object]]:
            if LEFT_KEY in sql and is_first is not any(LEFT_KEY in said for said in self.said):
                self.catalog.iceberg.drop_table(".".join(STORAGE[1:]))
            return super().__call__(sql)

    stage.refresh(MODEL)
    request = moved(stage)
    inspection = inspect(stage.catalog, request)
    spark = BesideAnother(stage.catalog, MODEL.columns)
    result = refresh(Lake(stage.catalog, spark), inspection, read_plan(inspection))
    assert (result.kind, around_the_view(spark.said)) == ("full", [STORAGE[2], "the view", STORAGE[2]])
    assert run(stage, request) == []


def test_any_other_error_of_telling_them_is_seen(stage: Stage) -> None:
    class Broken(RecordingSpark):
        def __call__(self, sql: str) -> Sequence[Sequence[object]]:
            if LEFT_KEY in sql:
                raise OSError("no space left")
            return super().__call__(sql)

    stage.refresh(MODEL)
    inspection, before = inspect(stage.catalog, moved(stage)), stage.catalog.views["sales"]
    with pytest.raises(OSError, match="no space left"):
        refresh(Lake(stage.catalog, Broken(stage.catalog, MODEL.columns)), inspection, read_plan(inspection))
    assert stage.catalog.views["sales"] == before


def test_who_watches_the_table_of_a_renamed_view_sees_that_another_one_has_its_name(stage: Stage) -> None:
    stage.refresh(MODEL)
    stage.catalog.views["renamed"] = replace(stage.catalog.views.pop("sales"), name="renamed")
    with pytest.raises(InvalidConfig, match=r"the storage table of lake\.ns\.renamed\. Set storage_table_prefix to"):
        statements(stage, stage.request(MODEL))
    said = statements(stage, moved(stage))
    assert around_the_view(said) == [STORAGE[2], "the view", STORAGE[2]]
    assert not any(text.startswith("DROP TABLE") for text in said)
    assert LEFT_KEY in stage.tables()[STORAGE[2]].properties


def test_tables_of_other_views_are_not_marked(stage: Stage) -> None:
    other = replace(stage.request(MODEL), view=("lake", "ns", "more_sales"))
    storage = ("lake", "ns", "__mv_storage__more_sales")
    statements(stage, replace(other, config=replace(other.config, storage_table=storage)))
    assert around_the_view(statements(stage, stage.request(MODEL))) == ["the view"]


def test_a_table_that_cannot_be_read_is_left_all_the_same(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.refresh(MODEL)
    table = stage.catalog.table

    def without_metadata(schema: str, name: str) -> Table | None:
        if name == STORAGE[2]:
            raise CatalogUnavailable("its metadata file is lost")
        return table(schema, name)

    monkeypatch.setattr(stage.catalog, "table", without_metadata)
    with pytest.raises(CatalogUnavailable, match="is lost"):
        statements(stage, moved(stage))
    assert around_the_view(statements(stage, moved(stage))) == []
