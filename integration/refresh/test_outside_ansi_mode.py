"""Outside ANSI mode Spark makes NULL of a value that the type of another does not have: rows depend on that, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.status.session_settings import ANSI
from integration.support.following import assert_follows, filled
from integration.support.lake import LakeProject
from integration.support.spark_settings import SPARK, with_settings

TABLES = {
    "t": ("id int, code string NOT NULL, n int NOT NULL", "(1, 'abc', 1), (2, '7', 2), (3, '07', 3)"),
    "u": ("id int NOT NULL, code string NOT NULL", "(99, '88')"),
}
VIEWS = {
    "not_listed": "select id, code from {t} where code not in (select u.id from {u} u where u.id < 50)",
    "no_number_listed": "select id, n from {t} where n not in (select u.code from {u} u)",
    "flagged": "select id, code not in (select u.id from {u} u where u.id < 50) as flag from {t}",
}
CHANGES = (
    "insert into {u} values (7, '2')",
    "insert into {u} values (60, 'no number')",
    "delete from {u} where id = 60",
    "delete from {u} where id = 7",
)


@pytest.fixture(scope="module")
def wrapping(lake: LakeProject, warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LakeProject]:
    """A lake whose statements, dbt's and the test's, run outside ANSI mode."""
    target: dict[str, Any] = {
        "type": "icebergmv",
        "method": "session",
        "catalog": "lake",
        "schema": lake.schema,
        "warehouse": str(warehouse),
        "threads": 1,
        "server_side_parameters": {**SPARK, ANSI: "false"},
    }
    with with_settings({ANSI: "false"}):
        yield LakeProject(tmp_path_factory.mktemp("wrapping") / "project", target)


def test_a_text_that_is_no_number_is_neither_in_a_list_of_numbers_nor_not_in_it(wrapping: LakeProject) -> None:
    """So all such rows go when the list gets its first number, and come again when it has none."""
    names = filled(wrapping, "listed_", TABLES)
    for view, sql in VIEWS.items():
        wrapping.model(view, sql.format(**names), refresh_policy="incremental")
    wrapping.run("--select", *VIEWS)
    for change in CHANGES:
        assert_follows(wrapping, names, ([change], {}), VIEWS)
