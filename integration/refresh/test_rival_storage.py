"""Another run makes the storage table anew, and dies, while a refresh is about to write into it by places of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.lake import Lake, Spark
from dbt.adapters.icebergmv.maintenance.refresh import refresh as refresh_module
from dbt.adapters.icebergmv.maintenance.refresh import storage_commit, view_layout
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import recorded_request
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from integration.support.dying import Dead
from integration.support.following import filled
from integration.support.lake import LakeProject

SELECTS = {
    "swapped": (
        "select k, sum(a) as a, sum(b) as b from {t} group by k",
        "select k, sum(b) as b, sum(a) as a from {t} group by k",
    ),
    "renamed": ("select k, a, b from {t}", "select k, a, b as c from {t}"),
    "typed": ("select k, a, b from {t}", "select k, a, cast(b as string) as b from {t}"),
    "moved": ("select k, a, b from {t}", "select k, b, a from {t}"),
}
MOMENTS: dict[str, tuple[ModuleType, str]] = {
    "before the rows to build on are read": (view_layout, "load_storage"),
    "before the branch is made": (storage_commit, "take_main_back"),
}


def built(lake: LakeProject, name: str, columns: str, rows: str, select: str, by: str = "") -> str:
    """Make a table, and build a view over it; return the name of the table."""
    table = filled(lake, f"{name}_", {"t": (columns, rows)}, {"t": by})["t"]
    lake.model(name, select.format(t=table))
    lake.run("--select", name)
    return table


def refreshed(lake: LakeProject, name: str, spark: Spark, **other: Any) -> RefreshResult:
    """Refresh a view as it is recorded, or with something other asked for, by a run of its own."""
    request = replace(recorded_request(lake.reader(), ("lake", lake.schema, name)), is_run=False, **other)
    inspection = inspect(lake.reader(), request)
    return refresh_module.refresh(Lake(lake.reader(), spark), inspection, read_plan(inspection))


def rival(lake: LakeProject, name: str, **other: Any) -> None:
    """Begin a rebuild of a view, which dies as soon as the storage table is made anew."""
    spark, dead = lake.runner(), list[str]()

    def dying(sql: str) -> Sequence[Sequence[object]]:
        if dead:
            raise Dead("killed")
        rows = [tuple(row) for row in spark(sql)]
        if sql.startswith("CREATE OR REPLACE TABLE"):
            dead.append(sql)
        return rows

    with pytest.raises(Dead):
        refreshed(lake, name, dying, **other)


def wider_rival(lake: LakeProject, name: str, table: str) -> None:
    """Give a base table another column, and refresh the view."""
    lake.sql(f"ALTER TABLE {table} ADD COLUMN c int")
    result = refreshed(lake, name, lake.session({}))
    assert (result.kind, "its column c is new" in result.reason) == ("full", True)


def once(patch: pytest.MonkeyPatch, place: tuple[ModuleType, str], act: Callable[[], None]) -> None:
    """Do something before the first call of a function."""
    module, name = place
    real, waiting = getattr(module, name), [act]

    def after_it(*arguments: Any, **named: Any) -> Any:
        if waiting:
            waiting.pop()()
        return real(*arguments, **named)

    patch.setattr(module, name, after_it)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("case", SELECTS)
def test_rows_come_into_the_columns_that_they_were_made_for(lake: LakeProject, case: str, moment: str) -> None:
    name = f"rival_{case}_{[*MOMENTS].index(moment)}"
    select, other = SELECTS[case]
    table = built(lake, name, "k int, a int, b int", "(1, 10, 100), (2, 20, 200)", select)
    lake.sql(f"INSERT INTO {table} VALUES (1, 30, 300), (3, 1, 2)")
    with pytest.MonkeyPatch.context() as patch:
        config = recorded_request(lake.reader(), ("lake", lake.schema, name)).config
        asked = {"sql": other.format(t=table), "config": replace(config, definition_hash="other")}
        once(patch, MOMENTS[moment], lambda: rival(lake, name, **asked))
        lake.run("--select", name)
    lake.assert_equals_definition(name)
    assert lake.run("--select", name)[name]["refresh_kind"] == "none"


def test_the_storage_keeps_a_column_that_another_run_gave_it(lake: LakeProject) -> None:
    table = built(lake, "rival_wider", "k int, a int", "(1, 10), (2, 20)", "select * from {t}")
    lake.sql(f"INSERT INTO {table} VALUES (3, 30)")
    with pytest.MonkeyPatch.context() as patch:
        # The columns of the SELECT are known by then, and those of the storage table are not.
        once(patch, (refresh_module, "misfit_to_write"), lambda: wider_rival(lake, "rival_wider", table))
        assert lake.run("--select", "rival_wider")["rival_wider"]["refresh_kind"] == "none"
    lake.assert_equals_definition("rival_wider")
    lake.sql(f"INSERT INTO {table} VALUES (4, 40, 400)")
    assert lake.run("--select", "rival_wider")["rival_wider"]["refresh_kind"] == "append"
    lake.assert_equals_definition("rival_wider")


def test_hidden_keys_are_those_that_were_made(lake: LakeProject) -> None:
    rows = "(1, 1, 7, 10), (2, 2, 8, 20), (3, 3, 9, 30)"
    select = "select id, v from {t}"
    table = built(lake, "rival_hidden", "id int, a int, b int, v int", rows, select, "PARTITIONED BY (a)")
    lake.sql(f"INSERT INTO {table} VALUES (4, 9, 4, 40), (5, 8, 5, 50)")
    lake.sql(f"ALTER TABLE {table} REPLACE PARTITION FIELD a WITH b")
    with pytest.MonkeyPatch.context() as patch:
        once(patch, (view_layout, "load_storage"), lambda: rival(lake, "rival_hidden", rebuild="--full-refresh"))
        lake.run("--select", "rival_hidden")
    for change in (
        f"INSERT INTO {table} VALUES (6, 4, 4, 60)",
        f"UPDATE {table} SET v = 41 WHERE b = 4",
        f"UPDATE {table} SET v = 91 WHERE b = 9",
    ):
        lake.sql(change)
        lake.run("--select", "rival_hidden")
        lake.assert_equals_definition("rival_hidden")


@pytest.mark.parametrize(
    "select", ["select id, a from {t}", "select id, sum(a) as a, count(*) as n from {t} group by id"]
)
def test_columns_that_change_while_new_rows_are_read(lake: LakeProject, select: str) -> None:
    name = f"moving_{len(select)}"
    table = built(lake, name, "id int, a int, b int", "(1, 10, 100), (2, 20, 200)", select)
    lake.sql(f"INSERT INTO {table} VALUES (1, 30, 300)")

    def rename() -> None:
        lake.sql(f"ALTER TABLE {table} RENAME COLUMN a TO c")
        lake.sql(f"ALTER TABLE {table} RENAME COLUMN b TO a")

    with pytest.MonkeyPatch.context() as patch:
        once(patch, (storage_commit, "take_main_back"), rename)
        lake.run("--select", name)
    lake.assert_equals_definition(name)
