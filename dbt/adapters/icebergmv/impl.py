"""The adapter that dbt calls. Looking around goes through the catalog reader; only building needs Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dbt.adapters.base import BaseRelation, available
from dbt.adapters.base.impl import DEFAULT_BASE_BEHAVIOR_FLAGS, ConstraintSupport
from dbt.adapters.base.relation import InformationSchema
from dbt.adapters.capability import Capability, CapabilityDict, CapabilitySupport, Support
from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.contracts.relation import RelationConfig, RelationType
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.impl import SparkAdapter, SparkConfig
from dbt.adapters.sql import SQLAdapter
from dbt_common.behavior_flags import BehaviorFlag
from dbt_common.clients.agate_helper import build_type_tester
from dbt_common.contracts.constraints import ConstraintType
from dbt_common.contracts.metadata import CatalogTable
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.built_models import BuiltModelsMixin
from dbt.adapters.icebergmv.catalog_integrations import CatalogIntegrationsMixin
from dbt.adapters.icebergmv.changing_operations import ChangingOperationsMixin
from dbt.adapters.icebergmv.column import IcebergMVColumn, described_columns
from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager, direct_reader, new_handle
from dbt.adapters.icebergmv.credentials import IcebergMVCredentials
from dbt.adapters.icebergmv.debug import catalog_report
from dbt.adapters.icebergmv.docs import Row, catalog_rows, catalog_table, warn_of_unknown_catalog
from dbt.adapters.icebergmv.freshness import last_modified
from dbt.adapters.icebergmv.generic_tests import GenericTestsMixin
from dbt.adapters.icebergmv.grants import BUILDING_COMMANDS, warn_of_grants
from dbt.adapters.icebergmv.invocation import command
from dbt.adapters.icebergmv.listing import (
    deletes_files,
    list_relations,
    names_of_tables_to_open,
    relations_in_spark,
    rendered_storage_table,
)
from dbt.adapters.icebergmv.maintenance.catalog.over_spark.reader import SparkReader
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ColumnInfo, table_columns
from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered
from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError, TableNotUnderstood
from dbt.adapters.icebergmv.maintenance.sql.names import split_name
from dbt.adapters.icebergmv.maintenance.sql.queries import describe_query
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified, string_literal
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import found_view
from dbt.adapters.icebergmv.materialized_views import BEHAVIOR_FLAGS, MaterializedViewMixin
from dbt.adapters.icebergmv.operations import OperationsMixin
from dbt.adapters.icebergmv.python_models import run_model
from dbt.adapters.icebergmv.reader_choice import ChosenReader, Ways, chosen_reader
from dbt.adapters.icebergmv.relation import IcebergMVRelation
from dbt.adapters.icebergmv.seeds import SeedMixin
from dbt.adapters.icebergmv.spark.cursor import SessionHandle
from dbt.adapters.icebergmv.spark.settings import setting_text
from dbt.adapters.icebergmv.spark_statements import SparkStatements
from dbt.adapters.icebergmv.view_settings import VIEW_COMMANDS, check_settings
from dbt.adapters.icebergmv.warning import Once

if TYPE_CHECKING:
    import agate

Answer = TypeVar("Answer")
_logger = AdapterLogger("IcebergMV")


@dataclass
class IcebergMVConfig(SparkConfig):
    """Model configuration; tables are Iceberg by default."""

    file_format: str = "iceberg"
    tblproperties: dict[str, str] | None = None
    layout: str | None = None
    storage_schema: str | None = None
    storage_table_prefix: str | None = None
    refresh_policy: str | None = None
    refresh_on_run: bool | None = None
    stale_read_behavior: str | None = None
    staleness_window: str | None = None
    definition_below_rows: int | None = None
    target_lag: str | None = None
    view_dialects: list[str] | None = None
    cluster_by: str | list[str] | None = None
    keep_versions: int | None = None
    written_at_columns: str | list[str] | None = None
    deterministic_functions: str | list[str] | None = None


class IcebergMVAdapter(
    GenericTestsMixin,
    OperationsMixin,
    ChangingOperationsMixin,
    MaterializedViewMixin,
    SeedMixin,
    BuiltModelsMixin,
    CatalogIntegrationsMixin,
    SparkAdapter,
):
    """Spark and Iceberg, with three-part names and a catalog that is read without a JVM."""

    Relation = IcebergMVRelation  # type: ignore[assignment]
    Column = IcebergMVColumn
    ConnectionManager = IcebergMVConnectionManager
    AdapterSpecificConfigs = IcebergMVConfig

    # Iceberg tables made by CREATE TABLE AS carry no constraints.
    CONSTRAINT_SUPPORT = dict.fromkeys(ConstraintType, ConstraintSupport.NOT_SUPPORTED)

    _capabilities = CapabilityDict(
        dict.fromkeys(
            (Capability.TableLastModifiedMetadata, Capability.GetCatalogForSingleRelation),
            CapabilitySupport(Support.Full),
        )
    )

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        self._readers: Remembered[ChosenReader] = Remembered(100)
        self._may_be_views: frozenset[str] = frozenset()
        self._say_of_catalogs = Once(_logger.info)

    @property
    def credentials(self) -> IcebergMVCredentials:  # type: ignore[override]
        """The target of the profile."""
        return cast(IcebergMVCredentials, self.config.credentials)

    @property
    def _behavior_flags(self) -> list[BehaviorFlag]:
        """The switches that a project sets under `flags`."""
        # dbt adds these to one list of the process each time it is invoked, and renders all that are in it.
        known = {flag["name"] for flag in DEFAULT_BASE_BEHAVIOR_FLAGS}
        return [flag for flag in (*super()._behavior_flags, *BEHAVIOR_FLAGS) if flag["name"] not in known]

    def catalog_reader_of(self, database: str | None) -> CatalogReader:
        """Return the reader of any catalog that the profile describes; None means its own.

        It is chosen and opened at first use.
        Raises DbtRuntimeError when the catalog is not described or cannot be opened.
        """
        return self._chosen_reader(database or self.credentials.database).reader

    def _chosen_reader(self, catalog: str) -> ChosenReader:
        credentials = self.credentials

        def choose() -> ChosenReader:
            self.describe_catalog(catalog)
            # An error of the profile comes before one of the catalog.
            credentials.catalog_settings(catalog)
            ways = Ways(
                lambda: direct_reader(credentials, catalog),
                lambda: self._spark_reader(catalog),
                elsewhere=credentials.method != "session",
            )
            chosen = chosen_reader(credentials.catalog_reader, ways, credentials.schema)
            _logger.debug(f"The catalog {catalog} is read {chosen.how}")
            if chosen.unread is not None:
                _logger.info(
                    f"The catalog {catalog} is read through Spark, which takes longer. {chosen.unread} "
                    "If Spark is to read it, write `catalog_reader: spark` in the profile"
                )
            return chosen

        return _ask(lambda: self._readers.get(catalog, choose))

    def _spark_reader(self, catalog: str) -> SparkReader:
        return SparkReader(catalog, SparkStatements(self.connections, lambda: new_handle(self.credentials)))

    @classmethod
    def quote(cls, identifier: str) -> str:
        """Return an identifier in backticks."""
        return qualified(identifier)

    @available
    def string_literal(self, value: object) -> str:
        """Return a value of a configuration as a Spark string literal that holds exactly its text."""
        return string_literal(setting_text(value))

    def debug_query(self) -> None:
        """Open and list the catalog, then run a query in Spark."""
        catalog = self.credentials.database
        chosen, settings = self._chosen_reader(catalog), self.credentials.catalog_settings(catalog)
        for line in _ask(lambda: list(catalog_report(chosen, self.credentials.schema, settings))):
            _logger.info(line)
        _logger.info(f"Now a query runs in {self.credentials.spark_place()}")
        super().debug_query()

    def set_relations_cache(
        self,
        relation_configs: Iterable[RelationConfig],
        clear: bool = False,
        required_schemas: set[BaseRelation] | None = None,
    ) -> None:
        """Fill dbt's cache of relations, which comes before anything is built: so warnings on the project come here."""
        nodes = list(relation_configs)
        if command() in BUILDING_COMMANDS:
            warn_of_grants(nodes)
        if command() in VIEW_COMMANDS:
            ours = (field.name for field in fields(IcebergMVConfig))
            check_settings(nodes, ours, getattr(self.config, "models", None))
        self._may_be_views = names_of_tables_to_open(nodes)
        super().set_relations_cache(nodes, clear, required_schemas)

    @available
    def valid_incremental_strategies(self) -> list[str]:
        """Return the strategies of the incremental materialization."""
        return ["append", "merge", "insert_overwrite", "microbatch"]

    def list_schemas(self, database: str) -> list[str]:
        """Return the schemas of a catalog, whose name dbt gives quoted here."""
        (catalog,) = split_name(database) if database.startswith("`") else (database,)
        return _ask(lambda: self.catalog_reader_of(catalog).namespaces())

    @available.parse(lambda *_, **__: False)
    def check_schema_exists(self, database: str, schema: str) -> bool:
        """Return whether a catalog has a schema."""
        return schema in self.list_schemas(database)

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        """Return tables, views and materialized views of a schema; an absent schema is empty.

        Of catalogs that the profile does not describe, Spark says it.
        """
        database = schema_relation.database or self.credentials.database
        schema = str(schema_relation.schema)
        known = self.credentials.is_known_catalog(database)
        found = None if known else _ask(lambda: relations_in_spark(self._spark_reader(database), schema))
        if found is None:
            found = _ask(lambda: list_relations(self.catalog_reader_of(database), schema, self._may_be_views))
        return [
            self.Relation.create(
                database=database,
                schema=schema,
                identifier=relation.name,
                type=RelationType(relation.kind),
                # dbt-spark's macros ask for it when they choose their SQL.
                is_iceberg=known and relation.kind == "table",
            )
            for relation in found
        ]

    def _make_match(
        self, relations_list: list[BaseRelation], database: str, schema: str, identifier: str
    ) -> list[BaseRelation]:
        """Compare only relations of the name with dbt's rules, which take long over all those of a big project.

        Names are always quoted here, so a relation of exactly this name is the one, whatever `quoting` in the project
        says of its case.
        """
        if identifier:
            name = identifier.lower().strip("`")
            relations_list = [r for r in relations_list if str(r.identifier).lower().strip("`") == name]
        wanted = (database, schema, identifier)
        exact = [r for r in relations_list if (r.database, r.schema, r.identifier) == wanted]
        return exact or super()._make_match(relations_list, database, schema, identifier)

    def get_columns_in_relation(self, relation: BaseRelation) -> list[IcebergMVColumn]:  # type: ignore[override]
        """Return the columns of a relation, none when it is absent.

        Temporary views, catalogs that the profile does not describe, and what PyIceberg does not understand are
        asked of Spark.
        """
        known = self.credentials.is_known_catalog(relation.database)
        if not (relation.is_catalogued and known):  # type: ignore[attr-defined]
            return self._described_columns(relation)
        columns = _ask(lambda: self._stored_columns(relation))
        if columns is None:
            return self._described_columns(relation)
        return [
            IcebergMVColumn(column=column.name, dtype=column.type, comment=column.comment, column_index=index)
            for index, column in enumerate(columns)
        ]

    def drop_schema(self, relation: BaseRelation) -> None:
        """Drop a schema with everything in it; Iceberg's own DROP SCHEMA refuses when something is left."""
        database, schema = relation.database or self.credentials.database, str(relation.schema)
        if not self.check_schema_exists(database, schema):
            return
        reader = self.catalog_reader_of(database)
        for listed in _ask(lambda: list_relations(reader, schema)):
            kind = RelationType(listed.kind)
            self.drop_relation(
                self.Relation.create(database=database, schema=schema, identifier=listed.name, type=kind)
            )
        # Storage tables whose view is in another schema, or is gone.
        for entry in _ask(lambda: reader.entries(schema)):
            self.execute(f"drop {entry.kind} if exists {qualified(database, schema, entry.name)}")
        super().drop_schema(relation)

    def get_column_schema_from_query(self, sql: str) -> list[IcebergMVColumn]:
        """Return the columns of a query with Spark's own types, which the Hive protocol does not carry in full."""
        if self.credentials.method != "thrift":
            return cast(list[IcebergMVColumn], super().get_column_schema_from_query(sql))
        _, rows = self.execute(describe_query(sql), fetch=True)
        return [IcebergMVColumn(column=row["col_name"], dtype=row["data_type"]) for row in rows]

    def submit_python_job(self, parsed_model: dict[str, Any], compiled_code: str) -> AdapterResponse:
        """Run the code of a Python model with this connection's session."""
        handle = self.connections.get_thread_connection().handle
        name = str(parsed_model["alias"])
        if not isinstance(handle, SessionHandle):
            raise DbtRuntimeError(
                f"Cannot run the Python model {name}: `method: {self.credentials.method}` carries SQL alone. "
                "Use `method: session` or `connect`, or write the model in SQL."
            )
        handle.run(lambda session: run_model(compiled_code, name, session))
        return AdapterResponse("OK")

    @available.parse_none
    def storage_table_of(self, relation: BaseRelation) -> str | None:
        """Return the storage table behind a materialized view as quoted SQL, none when it has none."""
        reader = self.catalog_reader_of(relation.database)
        return _ask(lambda: rendered_storage_table(reader, str(relation.schema), str(relation.identifier)))

    @available.parse(lambda *_, **__: False)
    def deletes_files_of(self, relation: BaseRelation) -> bool:
        """Return whether the storage table behind a materialized view is dropped with its files."""
        reader = self.catalog_reader_of(relation.database)
        return _ask(lambda: deletes_files(reader, str(relation.schema), str(relation.identifier)))

    def get_catalog(
        self, relation_configs: Iterable[RelationConfig], used_schemas: frozenset[tuple[str, str]]
    ) -> tuple[agate.Table, list[Exception]]:
        """Return the docs rows of all used schemas, of as many catalogs as there are."""
        return SQLAdapter.get_catalog(self, relation_configs, used_schemas)

    def _get_one_catalog(
        self,
        information_schema: InformationSchema,
        schemas: set[str],
        used_schemas: frozenset[tuple[str, str]],  # noqa: ARG002
    ) -> agate.Table:
        """Return the docs rows of the used schemas of one catalog, none if the profile does not describe it."""
        import agate  # noqa: PLC0415 - slow to import, and only docs need it

        rows: list[Row] = []
        if self.credentials.is_known_catalog(information_schema.database):
            reader = self.catalog_reader_of(information_schema.database)
            rows = _ask(lambda: [row for schema in sorted(schemas) for row in catalog_rows(reader, schema)])
        else:
            warn_of_unknown_catalog(str(information_schema.database))
        # A comment or a refresh time must stay text, whatever it looks like.
        texts = {key for row in rows for key, value in row.items() if isinstance(value, str)}
        return agate.Table.from_object(rows, column_types=build_type_tester(texts, string_null_values=()))

    def get_catalog_for_single_relation(self, relation: BaseRelation) -> CatalogTable | None:
        """Return what docs show of one relation, None when it is absent or in a catalog that is not described."""
        if not self.credentials.is_known_catalog(relation.database):
            return None
        reader = self.catalog_reader_of(relation.database)
        return _ask(lambda: catalog_table(reader, str(relation.schema), str(relation.identifier)))

    def calculate_freshness_from_metadata_batch(
        self,
        sources: Sequence[BaseRelation],
        macro_resolver: object = None,  # noqa: ARG002
    ) -> tuple[list[AdapterResponse | None], dict[BaseRelation, Any]]:
        """Return when each source was changed last, from the snapshots in the catalog. No Spark."""
        now = datetime.now(timezone.utc)

        def found(source: BaseRelation) -> datetime | None:
            reader = self.catalog_reader_of(source.database)
            return _ask(lambda: last_modified(reader, str(source.schema), str(source.identifier)))

        return [], {source: self._create_freshness_response(found(source), now) for source in sources}

    def _stored_columns(self, relation: BaseRelation) -> tuple[ColumnInfo, ...] | None:
        """Return the columns of a relation in the catalog, None where PyIceberg does not understand them."""
        try:
            return self._columns_in_catalog(relation)
        except TableNotUnderstood:
            return None

    def _columns_in_catalog(self, relation: BaseRelation) -> tuple[ColumnInfo, ...]:
        reader = self.catalog_reader_of(relation.database)
        schema, name = str(relation.schema), str(relation.identifier)
        if relation.type in {RelationType.View, RelationType.MaterializedView}:
            view = found_view(reader, (reader.name, schema, name))
            return () if view is None else view.columns
        table = reader.table(schema, name)
        if table is not None:
            return table_columns(table)
        view = reader.view(schema, name)
        return () if view is None else view.columns

    def _described_columns(self, relation: BaseRelation) -> list[IcebergMVColumn]:
        _, rows = self.execute(f"describe {relation.render()}", fetch=True)
        return described_columns(rows)


def _ask(question: Callable[[], Answer]) -> Answer:
    """Ask the catalog; an unknown failure is an error, never an empty answer."""
    try:
        return question()
    except MaintenanceError as error:
        raise DbtRuntimeError(str(error)) from error
