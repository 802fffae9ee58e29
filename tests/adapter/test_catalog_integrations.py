"""`catalogs.yml`: which catalogs it may describe, what Spark and the catalog reader make of them, where models go."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from dbt.adapters.catalogs import (
    CatalogIntegrationClient,
    CatalogWriteIntegrationConfig,
    InvalidCatalogIntegrationConfigError,
)
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.catalog_integrations import CatalogIntegrationsMixin
from tests.support.profiles import credentials_of

PROFILE = {"catalog": "lake", "schema": "analytics", "warehouse": "/wh"}
REST = {"uri": "https://raw.example.com", "credential": "id:secret"}


class Base:
    """What dbt's own adapter does with an integration."""

    def __init__(self) -> None:
        self.client = CatalogIntegrationClient(CatalogIntegrationsMixin.CATALOG_INTEGRATIONS)

    def add_catalog_integration(self, config: Any) -> Any:
        return self.client.add(config)


class Adapter(CatalogIntegrationsMixin, Base):
    def __init__(self, **profile: Any) -> None:
        super().__init__()
        self.credentials = credentials_of({**PROFILE, **profile})
        self.config = SimpleNamespace(project_name="p", cli_vars={})


def described(**changes: Any) -> CatalogWriteIntegrationConfig:
    known = {"name": "raw", "catalog_type": "iceberg_rest", "adapter_properties": REST}
    return CatalogWriteIntegrationConfig(**{**known, **changes})


def node(**config: str) -> Any:
    return SimpleNamespace(name="m", config=config)


def test_a_catalog_is_described_for_spark_and_the_reader() -> None:
    adapter = Adapter(server_side_parameters={"spark.ui.enabled": "true"})
    adapter.add_catalog_integration(described(adapter_properties={**REST, "rest.sigv4-enabled": True}))
    made = adapter.credentials
    prefix = "spark.sql.catalog.raw"
    assert {key: value for key, value in made.session_conf().items() if key.startswith(prefix)} == {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        f"{prefix}.type": "rest",
        f"{prefix}.uri": "https://raw.example.com",
        f"{prefix}.credential": "id:secret",
        f"{prefix}.rest.sigv4-enabled": "true",
        f"{prefix}.cache-enabled": "false",
    }
    assert made.is_known_catalog("raw")
    assert made.catalog_settings("raw").pyiceberg["uri"] == "https://raw.example.com"
    assert "id:secret" in made.secrets()
    assert made.spark_request().catalog.drivers == ("sqlite", "s3")
    assert dict(made.spark_request().parameters)[f"{prefix}.type"] == "rest"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "lake"}, "the profile describes a catalog of this name"),
        ({"table_format": "delta"}, "`table_format: delta` is not Iceberg's"),
        ({"external_volume": "v"}, "Give the place as `warehouse`"),
        ({"file_format": "orc"}, "write.format.default"),
        ({"adapter_properties": {**REST, "type": "hive"}}, "is not that of `iceberg_rest`"),
        ({"catalog_type": "hive", "adapter_properties": {}}, "has no `uri`"),
        ({"catalog_type": "jdbc", "adapter_properties": {"uri": "jdbc:oracle:x"}}, "only SQLite and PostgreSQL"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidCatalogIntegrationConfigError, match=message):
        Adapter().add_catalog_integration(described(**given))


def test_a_catalog_described_in_both_places_is_refused() -> None:
    adapter = Adapter(server_side_parameters={"spark.sql.catalog.raw.type": "rest"})
    with pytest.raises(InvalidCatalogIntegrationConfigError, match="in one of the two places"):
        adapter.add_catalog_integration(described())


def test_models_go_where_they_say() -> None:
    adapter = Adapter()
    adapter.add_catalog_integration(described())
    assert adapter.catalog_of(None, None) == "lake"
    assert adapter.catalog_of(None, node()) == "lake"
    assert adapter.catalog_of(" other ", node()) == "other"
    assert adapter.catalog_of(None, node(catalog_name="raw")) == "raw"
    assert adapter.catalog_of("raw", node(catalog_name="raw")) == "raw"
    assert adapter.catalog_of(None, node(catalog_name="lake")) == "lake"
    with pytest.raises(DbtRuntimeError, match="there is no catalog `nowhere`"):
        adapter.catalog_of(None, node(catalog_name="nowhere"))
    with pytest.raises(DbtRuntimeError, match="name two catalogs"):
        adapter.catalog_of("other", node(catalog_name="raw"))


def test_a_command_for_which_dbt_does_not_read_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    integration = {"name": "x", "catalog_type": "rest", "adapter_properties": REST}
    content = {"catalogs": [{"name": "raw", "write_integrations": [integration]}]}
    (tmp_path / "catalogs.yml").write_text(yaml.safe_dump(content))
    adapter = Adapter()
    assert adapter.catalog_of(None, node(catalog_name="raw")) == "raw"
    assert adapter.credentials.catalog_settings("raw").pyiceberg["uri"] == REST["uri"]
    adapter.describe_catalog("raw")
    adapter.describe_catalog("elsewhere")
    assert not adapter.credentials.is_known_catalog("elsewhere")
