"""The adapter's side of `dbt run-operation`: the project in, text out. No operation here runs a statement."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from dbt.adapters.base import available
from dbt.adapters.base.meta import AdapterMeta
from dbt.adapters.events.types import AdapterEventWarning
from dbt_common.events.functions import warn_or_error
from dbt_common.exceptions import DbtBaseException, DbtRuntimeError

from dbt.adapters.icebergmv.contract import declared_columns
from dbt.adapters.icebergmv.garbage import seldom_collected
from dbt.adapters.icebergmv.listing import STORAGE_PREFIXES
from dbt.adapters.icebergmv.maintenance.catalog.unreadable import UnreadableCatalog
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import definition_hash, single_statement
from dbt.adapters.icebergmv.maintenance.errors import (
    CatalogUnavailable,
    InvalidConfig,
    MaintenanceError,
    TableNotUnderstood,
)
from dbt.adapters.icebergmv.maintenance.reports.as_json import as_json
from dbt.adapters.icebergmv.maintenance.reports.explanation import Explanation, explain_all, without_status
from dbt.adapters.icebergmv.maintenance.reports.explanation_text import explanation_text, project_text
from dbt.adapters.icebergmv.maintenance.reports.one_run import status
from dbt.adapters.icebergmv.maintenance.reports.status_text import status_text
from dbt.adapters.icebergmv.maintenance.reports.view_status import Configured, Recorded, Subject, Unread, ViewStatus
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.configuration_change import OnChange
from dbt.adapters.icebergmv.maintenance.status.configured.config_words import one_of
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import recorded_select
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import is_materialized_view
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import is_view_table
from dbt.adapters.icebergmv.project_models import (
    MATERIALIZED_VIEW,
    ProjectModel,
    as_run_sees_it,
    built_first,
    compiled_sql,
    is_wanted,
    like,
    models_of,
    relations_of,
    schemas_of,
    unmatched,
    views_below,
    wanted_names,
)
from dbt.adapters.icebergmv.run_operation import FORMATS, operation

if TYPE_CHECKING:
    from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
    from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest

Report = TypeVar("Report")
_GONE = "no model of this project has its name: dbt leaves it as it is; drop it, or ignore it"
_ASKS = "its SELECT asks Spark while it is compiled (run_query, statement), so it is known when it runs"


class OperationsMixin(metaclass=AdapterMeta):
    """Methods that the macros in macros/operations call."""

    if TYPE_CHECKING:
        config: Any

        def catalog_reader_of(self, database: str | None) -> CatalogReader:
            """Return the reader of a catalog."""

        def get_macro_resolver(self) -> Any:
            """Return the manifest."""

        def refresh_request(self, model: Any, sql: str, view: TableName, full_refresh: bool) -> RefreshRequest:
            """Return what a run asks for a model's view."""

    _only_looks = False

    def execute(self, sql: str, *arguments: Any, **more: Any) -> Any:
        """Run a statement, but not while an operation compiles models: that would start Spark."""
        if self._only_looks:
            raise DbtRuntimeError(_ASKS)
        return super().execute(sql, *arguments, **more)  # type: ignore[misc]

    @available.parse(lambda *_, **__: "")
    def materialized_view_status(self, select: object = None, format: object = "table") -> str:  # noqa: A002
        """Return the status of the materialized views of the project, and of those in its schemas without a model.

        `select` names some of them, `format` is table or json. Raises DbtRuntimeError for names that are none.
        """
        with operation("show the status of materialized views"), seldom_collected():
            wanted, words = wanted_names(select), one_of(FORMATS, "format", format)
            found = self._statuses(wanted)
        return as_json(found) if words == "json" else status_text(found)

    @available.parse(lambda *_, **__: "")
    def explain_materialized_view(self, model: object = None, format: object = "table") -> str:  # noqa: A002
        """Return why a model is refreshed as it is or, if it is no materialized view, what it would be as one.

        Without `model` all models of the project are explained, in one line each. `format` is table or json. Raises
        DbtRuntimeError for a name that is no model.
        """
        with operation("explain"), seldom_collected():
            wanted, words = wanted_names(model), one_of(FORMATS, "format", format)
            found = self._explanations(wanted)
        reports = [explanation for explanation, _ in found]
        if words == "json":
            return as_json(reports)
        if len(found) == 1 and wanted:
            return explanation_text(*found[0])
        return project_text(found)

    def _explanations(self, wanted: Sequence[str]) -> list[tuple[Explanation, str]]:
        """Return an explanation of each model that is wanted, and how the model is materialized now."""
        manifest = self.get_macro_resolver()
        models = models_of(manifest)
        names = [m.names for m in models]
        for name in unmatched(names, wanted):
            raise InvalidConfig(
                f"model is {name!r}, which is no model of the project in SQL. Name another one{like(names, name)}."
            )
        shown = [m for m in models if is_wanted(m.names, wanted)]
        readers = {m.relation[0]: self.catalog_reader_of(m.relation[0]) for m in shown}
        # What becomes of a view depends on those that it reads, wanted or not.
        views = list(filter(_is_a_view, models)) if any(map(_is_a_view, shown)) else []
        is_changed = self._changed_views(manifest)
        needs = views_below(manifest)
        looked_at = [m for m in models if m in shown or m in views]
        subjects = {m.relation: self._subject(m, manifest, is_changed, needs) for m in looked_at}
        explained = _each(explain_all, readers, [subjects[m.relation] for m in shown])
        others = {m.relation[0]: self._reader_or_what_is_wrong(m.relation[0]) for m in views}
        said = {view.name: view for view in _each(status, others, [subjects[m.relation] for m in views])}
        # Models come in the order of their relations, so those of one catalog are side by side.
        return [(_as_model(e, said.get(e.name)), m.materialized) for e, m in zip(explained, shown, strict=True)]

    def _statuses(self, wanted: Sequence[str]) -> list[ViewStatus]:
        manifest = self.get_macro_resolver()
        models = list(filter(_is_a_view, models_of(manifest)))
        schemas = schemas_of(manifest)
        readers = {catalog: self._reader_or_what_is_wrong(catalog) for catalog in schemas}
        known = relations_of(manifest)
        gone = [name for catalog in schemas for name in _without_model(readers[catalog], schemas[catalog], known)]
        all_names = [*(m.names for m in models), *(_names(name) for name in gone)]
        for name in unmatched(all_names, wanted):
            raise InvalidConfig(
                f"select has {name!r}, which is no materialized view of the project. Name another one"
                f"{like(all_names, name)}, or leave it out."
            )
        # What becomes of a view depends on those that it reads, wanted or not.
        is_changed = self._changed_views(manifest)
        needs = views_below(manifest)
        subjects: list[Subject] = [self._subject(m, manifest, is_changed, needs) for m in models]
        subjects += [Recorded(name, note=_GONE) for name in gone if is_wanted(_names(name), wanted)]
        shown = {show(m.relation) for m in models if is_wanted(m.names, wanted)} | {show(name) for name in gone}
        return [view for view in _each(status, readers, subjects) if view.name in shown]

    def _reader_or_what_is_wrong(self, catalog: str) -> CatalogReader:
        """Return the reader of a catalog; of one that cannot be opened, one that says why whatever it is asked."""
        try:
            return self.catalog_reader_of(catalog)
        except DbtRuntimeError as error:
            return UnreadableCatalog(catalog, str(error.msg))

    def _changed_views(self, manifest: Any) -> Callable[[str], bool]:
        """Return what says, of the id of a plain view, whether a run gives it another SELECT than the catalog has."""
        models = {str(m.node.unique_id): m for m in models_of(manifest)}

        @cache
        def is_changed(unique_id: str) -> bool:
            catalog, namespace, name = models[unique_id].relation
            try:
                sql = self._compiled(models[unique_id], manifest)
                view = self.catalog_reader_of(catalog).view(namespace, name)
            except (MaintenanceError, DbtBaseException):
                return True
            return sql is None or view is None or definition_hash(single_statement(sql)) != definition_hash(view.sql)

        return is_changed

    def _subject(
        self,
        model: ProjectModel,
        manifest: Any,
        is_changed: Callable[[str], bool],
        views_below: Callable[[str], frozenset[TableName]],
    ) -> Subject:
        """Return a model as status and explain look at it, with why its run fails before it asks for anything."""
        needs = views_below(str(model.node.unique_id))
        try:
            sql = self._compiled(model, manifest)
            is_asked = sql is None
            if sql is None:
                sql = recorded_select(self.catalog_reader_of(model.relation[0]), model.relation)
            is_rebuilt = model.node.config.full_refresh is True
            # The configuration may be wrong whatever the SELECT is.
            as_run_has_it = as_run_sees_it(model)
            request = self.refresh_request(as_run_has_it, sql or "", model.relation, is_rebuilt)
            if sql is None:
                return Unread(model.relation, _ASKS, needs)
        except MaintenanceError as error:
            return Recorded(model.relation, problem=error.cause)
        except DbtBaseException as error:
            return Recorded(model.relation, problem=_first_lines(error))
        setting = str(model.node.config.on_configuration_change.value)
        below = built_first(manifest, model.node, is_changed)
        declared = declared_columns(as_run_has_it)
        return Configured(request, cast(OnChange, setting), below, is_asked, declared, needs)

    def _compiled(self, model: ProjectModel, manifest: Any) -> str | None:
        """Return the SELECT of a model, None of one that asks Spark for it. Raises dbt's errors of Jinja."""
        try:
            with self._looking():
                return compiled_sql(self.config, manifest, model)
        except DbtBaseException as error:
            if _ASKS not in str(error):
                raise
            return None

    @contextmanager
    def _looking(self) -> Iterator[None]:
        self._only_looks = True
        try:
            yield
        finally:
            self._only_looks = False


def _each(
    report: Callable[[CatalogReader, Sequence[Subject]], Iterable[Report]],
    readers: Mapping[str, CatalogReader],
    subjects: Sequence[Subject],
) -> list[Report]:
    """Return a report on each view, made for those of one catalog at a time, in the order given."""
    catalogs = dict.fromkeys(s.name[0] for s in subjects)
    return [one for c in catalogs for one in report(readers[c], [s for s in subjects if s.name[0] == c])]


def _without_model(reader: CatalogReader, schemas: Iterable[str], known: Container[TableName]) -> Iterator[TableName]:
    """Yield the materialized views in some schemas that are of no model; warn where the catalog cannot be read."""
    try:
        for schema in sorted(schemas):
            for entry in reader.entries(schema):
                name = (reader.name, schema, entry.name)
                if name not in known and _is_view(reader, name, entry.kind):
                    yield name
    except CatalogUnavailable as error:
        unknown = f"Materialized views of the catalog {reader.name} that are of no model may be missing"
        warn_or_error(AdapterEventWarning(base_msg=f"{unknown}. {error}"))


def _is_view(reader: CatalogReader, name: TableName, kind: Literal["table", "view"]) -> bool:
    """Return whether a name is that of a materialized view; a table is opened unless it is named as storage is."""
    try:
        if kind == "view":
            view = reader.view(*name[1:])
            return view is not None and is_materialized_view(view.properties)
        table = None if name[2].startswith(STORAGE_PREFIXES) else reader.table(*name[1:])
    except TableNotUnderstood:
        # What cannot be stored in a table that we read is no materialized view.
        return False
    return table is not None and is_view_table(name, table.properties)


def _is_a_view(model: ProjectModel) -> bool:
    return model.materialized == MATERIALIZED_VIEW


def _as_model(explanation: Explanation, said: ViewStatus | None) -> Explanation:
    """Return the explanation with the status of the view in the whole project; a model that is none has no status."""
    if said is None:
        return without_status(explanation)
    return explanation if explanation.status is None else replace(explanation, status=said)


def _names(name: TableName) -> tuple[str, ...]:
    return (name[2], ".".join(name[1:]), ".".join(name), show(name))


def _first_lines(error: DbtBaseException) -> str:
    """Return dbt's message in one line, without the trail of macros below it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("> in macro", "> called by"))]
    return ": ".join(told[:3])
