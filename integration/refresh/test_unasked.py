"""Questions that are asked in vain again and again are left out, unless much less changed."""

from __future__ import annotations

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
        (few, "of_many: 1 row appended"),
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
