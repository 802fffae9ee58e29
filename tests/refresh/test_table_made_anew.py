"""The layout `table`: it is switched, or Iceberg cannot replace the table; deaths and rivals on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, NotReadable, RefreshConflict
from dbt.adapters.icebergmv.maintenance.lake import Lake, Spark
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.status.inspection import LostView, NewView, inspect, inspect_recorded
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import DAYS, ORDERS, STORAGE, VIEW, Model, Stage
from tests.refresh.table_refreshes import Dead, deaths, first_words, names, play, request, to, view
from tests.support.recording_spark import LocalCatalog, RecordingSpark


@pytest.mark.parametrize(("before", "after"), [("view", "table"), ("table", "view")])
def test_the_layout_is_switched(stage: Stage, before: str, after: str) -> None:
    to(before)(stage)
    wanted = request(stage, Model()) if after == "table" else stage.request(Model())
    inspection = inspect(stage.catalog, wanted)
    assert isinstance(inspection, LostView)
    assert inspection.changes.rebuild == (f"the layout is to be {after}",)
    result = to(after)(stage)
    assert (result.kind, result.reason) == ("full", f"the layout is to be {after}")
    assert names(stage) == ({VIEW[2]} if after == "table" else {VIEW[2], STORAGE[2]})
    assert to(after)(stage).kind == "none"


@pytest.mark.parametrize("layout", ["view", "table"])
@pytest.mark.parametrize("model", [Model(), DAYS])
def test_a_storage_table_with_the_name_of_its_view_is_not_the_view(stage: Stage, layout: str, model: Model) -> None:
    """Somebody dropped the view, and renamed its storage table; the rows of DAYS have hidden columns."""
    stage.refresh(model)
    del stage.catalog.views[VIEW[2]]
    stage.catalog.iceberg.rename_table(".".join(STORAGE[1:]), ".".join(VIEW[1:]))
    assert view(stage).properties == {}
    with pytest.raises(NotReadable):
        inspect_recorded(stage.catalog, VIEW)
    wanted = request(stage, model) if layout == "table" else stage.request(model)
    inspection = inspect(stage.catalog, wanted)
    assert isinstance(inspection, NewView)
    assert inspection.why == "its table has no readable state of a refresh"
    result = play(stage, model)[0] if layout == "table" else stage.refresh(model)[0]
    assert result.kind == "full"
    assert names(stage) == ({VIEW[2]} if layout == "table" else {VIEW[2], STORAGE[2]})
    assert (play(stage, model)[0] if layout == "table" else stage.refresh(model)[0]).kind == "none"


def test_killed_while_it_becomes_a_table(stage: Stage) -> None:
    for ran in deaths(stage, Model(), to("view")):
        play(stage, Model())
        assert names(stage) == {VIEW[2]}, ran


BY_DAY = Model(
    "SELECT day, sum(amount) AS total FROM orders GROUP BY day",
    (("day", "date"), ("total", "bigint")),
    {"partition_by": ("day",)},
)


BY_NUMBER = Model(
    "SELECT id AS day, sum(amount) AS total FROM orders GROUP BY id",
    (("day", "bigint"), ("total", "bigint")),
    {"partition_by": ("day",)},
)


def test_a_partition_column_of_another_type_whose_select_fails(stage: Stage) -> None:
    """Iceberg cannot replace the table; before it is dropped, the rows are there."""
    play(stage, BY_DAY)
    recorder = RecordingSpark(stage.catalog, BY_NUMBER.columns)

    def spark(sql: str) -> Sequence[Sequence[object]]:
        if sql.startswith("CREATE OR REPLACE TABLE"):
            raise Dead
        return recorder(sql)

    before = view(stage)
    with pytest.raises(Dead):
        play(stage, BY_NUMBER, spark)
    assert view(stage) == before


def test_killed_while_a_partition_column_gets_another_type(stage: Stage) -> None:
    kinds = set()
    for ran in deaths(stage, BY_NUMBER, lambda stage: play(stage, BY_DAY)):
        is_done = play(stage, BY_NUMBER)[0].kind == "none"
        # A table that is out of the way goes when the view is made anew the next time.
        assert names(stage) <= {VIEW[2], *(["sales__dbt_backup"] if is_done else [])}, ran
        kinds.update(first_words(ran))
    assert {"CREATE OR", "ALTER TABLE", "DROP TABLE"} <= kinds


@pytest.mark.long
def test_killed_while_it_becomes_a_table_that_is_to_be_a_view_again(stage: Stage) -> None:
    for ran in deaths(stage, Model(), to("view")):
        was_view = VIEW[2] in stage.catalog.views
        to("view")(stage)
        # What a view that stayed had beside it is an orphan.
        left = names(stage) - {VIEW[2], STORAGE[2]}
        assert left <= ({"__mv_storage__sales__next"} if was_view else set()), ran
        for name in left:
            stage.catalog.iceberg.purge_table(f"ns.{name}")


def test_a_catalog_of_two_names(stage: Stage) -> None:
    """The table that was just written has another name in the state; it is not what the view had before."""
    stage.refresh(Model())
    asked = stage.request(Model())
    config = replace(asked.config, storage_table=("prod", *STORAGE[1:]))
    catalog = LocalCatalog(stage.catalog.iceberg, stage.catalog.views, name="prod")
    recorder, said = RecordingSpark(stage.catalog, Model().columns), list[str]()

    def spark(sql: str) -> Sequence[Sequence[object]]:
        said.append(sql)
        return recorder(sql.replace("`prod`", "`lake`"))

    inspection = inspect(catalog, replace(asked, view=("prod", *VIEW[1:]), config=config))
    refresh(Lake(catalog, spark), inspection, read_plan(inspection))
    assert any(s.startswith("CREATE OR REPLACE VIEW") for s in said)
    assert names(stage) == {VIEW[2], STORAGE[2]}


def interrupted(stage: Stage, words: str, model: Model, rival: Callable[[], object]) -> Spark:
    """Return a Spark that lets a rival through just before the first statement with these words."""
    recorder, rivals = RecordingSpark(stage.catalog, model.columns), [rival]

    def spark(sql: str) -> Sequence[Sequence[object]]:
        if rivals and sql.startswith(words):
            rivals.pop()()
        return recorder(sql)

    return spark


@pytest.mark.parametrize("words", ["CREATE OR REPLACE TABLE", "DROP TABLE", "ALTER TABLE"])
def test_two_runs_give_a_partition_column_another_type(stage: Stage, words: str) -> None:
    play(stage, BY_DAY)
    try:
        play(stage, BY_NUMBER, interrupted(stage, words, BY_NUMBER, lambda: play(stage, BY_NUMBER)))
    except RefreshConflict:
        assert words != "CREATE OR REPLACE TABLE"
    assert play(stage, BY_NUMBER)[0].kind == "none"
    assert names(stage) == {VIEW[2]}


RENAMED = "ALTER TABLE `lake`.`ns`.`__mv_storage__sales__next` RENAME"


@pytest.mark.parametrize("words", ["CREATE OR REPLACE TABLE", "DROP VIEW", "ALTER TABLE", RENAMED])
def test_two_runs_make_a_view_a_table(stage: Stage, words: str) -> None:
    to("view")(stage)
    with suppress(RefreshConflict):
        play(stage, Model(), interrupted(stage, words, Model(), lambda: play(stage, Model())))
    assert play(stage, Model())[0].kind == "none"
    assert names(stage) == {VIEW[2]}


def test_a_table_of_another_view_has_the_name_where_rows_are_computed(stage: Stage) -> None:
    play(stage, BY_DAY)
    properties = {"icebergmv.storage-of": "`lake`.`ns`.`sales__next`"}
    stage.catalog.iceberg.create_table("ns.__mv_storage__sales__next", ORDERS, properties=properties)
    with pytest.raises(InvalidConfig, match="is in the way: its rows are computed there"):
        play(stage, BY_NUMBER)
    assert names(stage) == {VIEW[2], "__mv_storage__sales__next"}


def test_a_catalog_that_may_not_rename(stage: Stage) -> None:
    stage.catalog.has_views = False
    play(stage, BY_DAY)
    result, said = play(stage, BY_NUMBER)
    assert result.kind == "full"
    assert first_words(said)[:2] == ["DROP TABLE", "CREATE OR"]
