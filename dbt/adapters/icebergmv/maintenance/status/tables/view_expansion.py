"""Plain views in FROM are read as their SQL, so that the tables below them are known, tracked and read at one cut.

A text step before the analysis: the name of a view is replaced in place by a parenthesised SELECT over the view's SQL.
Iceberg binds the columns of a view by position and up-casts each to the type recorded with the view, and it resolves
names in the SQL in the view's own catalog and namespace (Iceberg's Spark extension, ResolveViews); so does this text.
What cannot be shown to mean the same stays a name, with the reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.catalog.reader import ViewInfo
from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Known, scope_of
from dbt.adapters.icebergmv.maintenance.definition.determinism.determinism import function_of_others
from dbt.adapters.icebergmv.maintenance.definition.determinism.user_functions import unknown_function
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import splice
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import VIEW_ALIAS
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import (
    REFERENCE_INDEX,
    TableReference,
    find_names,
)
from dbt.adapters.icebergmv.maintenance.definition.rules import track
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import (
    ParsedSql,
    definition_hash,
    parse_query,
    single_statement,
    tokens_of,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedColumn
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, qualified
from dbt.adapters.icebergmv.maintenance.sql.type_checks import all_or_error, keeps_its_value
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ExpandedView, ViewState
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.status.tables.names_in_full import may_be_catalog

DEPTH_LIMIT = 16
_OTHER_TYPES = "A value of {} does not fit into the type that the view was made with. Make it again, or run its model."
SIZE_LIMIT = 50_000
"""Characters of an expanded view: two views that read each other's base twice double the text at every level."""
_QUERY_COLUMNS = "spark.query-column-names"


@dataclass(frozen=True)
class ExpandedSql:
    """A SELECT with views replaced by their SQL. `views` are those read, directly or through another one, by name."""

    sql: str
    views: tuple[ExpandedView, ...] = ()


@dataclass(frozen=True)
class _Subquery:
    """The text that replaces a view, without an alias, and the views in it."""

    text: str
    views: Mapping[TableName, ViewInfo]


class _StaysAName(Exception):
    """A view cannot be expanded; the message says why."""


@dataclass(frozen=True)
class _Expansion:
    """What every step needs: the tables and views, what the session is, and what became of the views met before."""

    bases: BaseTables
    session_is_utc: bool
    done: dict[TableName, _Subquery | _StaysAName] = field(default_factory=dict)


def expand(
    sql: str,
    default_namespace: str,
    bases: BaseTables,
    session_is_utc: bool,
    name_of: Callable[[TableReference], str | None] = lambda _: None,
) -> ExpandedSql:
    """Return the SQL with every plain view of the catalog replaced by its own SQL, down to tables.

    Names without a namespace are those of `default_namespace`. A view that must stay a name is noted in `bases`, with
    the reason; `name_of` gives what such names, and those of tables, are written as (None: they stay). SQL that the
    parser does not understand is returned as it is.
    """
    query = parse_query(sql)
    if query is None:
        return ExpandedSql(sql)
    expansion = _Expansion(bases, session_is_utc)
    replacements: dict[TableReference, str] = {}
    found: dict[TableName, ViewInfo] = {}
    for reference in find_names(query, default_namespace).tables:
        inner = _in_place_of(reference, query, expansion, ())
        if inner is not None:
            replacements[reference] = reference.named(inner.text)
            found.update(inner.views)
        elif (name := name_of(reference)) is not None:
            replacements[reference] = name
    views = [ExpandedView(n, v.uuid, v.version_id, hash_of_view(v)) for n, v in sorted(found.items())]
    return ExpandedSql(splice(sql, replacements), tuple(views))


def redefined(views: tuple[ExpandedView, ...], state: ViewState) -> str | None:
    """Return which view is not what the last refresh read, or None. The same SQL in a new version is no change."""
    now = {v.name: v for v in views}
    before = {v.name: v for v in state.views}
    for name in sorted(now.keys() & before.keys()):
        if now[name].definition_hash != before[name].definition_hash:
            return f"the view {show(name)} was redefined"
    tables = {b.name for b in state.base_tables}
    for name in sorted(now.keys() ^ before.keys()):
        if name in before or name in tables:
            return f"the view {show(name)} was redefined"
        return f"the view {show(name)} was not read by the last refresh"
    return None


def _in_place_of(
    reference: TableReference, query: exp.Query, expansion: _Expansion, path: tuple[TableName, ...]
) -> _Subquery | None:
    """Return what replaces a reference; None when it is no view, or must stay a name."""
    base = expansion.bases.of(reference)
    if base.view is None:
        return None
    try:
        _check_place(reference, query)
        if base.name in path:
            raise _StaysAName("it reads itself")
        if base.name not in expansion.done:
            try:
                expansion.done[base.name] = _subquery(base.name, base.view, expansion, (*path, base.name))
            except _StaysAName as reason:
                expansion.done[base.name] = reason
            except RecursionError:
                expansion.done[base.name] = _StaysAName("its SQL is nested too deeply")
        found = expansion.done[base.name]
        if isinstance(found, _StaysAName):
            raise found
        return found
    except _StaysAName as reason:
        expansion.bases.not_expanded(base.name, str(reason))
        return None


def _check_place(reference: TableReference, query: exp.Query) -> None:
    """Refuse what cannot follow a subquery, and columns that name the view with its schema."""
    node = next(t for t in query.find_all(exp.Table) if t.meta.get(REFERENCE_INDEX) == reference.index)
    if node.args.get("version") is not None:
        raise _StaysAName("the SELECT reads it at a version")
    if node.args.get("sample") is not None or node.args.get("pivots"):
        raise _StaysAName("the SELECT samples or pivots it")
    if not reference.has_alias and _names_with_schema(query, reference.namespace, reference.name):
        raise _StaysAName("the SELECT names its columns with its schema")


def _names_with_schema(query: exp.Query, namespace: str | None = None, name: str | None = None) -> bool:
    """Return whether a column is written `schema.table.column`, of this table if one is given."""
    for column in query.find_all(exp.Column):
        parts = [p.name.lower() for p in column.parts]
        if len(parts) > 2 and (name is None or [(namespace or "").lower(), name.lower()] in (parts[:2], parts[1:3])):
            return True
    return False


def _subquery(name: TableName, view: ViewInfo, expansion: _Expansion, path: tuple[TableName, ...]) -> _Subquery:
    if len(path) > DEPTH_LIMIT:
        raise _StaysAName(f"views are nested more than {DEPTH_LIMIT} deep")
    if not view.sql:
        raise _StaysAName("its SQL is not in Spark's dialect")
    sql = single_statement(view.sql)
    query = parse_query(sql)
    if query is None:
        raise _StaysAName("its SQL cannot be analysed")
    function = unknown_function(Nodes(query)) or function_of_others(tokens_of(sql) or ())
    if function is not None:
        raise _StaysAName(function)
    replacements: dict[TableReference, str] = {}
    found = {name: view}
    references = find_names(query, "")
    if references.opaque is not None:
        raise _StaysAName(references.opaque)
    for written in references.tables:
        meant = _in_namespace_of(view, written, expansion.bases)
        # A qualified name of three parts can be caught by no CTE of the SELECT around it.
        replacements[written] = qualified(*expansion.bases.of(meant).name)
        inner = _in_place_of(meant, query, expansion, path)
        if inner is not None:
            replacements[written] = written.named(inner.text)
            found.update(inner.views)
    spliced = splice(sql, replacements)
    if len(spliced) > SIZE_LIMIT:
        raise _StaysAName(f"its SQL and that of the views below it are longer than {SIZE_LIMIT:,} characters")
    return _Subquery(_as_recorded(view, spliced, expansion), found)


def _in_namespace_of(view: ViewInfo, written: TableReference, bases: BaseTables) -> TableReference:
    """Return the reference as Spark reads it inside the view; only a name of one part needs the view's namespace."""
    if written.catalog and written.namespace:
        return written
    if not written.namespace and len(view.default_namespace) != 1:
        raise _StaysAName("its SQL was not written in a namespace of one part")
    meant = replace(
        written,
        catalog=written.catalog or view.default_catalog,
        namespace=written.namespace or view.default_namespace[0],
    )
    if written.namespace and written.catalog is None:
        # The first of two parts is a catalog if there is one of that name, and only Spark knows all catalogs.
        base = bases.of(meant)
        if (base.source is None and base.view is None) or may_be_catalog(written.namespace, bases):
            raise _StaysAName(f"its SQL reads {written.namespace}.{written.name}, whose catalog is not known")
    return meant


def _as_recorded(view: ViewInfo, sql: str, expansion: _Expansion) -> str:
    """Return the SELECT of the view's columns, under their recorded names and types, from its SQL."""
    names = [c.name for c in view.columns]
    query = parse_query(sql)
    if query is None:
        raise _StaysAName("its SQL cannot be analysed")
    below, surplus = _columns_of(query, sql, view, expansion)
    listed, checked = [], []
    for column, ddl, actual in zip(view.columns, view.types, below, strict=True):
        quoted, same = identifier(column.name), actual is not None and actual.type == column.type
        # A bare name might mean a column of a query around it.
        read = f"{identifier(VIEW_ALIAS)}.{quoted}"
        listed.append(read if same else f"CAST({read} AS {ddl}) AS {quoted}")
        checked += [] if same else [keeps_its_value(read, ddl)]
    as_named = all(b is not None and b.name == n for b, n in zip(below, names, strict=True))
    as_named = as_named and all(map(_has_its_own_name, query.selects))
    as_named = as_named and len({n.lower() for n in (*names, *surplus)}) == len(below) + len(surplus)
    alias = identifier(VIEW_ALIAS)
    if not as_named:
        # Their own names distinguish them from columns that a `*` comes to mean.
        given = (*names, *(f"{VIEW_ALIAS}_{i}" for i in range(len(surplus))))
        alias += f"({', '.join(map(identifier, given))})"
    as_created = f" WHERE {all_or_error(checked, _OTHER_TYPES.format(view.name))}" if checked else ""
    return f"(SELECT {', '.join(listed)} FROM (\n{sql}\n) AS {alias}{as_created})"


def _has_its_own_name(item: exp.Expr) -> bool:
    """Return whether Spark gives an item of a list the name that it is read by here; others have names of Spark's."""
    return isinstance(item, (exp.Alias, exp.Column, exp.Star))


def _columns_of(
    query: exp.Query, sql: str, view: ViewInfo, expansion: _Expansion
) -> tuple[tuple[TrackedColumn, ...] | tuple[None, ...], tuple[str, ...]]:
    """Return what is known of the view's columns, and what else its SQL gives: those added to the base of a `*`."""
    if _names_with_schema(query):
        # A table that is read for another one bears an alias, which such a name does not reach.
        raise _StaysAName("its SQL names columns with a schema")
    references = find_names(query, "").tables
    below = {r.index: expansion.bases.columns_of(r) for r in references}
    known = Known(columns=below, session_is_utc=expansion.session_is_utc)
    columns = track(query, scope_of(ParsedSql(sql, query, tokens_of(sql) or ()), known)).columns
    wanted = len(view.columns)
    if any(e.is_star for e in query.selects):
        if columns is None:
            raise _StaysAName("the columns of its * are not known")
        names = ",".join(c.name for c in columns[:wanted])
        if names != view.properties.get(_QUERY_COLUMNS, ",".join(c.name for c in view.columns)):
            raise _StaysAName("its * means other columns than when it was created")
    elif len(query.selects) != wanted:
        raise _StaysAName("its columns cannot be counted")
    if columns is None or len(columns) < wanted:
        return (None,) * wanted, ()
    return columns[:wanted], tuple(c.name for c in columns[wanted:])


def hash_of_view(view: ViewInfo) -> str:
    """Return a hash of all that the rows of a view depend on but its tables; white space and comments do not count."""
    columns = [[c.name, c.type] for c in view.columns]
    parts = [definition_hash(view.sql), view.default_catalog, list(view.default_namespace), columns]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
