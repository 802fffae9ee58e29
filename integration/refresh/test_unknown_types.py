"""Tables with a column of a type that PyIceberg does not know: Spark reads them, and so do models over them."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

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


def test_a_plain_view_with_such_a_column_is_in_the_way_of_nobody(lake: LakeProject) -> None:
    raw, name = f"lake.{lake.schema}.raw_events", "ids_through_variants"
    lake.sql(f"CREATE TABLE {raw} (id int, raw string) USING iceberg PARTITIONED BY (id)")
    lake.sql(f"""INSERT INTO {raw} VALUES (1, '{{"a": 1}}'), (2, '{{}}')""")
    lake.model("variants_shown", f"select id, parse_json(raw) as j from {raw}", materialized="view")
    lake.model(name, "select id, variant_get(j, '$.a', 'int') as a from {{ ref('variants_shown') }}")
    assert lake.run("--select", "variants_shown", name)[name]["refresh_kind"] == "full"
    lake.sql(f"""INSERT INTO {raw} VALUES (3, '{{"a": 3}}')""")
    assert lake.run("--select", "variants_shown", name)[name]["refresh_kind"] == "append"
    lake.assert_equals_definition(name)


def test_a_view_without_its_metadata_file_is_in_the_way_of_nobody(lake: LakeProject, events: str) -> None:
    for name in ("lost", "found"):
        lake.model(name, f"select id + 1 as id from {events}")
    lake.run("--select", "lost", "found")
    properties = dict(map(tuple, lake.sql(f"SHOW TBLPROPERTIES {lake.view('lost')}")))
    shutil.rmtree(Path(unquote(urlsplit(properties["location"]).path)))
    assert lake.run("--select", "found")["found"]["refresh_kind"] == "full"
    said = lake.fail("--select", "lost")
    assert "Runtime Error in model lost (models/lost.sql)\n  Cannot read the catalog `lake`: " in said
    lake.sql(f"DROP VIEW {lake.view('lost')}")
