"""Tables with a column of a type that PyIceberg does not know: Spark reads them, and so do models over them."""

from __future__ import annotations

import pytest

from integration.support.lake import LakeProject


@pytest.fixture(scope="module")
def events(lake: LakeProject) -> str:
    name = f"lake.{lake.schema}.events_with_variant"
    lake.sql(f"CREATE TABLE {name} (id int, j variant) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    lake.sql(f"""INSERT INTO {name} SELECT 1, parse_json('{{"a": 1}}')""")
    return name


def test_a_view_over_such_a_table_is_refreshed_in_full_at_every_run(lake: LakeProject, events: str) -> None:
    name = "ids_beside_variant"
    lake.model(name, f"select id from {events}")
    for number in (1, 2):
        assert lake.run("--select", name)[name]["refresh_kind"] == "full"
        lake.assert_equals_definition(name)
        lake.sql(f"INSERT INTO {events} VALUES ({number + 1}, NULL)")
    response = lake.run("--select", name)[name]
    assert "the metadata of " in response["refresh_reason"]
    assert "hold something that PyIceberg does not know" in response["refresh_reason"]


def test_an_incremental_model_with_such_a_column(lake: LakeProject, events: str) -> None:
    name = "variants_added"
    lake.model(
        name,
        f"select id, j from {events} {{% if is_incremental() %}}where id > 10{{% endif %}}",
        materialized="incremental",
        on_schema_change="append_new_columns",
        tblproperties={"format-version": "3"},
    )
    lake.run("--select", name)
    lake.sql(f"INSERT INTO {events} VALUES (11, NULL)")
    before = len(lake.sql(f"SELECT * FROM {lake.view(name)}"))
    lake.run("--select", name)
    assert len(lake.sql(f"SELECT * FROM {lake.view(name)}")) == before + 1
