"""Are the stored rows of a view those of its SELECT at the snapshots that were read for it?

The comparison is one query: each row of the SELECT counts one, each stored row minus one, and what does not come to
nothing is wrong. Rows are compared as bags, as EXCEPT ALL does both ways, and each side is computed once.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.edits.wrapping import without_wrapping
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import SIGN
from dbt.adapters.icebergmv.maintenance.errors import NotReadable, naming
from dbt.adapters.icebergmv.maintenance.planning.queries.pinned_queries import pinned_query
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.queries import column_list, select_from
from dbt.adapters.icebergmv.maintenance.status.analysis import Analysis
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import changed_settings, recorded_view_config
from dbt.adapters.icebergmv.maintenance.status.inspection import stored_of
from dbt.adapters.icebergmv.maintenance.status.recorded.qualified_definition import definition_in_full
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import recorded_view, storage_found
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import is_utc
from dbt.adapters.icebergmv.maintenance.status.tables.recorded_tables import RecordedTables
from dbt.adapters.icebergmv.maintenance.status.tables.view_expansion import expand, redefined
from dbt.adapters.icebergmv.maintenance.stitching.snapshot_query import in_stored_types

MISSING_IN = "icebergmv_missing_in"
HOW_OFTEN = "icebergmv_rows"


def wrong_rows_query(catalog: CatalogReader, view: TableName, settings: Mapping[str, str]) -> str:
    """Return the SELECT of the rows that are stored and should not be, or should be and are not; none: all is right.

    Beside the columns of the view, it says where the row is missing (`view` or `definition`) and how often. Whether
    tables changed since the last refresh does not matter. `settings` are those of the session that will run it, as far
    as they change what a SELECT means. Raises NotReadable where the rows that there should be cannot be known.
    """
    with naming("compare with its SELECT the view", show(view)):
        recorded = recorded_view(catalog, view)
        if recorded is None:
            raise NotReadable("it is not a materialized view of the catalog. Run dbt first.")
        found, state = recorded
        if state.partial is not None:
            raise NotReadable(f"the last run was built with {state.partial}. Refresh it without.")
        changed = changed_settings(settings, state.settings)
        if changed:
            raise NotReadable(f"the last refresh ran with other settings: {changed[0]}. Refresh it.")
        stored = stored_of(found, state, storage_found(catalog, found, state.storage_table))
        if isinstance(stored, str):
            raise NotReadable(f"{stored}. Refresh it.")
        bases = RecordedTables(catalog, state)
        definition = _definition_then(catalog, view, state, stored, bases)
        # When a row was written is no part of what it says.
        listed = column_list([c for c in stored.columns if c.lower() not in definition.written_at])
        sides = " UNION ALL ".join(
            select_from(side, f"{sign} AS {SIGN}, {listed}")
            for sign, side in (
                ("1L", in_stored_types(pinned_query(definition, bases, {}), stored)),
                ("-1L", stored.query),
            )
        )
        where = f"CASE WHEN sum({SIGN}) > 0 THEN 'view' ELSE 'definition' END AS {MISSING_IN}"
        columns = f"{where}, abs(sum({SIGN})) AS {HOW_OFTEN}, {listed}"
        return f"{select_from(sides, columns)} GROUP BY {listed} HAVING sum({SIGN}) <> 0"


def _definition_then(
    catalog: CatalogReader, view: TableName, state: ViewState, stored: StoredRows, bases: RecordedTables
) -> ViewDefinition:
    """Return the SELECT as the last refresh computed it: its tables at their snapshots, its clock as it stood."""
    utc = is_utc(state.settings)
    expanded = expand(definition_in_full(state, catalog.name), view[1], bases, utc)
    changed = redefined(expanded.views, state)
    if changed is not None:
        raise NotReadable(f"{changed} since. Refresh it.")
    config, text = recorded_view_config(state), without_wrapping(expanded.sql)
    given, written_at = config.given(view[1]), config.written_at_columns
    analysis = Analysis(text, bases, given, state.clock, state.tie_breakers, written_at)
    definition = analysis.definition("stored", stored.table).with_types(stored.types)
    _refuse_other_rows(definition)
    return definition


def _refuse_other_rows(definition: ViewDefinition) -> None:
    """Refuse a SELECT that may give other rows from the same tables."""
    reason = definition.always_full or definition.depends_on_order
    if reason is None and definition.ties:
        reason = "rows tie in the ORDER BY of a window"
    if reason is not None:
        raise NotReadable(f"{reason}, so it may give other rows. Compare them by a query of your own.")
