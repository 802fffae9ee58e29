"""What a refresh of one view is asked to do: by a model, or by what the last refresh recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.errors import NotReadable
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import ViewConfig, recorded_view_config
from dbt.adapters.icebergmv.maintenance.status.recorded.pinned_view import is_published
from dbt.adapters.icebergmv.maintenance.status.recorded.qualified_definition import definition_in_full
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import recorded_view
from dbt.adapters.icebergmv.maintenance.status.session.clock import utc_now


@dataclass(frozen=True)
class RefreshRequest:
    """What a run asks for one view. Names without a namespace mean tables of `default_namespace`.

    `rebuild` is the reason to rebuild that the caller already knows (`--full-refresh`); `partial` the dbt flag
    (`--empty`, `--sample`) whose rows are not those of the definition. `is_run`: a run asks, which leaves a view with
    `refresh_on_run: false` as it is. `now` is the clock, read at every inspection.
    """

    view: TableName
    sql: str
    default_namespace: str
    config: ViewConfig
    owner: str
    rebuild: str | None = None
    partial: str | None = None
    is_run: bool = True
    now: Callable[[], datetime] = utc_now

    @property
    def name(self) -> str:
        """Return the name of the view as people and Spark read it."""
        return show(self.view)

    @property
    def is_left_alone(self) -> bool:
        """Return whether the stored rows stay as they are, unless they must be built anew."""
        return self.is_run and not self.config.refresh_on_run

    @property
    def rebuild_reason(self) -> str | None:
        """Return why this run rebuilds the contents whatever is recorded, or None."""
        return f"built with {self.partial}; the next run refreshes it" if self.partial is not None else self.rebuild


def recorded_request(catalog: CatalogReader, name: TableName) -> RefreshRequest:
    """Return what a refresh of a view would ask for that follows what is recorded of it.

    Raises NotReadable for what is no materialized view, and where rows of its SELECT would not be those of the view.
    """
    found = recorded_view(catalog, name)
    if found is None:
        raise NotReadable("it is not a materialized view of the catalog. Name one as catalog.schema.view.")
    view, state = found
    if not is_published(view, state):
        raise NotReadable("the view was redefined by hand. Query it as the view that it is, or refresh it.")
    if state.partial is not None:
        raise NotReadable(f"the last run was built with {state.partial}. Refresh it without.")
    config = recorded_view_config(state)
    return RefreshRequest(name, definition_in_full(state, catalog.name), name[1], config, state.owner)


def recorded_select(catalog: CatalogReader, name: TableName) -> str | None:
    """Return the SELECT of the last refresh of a view; None of what is no materialized view, or built with `--empty`.

    Raises StateUnreadable.
    """
    found = recorded_view(catalog, name)
    return None if found is None else found[1].definition or None
