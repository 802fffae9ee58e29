"""The adapter's side of `materialized='materialized_view'`: from a dbt model to a request to the engine, and back."""

from __future__ import annotations

import getpass
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from dbt.adapters.base import BaseRelation, available
from dbt.adapters.base.meta import AdapterMeta
from dbt.adapters.events.logging import AdapterLogger
from dbt_common.behavior_flags import BehaviorFlag
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.contract import ContractCheck, declared_columns
from dbt.adapters.icebergmv.debug import OLD_JDBC, without_views
from dbt.adapters.icebergmv.invocation import partial_inputs
from dbt.adapters.icebergmv.maintenance.definition.partitioning import partition_by_texts
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import definition_hash, single_statement
from dbt.adapters.icebergmv.maintenance.errors import (
    CatalogUnavailable,
    InvalidConfig,
    MaintenanceError,
    naming,
)
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult, left_alone, nothing_done
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.configuration_change import (
    MEND,
    Decision,
    OnChange,
    decided,
    why_left,
    why_refused,
)
from dbt.adapters.icebergmv.maintenance.status.configured.clustering import cluster_by_texts
from dbt.adapters.icebergmv.maintenance.status.configured.config_words import true_or_false
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import (
    StaleReadBehavior,
    definition_below_rows,
    stale_read_behavior,
    staleness_window,
)
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import time_span
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import (
    Layout,
    ViewConfig,
    deterministic_functions,
    keep_versions,
    layout,
    refresh_policy,
    written_at_columns,
)
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, LostView, RefreshedView
from dbt.adapters.icebergmv.maintenance.status.resting import RestingView, inspect_for_run
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import ESCAPED_LITERALS, meaning_settings
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from dbt.adapters.icebergmv.progress import Progress, stage_of
from dbt.adapters.icebergmv.responses import MaterializedViewResponse, response_of
from dbt.adapters.icebergmv.spark.settings import setting_text
from dbt.adapters.icebergmv.statement_runs import StatementRuns, begin_beside, is_cold
from dbt.adapters.icebergmv.storage_names import configured_storage, refuse_variables
from dbt.adapters.icebergmv.warning import Once, warn

if TYPE_CHECKING:
    from dbt.adapters.icebergmv.credentials import IcebergMVCredentials
    from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader

_logger = AdapterLogger("IcebergMV")


_FLAGS_PAGE = "https://docs.getdbt.com/reference/global-configs/behavior-changes"
BEHAVIOR_FLAGS: list[BehaviorFlag] = [
    {
        "name": "materialized_view_stitching_enabled",
        "default": True,
        "description": "Materialized views honour stale_read_behavior. Off: readers get the last refresh.",
        "source": "dbt-icebergmv",
        "docs_url": _FLAGS_PAGE,
    },
    {
        "name": "materialized_view_connector_driven_refresh_enabled",
        "default": True,
        "description": "A refresh recomputes what changed. Off: it recomputes everything when something changed.",
        "source": "dbt-icebergmv",
        "docs_url": _FLAGS_PAGE,
    },
]


@dataclass(frozen=True)
class Refreshed:
    """A finished refresh: the response for the result line and run_results.json, and the SQL for target/run."""

    response: MaterializedViewResponse
    sql: str


class MaterializedViewMixin(metaclass=AdapterMeta):
    """Methods that the materialization calls."""

    if TYPE_CHECKING:
        credentials: IcebergMVCredentials
        connections: Any
        behavior: Any

        _say_of_catalogs: Once

        def catalog_reader_of(self, database: str | None) -> CatalogReader:
            """Return the reader of a catalog."""

    @available.parse(lambda *_, **__: None)
    def inspect_materialized_view(
        self, model: Mapping[str, Any], sql: str, relation: BaseRelation, full_refresh: bool
    ) -> Inspection | RestingView:
        """Return what is recorded of the model's view, what changed in its configuration and its tables. No Spark."""
        view = (str(relation.database), str(relation.schema), str(relation.identifier))
        with _for_dbt(), naming("refresh", show(view)):
            request = self.refresh_request(model, sql, view, full_refresh)
            return inspect_for_run(self.catalog_reader_of(relation.database), request)

    @available.parse(lambda *_, **__: None)
    def refresh_materialized_view(
        self, inspection: Inspection | RestingView, model: Mapping[str, Any], assert_columns: Callable[[str], object]
    ) -> Refreshed:
        """Refresh the inspected view; return what dbt reports of it and the SQL that was run.

        `assert_columns` is the macro that compares the columns of a SELECT with those of the model's contract.
        """
        started = time.perf_counter()
        contract = ContractCheck(declared_columns(model), lambda: assert_columns(inspection.request.sql))
        view = inspection.request.view
        progress = Progress(show(view), _logger.info)

        def before(sql: str) -> None:
            progress.reach(stage_of(sql))
            contract.ask_spark()

        statements = StatementRuns(self.connections, before)
        if isinstance(inspection, RestingView):
            result = left_alone(inspection)
        else:
            with progress:
                result = self._refreshed(inspection, statements)
        contract.compare(() if inspection.found is None else inspection.found.columns)
        response = response_of(result, time.perf_counter() - started)
        return Refreshed(response, ";\n\n".join(statements.texts))

    def _refreshed(self, inspection: Inspection, statements: StatementRuns) -> RefreshResult:
        view = inspection.request.view
        with _for_dbt(), naming("refresh", show(view)):
            reads = read_plan(inspection)
            if reads.is_small:
                _logger.debug(f"{show(view)} is computed when it is read: its base tables are small")
            reader = self.catalog_reader_of(view[0])
            lake = Lake(reader, statements.run, Once(warn), statements.ask, begin_beside, is_cold())
            result = refresh(lake, inspection, reads)
            statements.end()
            return result

    @available.parse(lambda *_, **__: "go on")
    def decide_on_change(self, inspection: Inspection, setting: str) -> Decision:
        """Return whether the run refreshes a view whose model was changed, leaves it as it is, or is an error."""
        return decided(inspection, cast(OnChange, setting))

    @available.parse(lambda *_, **__: None)
    def leave_materialized_view(self, inspection: RefreshedView | LostView) -> MaterializedViewResponse:
        """Warn that the model was changed and its view is left as it is; return what dbt reports of that."""
        reason = why_left(inspection.changes)
        warn(f"Left {inspection.request.name} as it is, because {reason}. {MEND}")
        return response_of(nothing_done(inspection, reason, inspection.state.stale_read_behavior), 0.0)

    @available.parse(lambda *_, **__: "")
    def refused_change(self, inspection: RefreshedView | LostView) -> str:
        """Return what to say where a changed model is an error."""
        return f"Cannot refresh {inspection.request.name}: {why_refused(inspection.changes)}"

    def refresh_request(
        self, model: Mapping[str, Any], sql: str, view: TableName, full_refresh: bool
    ) -> RefreshRequest:
        """Return what a run asks for a model's view. Raises InvalidConfig."""
        config: Mapping[str, Any] = model["config"]
        _refuse_unsupported(config)
        storage = configured_storage(config, view)
        refuse_variables(view, storage)
        chosen = self._layout(config, view[0])
        statement = single_statement(sql)
        settings = meaning_settings(self.credentials.session_conf())
        if settings.get(ESCAPED_LITERALS, "false").lower() == "true":
            raise InvalidConfig(f"{ESCAPED_LITERALS} is true. Set it to false: stored text could not be quoted safely.")
        persist = config.get("persist_docs") or {}
        columns: Mapping[str, Any] = model.get("columns") or {}
        partition_by = config.get("partition_by")
        return RefreshRequest(
            view=view,
            sql=statement,
            default_namespace=self.credentials.schema,
            config=ViewConfig(
                definition_hash=definition_hash(statement),
                storage_table=view if chosen == "table" else storage,
                partition_by=None if partition_by is None else partition_by_texts(partition_by),
                tblproperties={str(k): setting_text(v) for k, v in (config.get("tblproperties") or {}).items()},
                comment=(model.get("description") or None) if persist.get("relation") else None,
                column_comments={name: str(c["description"]) for name, c in columns.items() if c.get("description")}
                if persist.get("columns")
                else {},
                settings=settings,
                refresh_policy=refresh_policy(config.get("refresh_policy") or "auto"),
                incremental=self.behavior.materialized_view_connector_driven_refresh_enabled.no_warn,
                refresh_on_run=true_or_false("refresh_on_run", config.get("refresh_on_run"), True),
                stale_read_behavior=self._stale_read_behavior(config, chosen),
                staleness_window=staleness_window(config.get("staleness_window")),
                definition_below_rows=definition_below_rows(config.get("definition_below_rows")),
                target_lag=time_span("target_lag", config.get("target_lag")),
                layout=chosen,
                cluster_by=cluster_by_texts(config.get("cluster_by")),
                keep_versions=_keep_versions(config, chosen),
                written_at_columns=written_at_columns(config.get("written_at_columns")),
                deterministic_functions=deterministic_functions(config.get("deterministic_functions")),
                spark_release=self.credentials.spark_release(),
            ),
            owner=_user(),
            rebuild=_why_rebuilt(config) if full_refresh else None,
            partial=partial_inputs(),
        )

    def _layout(self, config: Mapping[str, Any], database: str) -> Layout:
        """Return the layout of a model: as configured, else a view where the catalog has views."""
        settings = self.credentials.catalog_settings(database)
        if not settings.supports_views:
            raise InvalidConfig(OLD_JDBC.format(database))
        if config.get("layout") is not None:
            return layout(config["layout"])
        try:
            has_views = self.catalog_reader_of(database).has_views
        except (CatalogUnavailable, DbtRuntimeError):
            # What is wrong with the catalog is said by who looks into it next.
            return "view"
        if not has_views:
            self._say_of_catalogs(without_views(settings))
        return "view" if has_views else "table"

    def _stale_read_behavior(self, config: Mapping[str, Any], chosen: Layout) -> StaleReadBehavior:
        wanted = stale_read_behavior(config.get("stale_read_behavior") or "use_data_table")
        if not self.behavior.materialized_view_stitching_enabled.no_warn:
            return "use_data_table"
        if chosen == "table" and wanted != "use_data_table":
            raise InvalidConfig(
                f"stale_read_behavior {wanted} needs a view, and {_why_table(config)}. Leave out stale_read_behavior, "
                "or use layout view in a catalog that has views."
            )
        return wanted


def _keep_versions(config: Mapping[str, Any], chosen: Layout) -> int:
    if chosen == "table" and config.get("keep_versions") is not None:
        raise InvalidConfig(
            f"keep_versions needs a view, and {_why_table(config)}. Leave out keep_versions, or use layout view in a "
            "catalog that has views."
        )
    return keep_versions(config.get("keep_versions"))


def _why_table(config: Mapping[str, Any]) -> str:
    return "layout is table" if config.get("layout") else "its catalog has no views, so that layout is table"


def _refuse_unsupported(config: Mapping[str, Any]) -> None:
    if config.get("view_dialects"):
        raise InvalidConfig(
            "`view_dialects` is not available: Spark publishes a view in its own dialect alone, and another one would "
            "be a second commit, between which engines would read other rows. Remove it, and use layout table, "
            "which every engine reads (docs/catalogs.md, Other engines)."
        )


@contextmanager
def _for_dbt() -> Iterator[None]:
    """Raise the engine's errors as dbt's."""
    try:
        yield
    except DbtRuntimeError:
        raise
    except MaintenanceError as error:
        raise DbtRuntimeError(str(error)) from error


def _why_rebuilt(config: Mapping[str, Any]) -> str:
    """Return who asked for a full refresh; the model's configuration counts more than the command line."""
    return "full_refresh is true in its configuration" if config.get("full_refresh") else "--full-refresh"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"
