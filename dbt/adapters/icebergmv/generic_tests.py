"""The adapter's side of the generic tests of materialized views: what they find out becomes a query without tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import BaseRelation, available
from dbt.adapters.base.meta import AdapterMeta
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.invocation import COMPILING_COMMANDS, command, partial_inputs
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, MaintenanceError, naming
from dbt.adapters.icebergmv.maintenance.operations.rightness import wrong_rows_query
from dbt.adapters.icebergmv.maintenance.reports.freshness import Overdue, overdue, overdue_sql
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.rendering import string_literal
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import time_span
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import meaning_settings

if TYPE_CHECKING:
    from dbt.adapters.icebergmv.credentials import IcebergMVCredentials
    from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader


@dataclass(frozen=True)
class FreshnessTest:
    """The query of a test, which gives a row for each reason to fail, and what a run says of them."""

    sql: str
    said: tuple[str, ...] = ()


class GenericTestsMixin(metaclass=AdapterMeta):
    """Methods that the macros in macros/generic_tests call."""

    if TYPE_CHECKING:
        credentials: IcebergMVCredentials

        def catalog_reader_of(self, database: str | None) -> CatalogReader:
            """Return the reader of a catalog."""

        def get_macro_resolver(self) -> Any:
            """Return the manifest."""

    @available.parse(lambda *_, **__: FreshnessTest("SELECT 1 AS parsed WHERE false"))
    def materialized_view_freshness(self, view: object, within: object, started_at: datetime) -> FreshnessTest:
        """Return the test whether a view is older than `within`, or else its `target_lag`, when dbt was started.

        A view that a run has left alone since is not yet too old so. Raises DbtRuntimeError without a lag to test for;
        commands that only compile get a SELECT that says so.
        """
        try:
            found = self._overdue(view, within, started_at)
        except MaintenanceError as error:
            return FreshnessTest(_error_sql(error))
        said = () if command() in COMPILING_COMMANDS else tuple(map(str, found))
        return FreshnessTest(overdue_sql(found), said)

    @available.parse(lambda *_, **__: "")
    def materialized_view_wrong_rows(self, relation: object) -> str:
        """Return the SELECT of the rows of a view that are not those of its SELECT.

        Raises DbtRuntimeError where that cannot be known; commands that only compile get a SELECT that says so.
        """
        try:
            return self._wrong_rows(relation)
        except MaintenanceError as error:
            return _error_sql(error)

    def _overdue(self, view: object, within: object, started_at: datetime) -> tuple[Overdue, ...]:
        if not isinstance(view, BaseRelation):
            raise InvalidConfig("materialized_view_is_fresh takes no `where`: a view is fresh as a whole.")
        name = (str(view.database), str(view.schema), str(view.identifier))
        with naming("test", show(name)):
            allowed = self._allowed(name, within)
            # Such rows are those of this invocation, and of a part of the tables.
            is_partial = partial_inputs() is not None
            return () if is_partial else overdue(self.catalog_reader_of(name[0]), name, allowed, started_at)

    def _wrong_rows(self, relation: object) -> str:
        if not isinstance(relation, BaseRelation):
            raise InvalidConfig("the test materialized_view_is_right compares all rows. Leave `where` out.")
        if partial_inputs() is not None:
            # This invocation built its views over a part of the tables, or of none.
            return "SELECT 1 AS compared WHERE false"
        view = (str(relation.database), str(relation.schema), str(relation.identifier))
        settings = meaning_settings(self.credentials.session_conf())
        return wrong_rows_query(self.catalog_reader_of(view[0]), view, settings)

    def _allowed(self, name: TableName, within: object) -> int:
        """Return how old a view may be, in seconds."""
        allowed = time_span("within", within)
        if allowed is None:
            allowed = time_span("target_lag", _target_lag(self.get_macro_resolver(), name))
        if allowed is None:
            raise InvalidConfig(
                "its model has no target_lag. Set one, or give the test materialized_view_is_fresh `within: '2 hours'`."
            )
        return allowed


def _error_sql(error: MaintenanceError) -> str:
    """Return the SQL of a test that cannot be made. Raises DbtRuntimeError, but in commands that only compile."""
    if command() not in COMPILING_COMMANDS:
        raise DbtRuntimeError(str(error)) from error
    return f"SELECT raise_error({string_literal(str(error))}) AS error"


def _target_lag(manifest: Any, name: TableName) -> object:
    """Return the `target_lag` of the model whose relation this is, or that is deferred to it."""
    for node in manifest.nodes.values():
        if str(node.resource_type) != "model":
            continue
        relations = [node, getattr(node, "defer_relation", None)]
        if any(r is not None and (str(r.database), str(r.schema), str(r.alias)) == name for r in relations):
            return node.config.get("target_lag")
    return None
