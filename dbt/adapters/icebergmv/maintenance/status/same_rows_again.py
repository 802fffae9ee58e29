"""Does the SELECT of a materialized view, evaluated again, give the rows that are stored of it?

Only where the tables that are recorded with the rows decide them alone. Not with LIMIT or `rand()`, not where rows tie
(the stored ones were told apart by more columns), and not where it reads what is at no recorded snapshot.
"""

from __future__ import annotations

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.definition.definition import analyse
from dbt.adapters.icebergmv.maintenance.errors import InvalidDefinition
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import recorded_view_config
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import is_utc
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.status.tables.view_expansion import expand


def gives_the_same_rows(catalog: CatalogReader, view: ViewState, written: ViewState) -> bool:
    """Return whether the SELECT of a view gives rows that were written for it, at the snapshots recorded with them."""
    read_as = {**{base.name: False for base in written.base_tables}, **{v.name: True for v in written.views}}
    bases, config, namespace = BaseTables(catalog, read_as), recorded_view_config(view), view.default_namespace
    expanded = expand(view.definition, namespace, bases, is_utc(view.settings))
    try:
        found = analyse(config.given(namespace), expanded.sql, bases.columns_of)
    except InvalidDefinition:
        return False
    if found.always_full is not None or found.depends_on_order is not None or found.ties:
        return False
    recorded = {base.name for base in written.base_tables}
    return all(bases.of(reference).name in recorded for reference in found.live)
