"""The SELECT of a recorded view, as it is meant in any session.

Names in a compiled SELECT may lack the catalog or the namespace of the session that refreshed it. Another session would
look elsewhere, so they are written in full before anything else is done with the text.
"""

from __future__ import annotations

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import splice
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference, find_names
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import parse_query
from dbt.adapters.icebergmv.maintenance.errors import NotReadable
from dbt.adapters.icebergmv.maintenance.sql.names import TableName
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState


def definition_in_full(state: ViewState, catalog: str) -> str:
    """Return the recorded SELECT with every table named by catalog, namespace and name.

    The namespace of a bare name is the default one of the last refresh. Where that is not recorded, it is that of the
    only table or view of the name which it read. Raises NotReadable when that is not known.
    """
    if not state.definition:
        raise NotReadable("it was rolled back to rows of another SELECT than its model has. Run the model.")
    query = parse_query(state.definition)
    if query is None:
        raise NotReadable("its SELECT cannot be analysed, so its tables are not known. Query the view itself.")
    references = find_names(query, "")
    if references.opaque is not None:
        raise NotReadable(f"{references.opaque}, so its tables are not all known. Query the view itself.")
    read = {b.name for b in state.base_tables} | {v.name for v in state.views}
    default = state.default_namespace
    return splice(state.definition, {r: _in_full(r, catalog, default, read) for r in references.tables})


def _in_full(reference: TableReference, catalog: str, default: str, read: set[TableName]) -> str:
    catalog, namespace = reference.catalog or catalog, reference.namespace or default
    if namespace:
        return qualified(catalog, namespace, reference.name)
    namespaces = {n[1] for n in read if (n[0], n[2]) == (catalog, reference.name)}
    if len(namespaces) != 1:
        raise NotReadable(
            f"its SELECT names {reference.name} without a schema, and the last refresh does not say which is meant. "
            "Write it with its schema, and refresh the view."
        )
    return qualified(catalog, namespaces.pop(), reference.name)
