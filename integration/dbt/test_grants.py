"""`grants`: Spark has none for Iceberg catalogs, so a project with them builds all the same, after one warning."""

from __future__ import annotations

from integration.support.lake import LakeProject

MODELS = ("materialized_view", "table", "view", "incremental")


def warnings(lake: LakeProject) -> list[str]:
    return [message for message in lake.warnings if "Spark has no GRANT" in message]


def test_a_project_with_grants_is_built(lake: LakeProject) -> None:
    for kind in MODELS:
        lake.model(f"a_{kind}", "select 1 as id", materialized=kind, grants={"select": ["reader"]})
        lake.model(f"above_{kind}", f"select id from {{{{ ref('a_{kind}') }}}}", materialized="view")
    assert not lake.dbt("--warn-error", "run").success
    assert lake.reader().entries(lake.schema) == []
    for _ in range(2):
        assert len(lake.run()) == 2 * len(MODELS)
        (warning,) = warnings(lake)
        assert "a_incremental, a_materialized_view, a_table and 1 more" in warning


def test_a_project_without_grants_is_not_warned(lake: LakeProject) -> None:
    for kind in MODELS:
        lake.model(f"a_{kind}", "select 1 as id", materialized=kind, grants={})
    lake.run()
    assert warnings(lake) == []
