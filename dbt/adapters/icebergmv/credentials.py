"""The profile: which catalog, which schema, and how Spark is reached."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from dbt.adapters.contracts.connection import Credentials
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.catalog_properties import (
    CatalogSettings,
    absolute_path,
    catalog_settings,
    settings_for_spark,
)
from dbt.adapters.icebergmv.invocation import log_folder, project_folder
from dbt.adapters.icebergmv.maintenance.catalog.secrets import hide, secret_values
from dbt.adapters.icebergmv.maintenance.errors import InvalidCatalog, InvalidConfig
from dbt.adapters.icebergmv.server_profile import check_settings, connect_address, server_address
from dbt.adapters.icebergmv.spark.jars import is_coordinate
from dbt.adapters.icebergmv.spark.release import installed_release
from dbt.adapters.icebergmv.spark.server import ServerRequest
from dbt.adapters.icebergmv.spark.settings import (
    CATALOG_PREFIX,
    WHICH_CATALOG,
    SparkRequest,
    session_conf,
    setting_text,
)

METHODS = ("session", "connect", "thrift")
OF_DATABRICKS = ("http", "odbc")
READERS = ("auto", "direct", "spark")
_NEAR = 0.93
"""A letter of a long key. Keys of their own, which macros read as `target.…`, may begin as ours do."""


@dataclass
class IcebergMVCredentials(Credentials):
    """One target of the profile. Paths are absolute once it is made, taken from the folder of the project.

    Raises DbtRuntimeError, naming the key and how to mend it, when the profile cannot work.
    """

    # dbt fills a missing key only when the field has a default; __post_init__ asks for the two that must be there.
    database: str = ""
    schema: str = ""
    method: str = "session"
    catalog_reader: str = "auto"
    warehouse: str | None = None
    catalog_properties: dict[str, Any] = field(default_factory=dict)
    server_side_parameters: dict[str, Any] = field(default_factory=dict)
    jars: list[str] = field(default_factory=list)
    url: str | None = None
    host: str | None = None
    port: int | None = None
    use_ssl: bool = False
    user: str | None = None
    token: str | None = None
    password: str | None = None
    auth: str | None = None
    kerberos_service_name: str | None = None
    # dbt's shared Spark connection manager asks for it.
    connect_retries: int = 0

    _ALIASES = {"catalog": "database"}

    @classmethod
    def __pre_deserialize__(cls, data: dict[Any, Any]) -> dict[Any, Any]:
        """Refuse a key that is nearly one of ours: dbt passes over keys that it does not know."""
        known = {*cls._ALIASES, *(f.name for f in fields(cls) if f.init)}
        given = {*data, *(alias for alias, key in cls._ALIASES.items() if key in data)}
        for key in given - known:
            near = difflib.get_close_matches(str(key), sorted(known - given), n=1, cutoff=_NEAR)
            if near:
                raise DbtRuntimeError(
                    f"Cannot use the profile: `{key}` is not known. Write `{near[0]}`, if you mean that, or remove it."
                )
        found: dict[Any, Any] = super().__pre_deserialize__(data)
        return found

    def __post_init__(self) -> None:
        self._check_method()
        if self.catalog_reader not in READERS:
            raise DbtRuntimeError(
                f"Cannot use the profile: `catalog_reader: {self.catalog_reader}` is not known. "
                "Use `auto`, `direct` (PyIceberg in the dbt process) or `spark` (through the connection)."
            )
        for key, value in (("catalog", self.database), ("schema", self.schema)):
            if not value:
                raise DbtRuntimeError(f"Cannot use the profile: `{key}` is missing. Add `{key}: <name>` to the target.")
        if "." in self.database:
            raise DbtRuntimeError(
                f"Cannot use the profile: the catalog name `{self.database}` has a dot in it. Give a plain name."
            )
        directory = str(project_folder())
        self.catalog_properties = {str(key): setting_text(value) for key, value in self.catalog_properties.items()}
        if self.warehouse is not None and not self._is_rest():
            self.warehouse = absolute_path(self.warehouse, directory)
        parameters = self.server_side_parameters
        self.server_side_parameters = {str(key): setting_text(value) for key, value in parameters.items()}
        self.jars = [jar if is_coordinate(jar) else absolute_path(jar, directory) for jar in self.jars]
        self._project_dir = directory
        self._drivers: tuple[str, ...] = ()
        # An error now, and not at the first statement of a long run.
        own = self.catalog_settings(self.database)
        if self.method == "session":
            if self._describes_own():
                self._refuse_another_description(own)
            self._give_spark_what_is_read()
        else:
            self._take_url_apart()
            self.server_request()

    @property
    def type(self) -> str:
        """The adapter's name in a profile."""
        return "icebergmv"

    @property
    def unique_field(self) -> str:
        """What identifies an installation in dbt's anonymous (hashed) statistics."""
        return self.host or self.warehouse or str(self.catalog_properties.get("uri", self.database))

    def catalog_settings(self, catalog: str) -> CatalogSettings:
        """Return how to open `catalog`: the profile's own, or one configured in `server_side_parameters`.

        Where only Spark can open it, `pyiceberg` is empty. Raises DbtRuntimeError when the profile says too little of
        it for the reader that it asks for.
        """
        try:
            return self.described_catalog(catalog)
        except InvalidCatalog as error:
            properties = self._given_to_spark(catalog)
            only_spark = self.method != "session" or "type" in properties or "catalog-impl" in properties
            if self.catalog_reader != "direct" and only_spark:
                return settings_for_spark(catalog, properties, self._project_dir)
            raise DbtRuntimeError(str(error)) from error

    def _given_to_spark(self, catalog: str) -> dict[str, str]:
        """Return the properties of a catalog that Spark alone can open, as the profile has them."""
        if catalog != self.database or not self.catalog_properties:
            return self._configured_in_spark(catalog)
        place = {} if self.warehouse is None else {"warehouse": self.warehouse}
        return {**place, **self.catalog_properties}

    def described_catalog(self, catalog: str) -> CatalogSettings:
        """Return how Spark and PyIceberg open `catalog`. Raises InvalidCatalog when PyIceberg cannot."""
        if catalog == self.database and self._describes_own():
            return catalog_settings(catalog, self.warehouse, self.catalog_properties, self._project_dir)
        properties = self._configured_in_spark(catalog)
        if not properties and catalog != self.database:
            raise InvalidCatalog(
                f"the profile does not describe it. Add its `spark.sql.catalog.{catalog}.*` keys to "
                "`server_side_parameters`.",
                subject=f"Cannot open the catalog `{catalog}`",
            )
        return catalog_settings(catalog, None, properties, self._project_dir)

    def add_catalog(self, name: str, properties: Mapping[str, Any]) -> None:
        """Describe one more catalog in Iceberg's own names, as if the profile did. Raises InvalidCatalog."""
        if self.is_known_catalog(name):
            raise InvalidCatalog("the profile describes a catalog of this name. Describe it in one of the two places.")
        texts = {str(key): setting_text(value) for key, value in properties.items()}
        settings = catalog_settings(name, None, texts, self._project_dir)
        self.server_side_parameters = {**self.server_side_parameters, **settings.spark_conf()}
        self._drivers = (*self._drivers, *settings.drivers)

    def session_conf(self) -> dict[str, str]:
        """Return the settings of every Spark session of this profile."""
        return session_conf(self.database, self.schema, self.server_side_parameters)

    def spark_release(self) -> str:
        """Return the release of Spark that computes rows, "" where that is not known: on a server."""
        return installed_release() if self.method == "session" else ""

    def spark_request(self) -> SparkRequest:
        """Return what the profile asks of Spark inside the dbt process."""
        own = self.catalog_settings(self.database)
        return SparkRequest(
            catalog=replace(own, drivers=tuple(dict.fromkeys((*own.drivers, *self._drivers)))),
            schema=self.schema,
            parameters=tuple(self.server_side_parameters.items()),
            jars=tuple(self.jars),
            log_folder=str(log_folder()),
        )

    def spark_place(self) -> str:
        """Return where Spark runs, for messages."""
        return "Spark in this process" if self.method == "session" else f"the {self.server_request().address}"

    def server_request(self) -> ServerRequest:
        """Return what the profile asks of a Spark server. Raises DbtRuntimeError when the profile cannot work."""
        given = {key: value for key, value in vars(self).items() if value not in (None, "")}
        try:
            check_settings(self.method, self.server_side_parameters, self.jars)
            address = server_address(self.method, given)
        except InvalidConfig as error:
            raise DbtRuntimeError(str(error)) from error
        return ServerRequest(address, self.database, tuple(self.session_conf().items()))

    def is_known_catalog(self, catalog: str | None) -> bool:
        """Return whether the profile describes `catalog` well enough for a catalog reader."""
        return catalog is None or catalog == self.database or bool(self._configured_in_spark(catalog))

    def secrets(self) -> tuple[str, ...]:
        """Return the values that must never be shown."""
        own = {key: str(value) for key, value in vars(self).items() if value and key in {"token", "password"}}
        return secret_values(self.catalog_properties, self.server_side_parameters, own)

    def connection_info(self, *, with_aliases: bool = False) -> Iterable[tuple[str, Any]]:
        """Yield what `dbt debug` prints and what macros see as `target`; nothing secret is among it."""
        for key, value in super().connection_info(with_aliases=with_aliases):
            # A person knows the catalog by the name it has in the profile; macros read both.
            yield ("catalog" if key == "database" and not with_aliases else key), value
        kind = self.catalog_properties.get("type") or self.catalog_properties.get("catalog-impl")
        yield "catalog_type", kind or ("jdbc (sqlite)" if self.warehouse else "as Spark has it")
        yield "catalog_address", hide(self._address(), self.secrets())

    def _connection_keys(self) -> tuple[str, ...]:
        server = () if self.method == "session" else ("host", "port", "use_ssl", "user")
        return ("method", *server, "database", "schema", "warehouse")

    def _address(self) -> str:
        """Return where the profile's own catalog is: its address, or the warehouse of a catalog without one."""
        settings = self.catalog_settings(self.database).spark
        address = settings.get("uri") or settings.get("warehouse") or "not in the profile"
        return address.split("?", 1)[0]

    def _describes_own(self) -> bool:
        return bool(self.warehouse or self.catalog_properties)

    def _is_rest(self) -> bool:
        """Return whether the server of the catalog knows the warehouse by a name."""
        kind, implementation = (str(self.catalog_properties.get(key, "")) for key in ("type", "catalog-impl"))
        return kind.lower() == "rest" or implementation.endswith(".RESTCatalog")

    def _refuse_another_description(self, own: CatalogSettings) -> None:
        """Refuse Spark's settings of the profile's own catalog where they are not those that it is read by."""
        for key, value in self._configured_in_spark(self.database).items():
            if key in WHICH_CATALOG and self._place(value) != self._place(own.spark.get(key, "")):
                raise DbtRuntimeError(
                    f"Cannot use the profile: `{CATALOG_PREFIX}{self.database}.{key}` in `server_side_parameters` "
                    "describes another catalog than `warehouse` and `catalog_properties`. Describe it in one of the "
                    "two places."
                )

    def _place(self, text: str) -> str:
        """Return a type, an address without its options, or a folder, so that two spellings of one are equal."""
        address = text.partition("?")[0]
        sqlite = address.removeprefix("jdbc:sqlite:")
        return absolute_path(sqlite if sqlite != address else address, self._project_dir)

    def _give_spark_what_is_read(self) -> None:
        """Let Spark have each catalog of `server_side_parameters` as it is read: with paths of the project."""
        for key in [key for key in self.server_side_parameters if key.startswith(CATALOG_PREFIX)]:
            name, _, place = key.removeprefix(CATALOG_PREFIX).partition(".")
            value = self.server_side_parameters[key]
            has_options = name == self.database and self._describes_own() and "?" in value
            if place not in ("uri", "warehouse") or has_options:
                continue
            try:
                self.server_side_parameters[key] = self.catalog_settings(name).spark[place]
            except DbtRuntimeError:
                # Another kind of catalog, which only Spark knows.
                continue

    def _configured_in_spark(self, catalog: str) -> dict[str, str]:
        prefix = f"{CATALOG_PREFIX}{catalog}."
        return {
            key.removeprefix(prefix): value
            for key, value in self.server_side_parameters.items()
            if key.startswith(prefix)
        }

    def _take_url_apart(self) -> None:
        if self.url is None:
            return
        try:
            found = connect_address(self.url)
        except InvalidConfig as error:
            raise DbtRuntimeError(str(error)) from error
        twice = sorted(key for key in found if getattr(self, key))
        if twice:
            raise DbtRuntimeError(
                f"Cannot use the profile: `url` and `{twice[0]}` both say the same. Remove one of them."
            )
        for key, value in found.items():
            setattr(self, key, value)

    def _check_method(self) -> None:
        if self.method in METHODS:
            return
        cause = "is for Databricks, which has its own adapter" if self.method in OF_DATABRICKS else "is not known"
        raise DbtRuntimeError(
            f"Cannot use the profile: `method: {self.method}` {cause}. Use `session` (Spark inside the dbt process), "
            "`connect` (a Spark Connect server) or `thrift` (a Spark Thrift server)."
        )
