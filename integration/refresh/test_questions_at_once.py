"""Questions about several tables that changed are asked at the same time, on one connection of dbt."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager
from integration.support.lake import LakeProject


def test_what_is_asked_of_several_tables(lake: LakeProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question of another thread is one of its model: by the connection, and by the comment in its text."""
    name = "of_three"
    tables = [f"lake.{lake.schema}.part_{n}_of_three" for n in range(3)]
    for table in tables:
        lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT id, id % 40 AS k, id % 7 AS v FROM range(2000)")
    # Windows are not merged, and their keys have to be asked of each table.
    each = (f"select k, v, row_number() over (partition by k order by id) as n from {table}" for table in tables)
    lake.model(name, " union all ".join(each), refresh_policy="incremental")
    lake.run("--select", name)
    for n, table in enumerate(tables):
        lake.sql(f"UPDATE {table} SET v = -1 WHERE k = {n}")
    said: list[tuple[str, str, str]] = []
    add_query = IcebergMVConnectionManager.add_query

    def recorded(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        said.append((threading.current_thread().name, str(self.get_thread_connection().name), sql))
        return add_query(self, sql, *arguments, **named)

    monkeypatch.setattr(IcebergMVConnectionManager, "add_query", recorded)
    response = lake.run("--select", name)[name]
    assert (response["refresh_kind"], response["rows_affected"]) == ("overwrite", 3 * 3 * 50)
    lake.assert_equals_definition(name)
    beside = [(connection, sql) for thread, connection, sql in said if thread.startswith("icebergmv-questions")]
    assert beside and {connection for connection, _ in beside} == {f"model.p.{name}"}
    assert all(f'"node_id": "model.p.{name}"' in sql.partition("*/")[0] for _, sql in beside)


def test_a_question_that_fails_stops_the_others_and_not_the_refresh(lake: LakeProject) -> None:
    """The first table cannot be asked; then the refresh is full whatever the second one reaches."""
    name = "of_failing"
    first, second = (f"lake.{lake.schema}.{which}_of_failing" for which in ("first", "second"))
    lake.sql(f"CREATE TABLE {first} USING iceberg AS SELECT id, id % 3000 AS k, id AS v FROM range(6000)")
    lake.sql(f"CREATE TABLE {second} USING iceberg AS SELECT id AS k, concat('n', id) AS name FROM range(3000)")
    lake.model(
        name, f"select name, cast(v as string) as v, median(id) as m from {first} join {second} using (k) group by 1, 2"
    )
    lake.run("--select", name)
    lake.sql(f"UPDATE {first} SET v = v + 1")
    lake.sql(f"UPDATE {second} SET name = 'same' WHERE k = 5")
    assert lake.run("--select", name)[name]["refresh_kind"] == "full"
    lake.assert_equals_definition(name)
