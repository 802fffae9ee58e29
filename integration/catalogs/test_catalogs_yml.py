"""`catalogs.yml`: models that name a catalog of it are built there, and read tables of the other."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import yaml

from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from dbt.adapters.icebergmv.maintenance.lake import Spark
from integration.support.lake import LakeProject


@dataclass(frozen=True)
class TwoCatalogs:
    """A project with a second catalog; `spark` is a session that has both."""

    lake: LakeProject
    spark: Spark
    base: str

    def daily(self) -> list[object]:
        rows = self.spark(f"SELECT v FROM second.{self.lake.schema}.daily ORDER BY d")
        return [value for (value,) in rows]


@pytest.fixture(scope="module")
def two(lake: LakeProject, tmp_path_factory: pytest.TempPathFactory) -> TwoCatalogs:
    folder = tmp_path_factory.mktemp("second catalog é")
    properties = {"uri": f"jdbc:sqlite:{folder}/catalog.db", "warehouse": str(folder)}
    integration = {"catalog_type": "jdbc", "name": "sqlite", "adapter_properties": properties}
    content = {"catalogs": [{"name": "second", "write_integrations": [integration]}]}
    (lake.folder / "catalogs.yml").write_text(yaml.safe_dump(content, allow_unicode=True))
    base = f"lake.{lake.schema}.base"
    lake.sql(f"CREATE TABLE {base} (d DATE, v BIGINT) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO {base} VALUES (date'2024-01-01', 1), (date'2024-01-02', 2)")
    described = catalog_settings("second", None, {**properties, "type": "jdbc"}, str(folder))
    uncached = {"spark.sql.catalog.second.cache-enabled": "false"}
    return TwoCatalogs(lake, lake.session({**described.spark_conf(), **uncached}), base)


def test_models_are_built_in_the_catalog_that_they_name(two: TwoCatalogs) -> None:
    lake = two.lake
    new = "{% if is_incremental() %} where v > 2 {% endif %}"
    copied = {"materialized": "incremental", "partition_by": "d", "catalog_name": "second"}
    lake.model("copied", f"select * from {two.base} {new}", **copied)
    lake.model("daily", "select d, sum(v) as v from {{ ref('copied') }} group by d", catalog_name="second")
    lake.model("back", "select d, count(*) as n from {{ ref('copied') }} group by d", catalog_name="lake")
    built = lake.run()
    storage = {name: built[name]["storage_table"].split(".")[0].strip("`") for name in ("daily", "back")}
    assert storage == {"daily": "second", "back": "lake"}
    assert two.daily() == [1, 2]
    assert lake.run("--select", "daily")["daily"]["refresh_kind"] == "none"

    lake.sql(f"INSERT INTO {two.base} VALUES (date'2024-01-02', 5)")
    again = lake.run()
    assert again["daily"]["refresh_kind"] == "overwrite"
    assert two.daily() == [1, 7]
    # The changes of a table of another catalog are not followed.
    assert again["back"]["refresh_kind"] == "full"
    assert "not an Iceberg table of the catalog lake" in again["back"]["refresh_reason"]
    assert [n for _, n in lake.rows("back")] == [1, 2]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"catalog_name": "third"}, "there is no catalog `third`"),
        ({"catalog_name": "second", "database": "lake"}, "name two catalogs"),
    ],
)
def test_a_name_that_cannot_be_meant_is_an_error(two: TwoCatalogs, config: dict[str, str], message: str) -> None:
    two.lake.model("lost", "select 1 as id", materialized="table", **config)
    assert message in str(two.lake.dbt("parse").exception)
    two.lake.remove_model("lost")
