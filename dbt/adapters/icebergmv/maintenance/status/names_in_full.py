"""Names of tables without catalog or schema, written in full.

A session may be in another namespace than the one that the profile gives, after a USE in a hook or in a notebook: it
would read a bare name as another table than the one that was looked at.
"""

from __future__ import annotations

from dbt.adapters.icebergmv.maintenance.definition.parsing import parse_query
from dbt.adapters.icebergmv.maintenance.definition.table_references import TableReference, find_references
from dbt.adapters.icebergmv.maintenance.definition.text_edits import splice
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified
from dbt.adapters.icebergmv.maintenance.status.base_tables import BaseTables

_SESSION_CATALOG = "spark_catalog"


def names_in_full(sql: str, default_namespace: str, bases: BaseTables) -> str:
    """Return a SELECT with three parts in the name of each table and materialized view that the catalog has.

    Any other name stays: a table of another catalog, which only Spark can look up, and that of a plain view, for which
    Spark may read a temporary one.
    """
    query = parse_query(sql)
    if query is None:
        return sql
    written = [r for r in find_references(query, default_namespace).tables if _lacks_catalog(r, bases)]
    found = {reference: bases.of(reference) for reference in written}
    return splice(sql, {r: qualified(*base.name) for r, base in found.items() if base.source is not None})


def _lacks_catalog(reference: TableReference, bases: BaseTables) -> bool:
    # The first of two parts may be a catalog.
    return reference.catalog is None and reference.namespace not in (bases.catalog_name, _SESSION_CATALOG)
