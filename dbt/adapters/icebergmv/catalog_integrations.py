"""`catalogs.yml`: a catalog that is described there is one more catalog of Spark, as if the profile described it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available
from dbt.adapters.base.meta import AdapterMeta
from dbt.adapters.catalogs import CatalogIntegration, CatalogIntegrationConfig, InvalidCatalogIntegrationConfigError
from dbt.adapters.contracts.relation import RelationConfig
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.invocation import project_folder
from dbt.adapters.icebergmv.maintenance.errors import InvalidCatalog

if TYPE_CHECKING:
    from dbt.adapters.icebergmv.credentials import IcebergMVCredentials

_ELSEWHERE = {
    "external_volume": "Give the place as `warehouse` in `adapter_properties`",
    "file_format": "Set `tblproperties: {write.format.default: ...}` on the models",
}


@dataclass(frozen=True)
class IcebergCatalogRelation:
    """Where a model is built, as macros see it."""

    catalog_name: str
    catalog_database: str
    table_format: str = "iceberg"
    file_format: str | None = None
    external_volume: str | None = None


class IcebergCatalogIntegration(CatalogIntegration):
    """A catalog of `catalogs.yml`. Its name there is the one that Spark and models know it by.

    `iceberg_type` is Iceberg's `type`; `properties` are Iceberg's own, as `catalog_properties` of a profile.
    """

    iceberg_type: str
    table_format = "iceberg"
    allows_writes = True

    def __init__(self, config: CatalogIntegrationConfig) -> None:
        super().__init__(config)
        if (config.table_format or "iceberg").lower() != "iceberg":
            raise _refused(config, f"`table_format: {config.table_format}` is not Iceberg's. Remove it")
        for key, mend in _ELSEWHERE.items():
            if getattr(config, key):
                raise _refused(config, f"`{key}` is not known here. {mend}")
        given: Mapping[str, Any] = config.adapter_properties
        if given.get("type", self.iceberg_type) != self.iceberg_type:
            raise _refused(config, f"`type` in `adapter_properties` is not that of `{config.catalog_type}`. Remove it")
        self.properties: dict[str, Any] = {**given, "type": self.iceberg_type}
        self.catalog_database = config.name

    def build_relation(self, config: RelationConfig) -> IcebergCatalogRelation:  # type: ignore[override]  # noqa: ARG002
        """Return where a model is built that names this catalog."""
        return IcebergCatalogRelation(self.name, self.name)


class RestIntegration(IcebergCatalogIntegration):
    """A catalog behind Iceberg's REST protocol."""

    catalog_type = iceberg_type = "rest"


class IcebergRestIntegration(RestIntegration):
    """The same under the name that other adapters of dbt have for it."""

    catalog_type = "iceberg_rest"


class JdbcIntegration(IcebergCatalogIntegration):
    """A catalog in a database."""

    catalog_type = iceberg_type = "jdbc"


class HiveIntegration(IcebergCatalogIntegration):
    """A Hive metastore."""

    catalog_type = iceberg_type = "hive"


class CatalogIntegrationsMixin(metaclass=AdapterMeta):
    """The part of the adapter that knows `catalogs.yml`."""

    CATALOG_INTEGRATIONS: Iterable[type[CatalogIntegration]] = (
        RestIntegration,
        IcebergRestIntegration,
        JdbcIntegration,
        HiveIntegration,
    )

    if TYPE_CHECKING:
        credentials: IcebergMVCredentials
        config: Any

    def add_catalog_integration(self, catalog_integration: CatalogIntegrationConfig) -> CatalogIntegration:
        """Take a catalog of `catalogs.yml`, which Spark and the catalog reader know from here on."""
        added: CatalogIntegration = super().add_catalog_integration(catalog_integration)  # type: ignore[misc]
        try:
            self.credentials.add_catalog(added.name, added.properties)  # type: ignore[attr-defined]
        except InvalidCatalog as error:
            raise _refused(catalog_integration, error.cause.rstrip(".")) from error
        return added

    def describe_catalog(self, name: str) -> None:
        """Make a catalog of `catalogs.yml` known. dbt reads the file for some commands alone, not for docs or clone."""
        if self.credentials.is_known_catalog(name):
            return
        from dbt.config.catalogs import get_active_write_integration, load_catalogs  # noqa: PLC0415 - loads adapters

        for catalog in load_catalogs(str(project_folder()), self.config.project_name, self.config.cli_vars):
            integration = get_active_write_integration(catalog)
            if integration is not None and not self.credentials.is_known_catalog(integration.name):
                self.add_catalog_integration(integration)

    @available
    def catalog_of(self, database: str | None, node: Any) -> str:
        """Return the catalog that a node is built in: its `catalog_name`, else its `database`, else the profile's."""
        get = getattr(getattr(node, "config", None), "get", None)
        name = get("catalog_name") if callable(get) else None
        if not name:
            return (database or self.credentials.database).strip()
        if database and database.strip() != name:
            raise DbtRuntimeError(
                f"Cannot build {node.name}: `catalog_name: {name}` and `database: {database}` name two catalogs. "
                "Remove one of them."
            )
        self.describe_catalog(name)
        if not self.credentials.is_known_catalog(name):
            raise DbtRuntimeError(
                f"Cannot build {node.name}: there is no catalog `{name}`. Describe it in catalogs.yml, or correct "
                "`catalog_name`."
            )
        return str(name)


def _refused(config: CatalogIntegrationConfig, cause: str) -> InvalidCatalogIntegrationConfigError:
    return InvalidCatalogIntegrationConfigError(config.name, f"{cause}.")
