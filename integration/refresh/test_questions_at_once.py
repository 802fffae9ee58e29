"""Questions about several tables that changed are asked at the same time, on one connection of dbt."""

from __future__ import annotations

import re

from integration.support.lake import LakeProject

BESIDE = "icebergmv-questions"


def test_what_is_asked_of_several_tables(lake: LakeProject) -> None:
    """A question of another thread has the comment of its model, and its lines in the log are those of the model."""
    name = "of_three"
    tables = [f"lake.{lake.schema}.part_{n}_of_three" for n in range(3)]
    for table in tables:
        lake.sql(f"CREATE TABLE {table} USING iceberg AS SELECT id, id % 40 AS k, id % 7 AS v FROM range(2000)")
    # Windows are not merged, and their keys have to be asked of each table.
    each = " union all ".join(
        f"select k, v, row_number() over (partition by k order by id) as n from {t}" for t in tables
    )
    lake.model(name, each, refresh_policy="incremental")
    lake.run("--select", name)
    for n, table in enumerate(tables):
        lake.sql(f"UPDATE {table} SET v = -1 WHERE k = {n}")
    log = lake.folder / "logs" / "dbt.log"
    size = log.stat().st_size
    response = lake.run("--select", name)[name]
    assert (response["refresh_kind"], response["rows_affected"]) == ("overwrite", 3 * 3 * 50)
    lake.assert_equals_definition(name)
    with log.open() as lines:
        lines.seek(size)
        said = lines.read()
    asked = re.findall(rf"\[{BESIDE}.*On model\.\w+\.{name}: /\* .*\"node_id\": \"model\.\w+\.{name}\"", said)
    assert asked, said


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
