"""Names of tables without catalog or schema, written in full.

A session may be in another namespace than the one that the profile gives, after a USE in a hook or in a notebook: it
would read a bare name as another table than the one that was looked at.
"""

from __future__ import annotations

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import splice
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference, find_names
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import parse_query
from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables

_SESSION_CATALOG = "spark_catalog"


def names_in_full(sql: str, default_namespace: str, bases: BaseTables) -> str:
    """Return a SELECT with three parts in the name of each table and materialized view that the catalog has.

    Any other name stays: a table of another catalog, which only Spark can look up, and that of a plain view, for which
    Spark may read a temporary one.
    """
    query = parse_query(sql)
    if query is None:
        return sql
    written = find_names(query, default_namespace).tables
    return splice(sql, {r: name for r in written if (name := name_in_full(r, bases)) is not None})


def name_in_full(reference: TableReference, bases: BaseTables) -> str | None:
    """Return what a name is written as; None where it stays."""
    if reference.catalog is not None or may_be_catalog(reference.namespace, bases):
        return None
    base = bases.of(reference)
    return None if base.source is None else qualified(*base.name)


def may_be_catalog(name: str, bases: BaseTables) -> bool:
    """Return whether the first of two parts of a name is one of the catalogs that are known here."""
    return name in (bases.catalog_name, _SESSION_CATALOG)
