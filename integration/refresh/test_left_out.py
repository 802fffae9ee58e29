"""What is tried in vain again and again is left out, unless much less changed."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.planning import left_out
from integration.support.lake import LakeProject

IN_VAIN = "reach more than 1000 keys"
LEFT_OUT = "are not asked, because about as many were asked in vain at the last refreshes"


def test_questions_in_vain_are_left_out_for_a_while(lake: LakeProject) -> None:
    name, base, names = "asked_in_vain", f"lake.{lake.schema}.of_many", f"lake.{lake.schema}.names_of_many"
    lake.sql(f"CREATE TABLE {base} USING iceberg AS SELECT id % 3000 AS k, id AS v FROM range(6000)")
    lake.sql(f"CREATE TABLE {names} USING iceberg AS SELECT id, concat('n', id) AS name FROM range(3000)")
    lake.model(name, f"select n.name, median(b.v) as m from {base} b join {names} n on b.k = n.id group by n.name")
    many, few = f"UPDATE {base} SET v = v + 1 WHERE k < 2000", f"INSERT INTO {base} VALUES (7, 7)"
    lake.run("--select", name)
    # Far fewer rows are asked, which pays; so what was in vain before is forgotten.
    steps = [
        (many, IN_VAIN),
        (many, IN_VAIN),
        (few, "of_many: 1 partition changed"),
        (many, IN_VAIN),
        (many, IN_VAIN),
        (many, LEFT_OUT),
    ]
    for number, (change, reason) in enumerate(steps):
        lake.sql(change)
        response = lake.run("--select", name)[name]
        assert reason in response["refresh_reason"], number
        assert response["refresh_kind"] == ("overwrite" if change == few else "full"), number
        lake.assert_equals_definition(name)


def test_overwrites_that_take_longer_than_a_full_refresh_are_left_out_for_a_while(
    lake: LakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However fast this machine is, every overwrite counts as one that took longer.
    monkeypatch.setattr(left_out, "is_dearer_than_full", lambda *_: True)
    monkeypatch.setattr(left_out, "_WORTH_LEAVING_OUT", float("-inf"))
    name, base = "written_in_vain", f"lake.{lake.schema}.by_day"
    lake.sql(f"CREATE TABLE {base} (d date, v int) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO {base} SELECT date_add(date'2024-01-01', cast(id % 3 as int)), id FROM range(300)")
    lake.model(name, f"select d, median(v) as m from {base} group by d", partition_by="d")
    lake.run("--select", name)
    change = f"UPDATE {base} SET v = v + 1 WHERE d = date'2024-01-02'"
    fewer = f"INSERT INTO {base} VALUES (date'2024-01-03', 7)"
    paid, instead = "by_day: 1 partition changed", "cheaper than what the last refreshes did, which took longer"
    steps = [(change, paid), (change, paid), (change, instead), (change, paid), (change, instead), (fewer, paid)]
    for number, (statement, reason) in enumerate(steps):
        lake.sql(statement)
        response = lake.run("--select", name)[name]
        assert reason in response["refresh_reason"], number
        assert response["refresh_kind"] == ("full" if reason == instead else "overwrite"), number
        lake.assert_equals_definition(name)
