"""The layout `table`: what is written, when it is published, and what a rival or a dead run leaves behind."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.table import Table
from pyiceberg.types import LongType

from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, InvalidConfig
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult
from dbt.adapters.icebergmv.maintenance.status.inspection import (
    LostView,
    NewView,
    RefreshedView,
    inspect,
    inspect_recorded,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import read_state
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from tests.refresh.refreshes import DAYS, ROWS, VIEW, Change, Model, Stage, sell
from tests.refresh.table_refreshes import Dead, dying, first_words, names, play, request, view
from tests.support.recording_spark import RecordingSpark


class Overtaken:
    """A catalog in which something happens before the second look at the table of the view, if there is one."""

    def __init__(self, stage: Stage, happens: Callable[[], object]) -> None:
        self._inner = stage.catalog
        self._happens = happens
        self._looks = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def table(self, namespace: str, name: str) -> Table | None:
        if name == VIEW[2]:
            self._looks += 1
            if self._looks == 2:
                self._happens()
        return self._inner.table(namespace, name)


def test_a_first_build_is_one_commit_of_rows_and_state(stage: Stage) -> None:
    result, said = play(stage, Model())
    assert (result.kind, result.storage_table) == ("full", VIEW)
    assert first_words(said)[0] == "CREATE OR"
    assert not any("VIEW" in s for s in said)
    state = read_state("v", view(stage).properties)
    assert (state.refresh_reason, state.storage_table) == ("first build", VIEW)
    assert names(stage) == {VIEW[2]}
    assert play(stage, Model()) == (play(stage, Model())[0], [])


@pytest.mark.parametrize(
    ("model", "kind", "written"),
    [
        (ROWS, "append", ["INSERT INTO"]),
        (Model(), "overwrite", ["INSERT INTO"]),
        (Model(config={"partition_by": ()}), "overwrite", ["DELETE FROM", "INSERT INTO", "SELECT 1"]),
    ],
)
def test_a_refresh_is_published_by_main(stage: Stage, model: Model, kind: str, written: list[str]) -> None:
    play(stage, model)
    append_to_main(stage)
    play(stage, model)
    sell("EU", None)({"orders": stage.tables()["orders"]})
    result, said = play(stage, model)
    assert result.kind == kind
    branch, *rows, forward, tidied = [s for s in said if not s.startswith(("SET", "DESCRIBE"))]
    assert first_words(rows) == written
    assert "CREATE BRANCH" in branch
    assert "fast_forward" in forward
    assert "DROP BRANCH" in tidied
    assert "`snapshot-property.icebergmv.state` = " in [s for s in rows if s.startswith("INSERT")][-1]
    assert read_state("v", view(stage).properties).refresh_kind == kind
    assert play(stage, model)[0].kind == "none"


def test_ids_that_move_are_recorded_without_rows(stage: Stage) -> None:
    play(stage, Model())
    sell()({"orders": stage.tables()["orders"]})
    result, said = play(stage, Model())
    assert result.kind == "none"
    assert next(s for s in said if s.startswith("INSERT")).endswith(" WHERE false")
    assert play(stage, Model())[1] == []


def test_no_column_is_hidden(stage: Stage) -> None:
    """An average is merged by a sum and a count, which readers would see."""
    play(stage, DAYS)
    sell("EU", None)({"orders": stage.tables()["orders"]})
    inspection = inspect(stage.catalog, request(stage, DAYS))
    assert isinstance(inspection, RefreshedView)
    assert [f.name for f in inspection.stored.table.schema().fields] == ["day", "total", "mean"]
    assert not inspection.definition.keys


def append_to_main(stage: Stage) -> None:
    table = stage.catalog.iceberg.load_table(".".join(VIEW[1:]))
    table.append(table.scan().to_arrow())


def again(table: Table) -> None:
    """Give a table a column of the same name and type, in which its rows are NULL."""
    with table.update_schema() as update:
        update.delete_column("total")
    with table.update_schema() as update:
        update.add_column("total", LongType())


def renamed(table: Table) -> None:
    with table.update_schema() as update:
        update.rename_column("total", "sum")


@pytest.mark.parametrize("alter", [again, renamed])
@pytest.mark.parametrize("then", [sell(), sell("EU")])
def test_columns_that_others_altered_are_made_anew(stage: Stage, alter: Callable[[Table], None], then: Change) -> None:
    """No row was written, and yet what readers see are other rows."""
    play(stage, Model())
    alter(stage.tables()[VIEW[2]])
    then({"orders": stage.tables()["orders"]})
    result, _ = play(stage, Model())
    assert (result.kind, result.reason) == (
        "full",
        "the columns of its table were altered by something else than a refresh",
    )
    assert [f.name for f in stage.tables()[VIEW[2]].schema().fields] == ["region", "total"]
    assert play(stage, Model())[0].kind == "none"


def test_a_comment_of_a_column_is_no_other_column(stage: Stage) -> None:
    play(stage, Model())
    with stage.tables()[VIEW[2]].update_schema() as update:
        update.update_column("total", doc="all of it")
    assert play(stage, Model())[0].kind == "none"


def test_rows_of_others_are_replaced(stage: Stage) -> None:
    play(stage, Model())
    append_to_main(stage)
    inspection = inspect(stage.catalog, request(stage, Model()))
    assert isinstance(inspection, LostView)
    result, said = play(stage, Model())
    assert result.kind == "full"
    assert result.reason.startswith("its table was written (append) by something else than a refresh")
    assert "REPLACE WHERE true" in "".join(said)
    assert play(stage, Model())[0].kind == "none"


def test_a_table_that_somebody_replaced_is_made_anew(stage: Stage) -> None:
    play(stage, Model())
    RecordingSpark(stage.catalog, Model().columns)(
        "CREATE OR REPLACE TABLE `lake`.`ns`.`sales` USING iceberg TBLPROPERTIES ('a' = 'b') AS SELECT 1 FROM x"
    )
    append_to_main(stage)
    table = stage.catalog.iceberg.load_table("ns.sales")
    with table.transaction() as transaction:
        transaction.remove_properties("icebergmv.state")
    inspection = inspect(stage.catalog, request(stage, Model()))
    assert isinstance(inspection, NewView)
    assert play(stage, Model())[0].reason == "its table has no readable state of a refresh"
    assert play(stage, Model())[0].kind == "none"


def test_a_rival_makes_the_refresh_start_again(stage: Stage) -> None:
    """Another refresh moves main after the rows are written on a branch."""
    play(stage, ROWS)
    sell("EU")({"orders": stage.tables()["orders"]})
    recorder, rival = RecordingSpark(stage.catalog, ROWS.columns), list[RefreshResult]()

    def spark(sql: str) -> Sequence[Sequence[object]]:
        if "fast_forward" in sql and not rival:
            rival.append(play(stage, ROWS)[0])
            raise RuntimeError("Cannot fast-forward: main is not an ancestor of the branch")
        return recorder(sql)

    result, _ = play(stage, ROWS, spark)
    assert (rival[0].kind, result.kind) == ("append", "none")
    table = stage.catalog.iceberg.load_table("ns.sales")
    assert len(table.metadata.refs) == 2, "main, and the branch of the winner"


def test_killed_before_any_statement(stage: Stage) -> None:
    """Rows and state are those of one refresh whenever a run dies, and the next run is right."""
    play(stage, Model())
    for step in itertools.count(1):
        sell("EU", None)({"orders": stage.tables()["orders"]})
        before = view(stage)
        spark, ran = dying(stage, step)

        try:
            play(stage, Model(), spark)
        except Dead:
            is_published = any("fast_forward" in s for s in ran)
            assert (view(stage).properties != before.properties) == is_published
            assert view(stage).foreign is None
            assert play(stage, Model())[0].kind == ("none" if is_published else "overwrite")
        else:
            return


def test_a_recorded_view_is_read_without_its_model(stage: Stage) -> None:
    play(stage, ROWS)
    found = inspect_recorded(stage.catalog, VIEW)
    assert isinstance(found, RefreshedView)
    assert "VERSION AS OF" in found.stored.query


def test_comments_of_the_model_are_those_of_the_table(stage: Stage) -> None:
    described = Model(config={"comment": "It's sales", "column_comments": {"REGION": "where"}})
    play(stage, described)
    assert view(stage).comment == "It's sales"
    assert [c.comment for c in view(stage).columns] == ["where", None]
    assert play(stage, described)[1] == []
    result, said = play(stage, Model())
    assert (result.kind, view(stage).comment) == ("none", "")
    assert [c.comment or "" for c in view(stage).columns] == ["", ""]
    assert not any("REPLACE" in s for s in said)
    assert play(stage, Model())[1] == []


def test_a_state_that_no_property_can_record(stage: Stage) -> None:
    """Somebody wrote before Spark read the table: its sequence numbers are further than was known."""
    play(stage, Model())
    recorder = RecordingSpark(stage.catalog, ROWS.columns)

    def spark(sql: str) -> Sequence[Sequence[object]]:
        found = recorder(
            sql.replace("'icebergmv.built-at-sequence-number' = '", "'icebergmv.built-at-sequence-number' = '7")
        )
        return found

    result, said = play(stage, ROWS, spark)
    assert (result.kind, said) == ("full", [])
    assert sum(s.endswith(" WHERE false") for s in recorder.said) == 1
    assert "icebergmv.built-at-sequence-number" not in stage.catalog.iceberg.load_table("ns.sales").properties
    assert play(stage, ROWS) == (play(stage, ROWS)[0], [])


def test_a_catalog_without_views(stage: Stage) -> None:
    stage.catalog.has_views = False
    with pytest.raises(InvalidConfig, match=r"offers no views\. Leave layout out, or set it to table"):
        inspect(stage.catalog, stage.request(Model()))
    assert play(stage, Model())[0].kind == "full"
    change: Change = sell("EU")
    change({"orders": stage.tables()["orders"]})
    assert play(stage, Model())[0].kind == "overwrite"


def by_others(stage: Stage) -> None:
    table = stage.catalog.iceberg.load_table("ns.sales")
    schema = schema_to_pyarrow(table.schema())
    table.append(pa.Table.from_pylist([dict.fromkeys(schema.names)], schema=schema))


@pytest.mark.parametrize(("rival", "kind"), [(lambda stage: play(stage, ROWS), "none"), (by_others, "full")])
def test_state_and_rows_are_of_one_moment(stage: Stage, rival: Callable[[Stage], object], kind: str) -> None:
    """What another one commits while a view is inspected is neither written again on top of it nor taken for ours."""
    play(stage, ROWS)
    sell("EU")({"orders": stage.tables()["orders"]})
    inspection = inspect(Overtaken(stage, lambda: rival(stage)), request(stage, ROWS))
    rival(stage)
    lake = Lake(stage.catalog, RecordingSpark(stage.catalog, ROWS.columns))
    assert refresh(lake, inspection, read_plan(inspection)).kind == kind
    assert play(stage, ROWS)[0].kind == "none"


@pytest.mark.parametrize("words", ["INSERT", "fast_forward"])
def test_the_first_error_is_said_where_the_catalog_is_gone_too(stage: Stage, words: str) -> None:
    play(stage, ROWS)
    sell("EU")({"orders": stage.tables()["orders"]})
    recorder, lost = RecordingSpark(stage.catalog, ROWS.columns), list[bool]()

    def spark(sql: str) -> Sequence[Sequence[object]]:
        if words in sql:
            lost.append(True)
            raise Dead("the connection was lost")
        return recorder(sql)

    class Gone(Overtaken):
        def table(self, namespace: str, name: str) -> Table | None:
            if lost:
                raise CatalogUnavailable("it is not there. Look.", subject="Cannot read the catalog")
            return super().table(namespace, name)

    catalog = Gone(stage, lambda: None)
    inspection = inspect(catalog, request(stage, ROWS))
    with pytest.raises(Dead, match="the connection was lost"):
        refresh(Lake(catalog, spark), inspection, read_plan(inspection))
