"""Which tables a SELECT reads, and where their names are in its text.

The text is never regenerated: a reference keeps the span of its name, which can be replaced in place (text_edits.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.references.compared_columns import compared_names
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import DIALECT
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier

REFERENCE_INDEX = "icebergmv_reference"
CTE_USE = "icebergmv_use"
METADATA_COLUMNS = frozenset(
    ["_file", "_pos", "_partition", "_spec_id", "_deleted", "_row_id", "_last_updated_sequence_number", "_metadata"]
)
"""What a table has besides its columns, and a subquery in its place has not."""


@dataclass(frozen=True)
class TableReference:
    """One occurrence of a table, in the order of the text. Occurrences of one table differ by `index`.

    `start` and `end` delimit the name (end exclusive). `pinned` marks VERSION or TIMESTAMP AS OF, written by the user:
    with the number of a snapshot the occurrence never changes, with anything else the query is opaque. `has_alias` says
    whether a table alias follows. `compared` are the names, in lower case, of columns that the query may compare (None:
    any), if a subquery may take the place of the name.
    """

    index: int
    catalog: str | None
    namespace: str
    name: str
    start: int
    end: int
    has_alias: bool
    pinned: bool
    compared: frozenset[str] | None = frozenset()

    def named(self, text: str) -> str:
        """Return a text that takes the place of the name, under the name by which the SELECT knows its columns."""
        return text if self.has_alias else f"{text} AS {identifier(self.name)}"


@dataclass(frozen=True)
class References:
    """What a query reads. `opaque` says why some of it cannot be known; None when all is known.

    `rewritable`: subqueries may take the places of the names, because no column is named with a schema, as in `s.t.c`.
    `find_names` does not ask that.
    """

    tables: tuple[TableReference, ...]
    opaque: str | None
    rewritable: bool = False


def find_references(query: exp.Expr, default_namespace: str) -> References:
    """Return the tables that the parsed query reads, as `find_names`, with what it may compare of them."""
    found, nodes = find_names(query, default_namespace), Nodes(query)
    rewritable = not any(_names_schema(column, found.tables) for column in nodes.of(exp.Column))
    may_stand_for_tables = bool(found.tables) and rewritable and not _reads_besides_columns(nodes)
    compared = compared_names(nodes) if may_stand_for_tables else frozenset[str]()
    tables = tuple(replace(reference, compared=compared) for reference in found.tables)
    return replace(found, tables=tables, rewritable=rewritable)


def find_names(query: exp.Expr, default_namespace: str) -> References:
    """Return which tables the parsed query names, leaving out names of CTEs; none of them is to be read by it.

    Every exp.Table that is a reference gets its index in `meta[REFERENCE_INDEX]`, for the tracking rules; every name of
    a CTE but the first one gets a number of its own in `meta[CTE_USE]`.
    """
    found: list[TableReference] = []
    used: set[int] = set()
    opaque: str | None = None
    for table in query.find_all(exp.Table, bfs=False):
        if isinstance(table.this, exp.Dot):
            opaque = opaque or f"{table.sql(dialect=DIALECT)} is not a table name of three parts"
        if not isinstance(table.this, exp.Identifier):
            continue
        cte = cte_of(table)
        if cte is not None:
            if id(cte) in used:
                table.meta[CTE_USE] = table.this.meta.get("start", len(used))
            used.add(id(cte))
            continue
        parts = [p for p in table.parts if isinstance(p, exp.Identifier)]
        version = table.args.get("version")
        if version is not None:
            by_version = str(version.this).upper() == "VERSION"
            if not by_version or not isinstance(version.expression, exp.Literal) or not version.expression.is_int:
                opaque = opaque or f"{table.name} is read at a branch, a tag or a time"
        if any("start" not in p.meta for p in parts):
            opaque = opaque or f"the place of {table.name} in the SQL cannot be found"
            continue
        table.meta[REFERENCE_INDEX] = len(found)
        found.append(
            TableReference(
                index=len(found),
                catalog=table.catalog or None,
                namespace=table.db or default_namespace,
                name=table.name,
                start=parts[0].meta["start"],
                end=parts[-1].meta["end"] + 1,
                has_alias=bool(table.alias),
                pinned=version is not None,
            )
        )
    return References(tuple(found), opaque)


def _reads_besides_columns(nodes: Nodes) -> bool:
    """Return whether a query reads of a table what a subquery in its place has not."""
    if nodes.have(exp.TableSample):
        return True
    return any(part.name.lower() in METADATA_COLUMNS for column in nodes.of(exp.Column) for part in column.parts)


def cte_of(table: exp.Table) -> exp.CTE | None:
    """Return the common table expression that a name of one part refers to, by Spark's scoping rules."""
    if table.db or not isinstance(table.this, exp.Identifier):
        return None
    child: exp.Expr = table
    while child.parent is not None:
        parent = child.parent
        if isinstance(parent, exp.With):
            position = next(i for i, c in enumerate(parent.expressions) if c is child)
            visible = parent.expressions[: position + 1 if parent.recursive else position]
            # The query that owns this WITH offers nothing more than what is visible here.
            child = parent.parent or parent
        else:
            with_ = parent.args.get("with_")
            visible = with_.expressions if with_ is not None else []
            child = parent
        for cte in reversed(visible):
            if cte.alias.lower() == table.name.lower():
                return cte  # type: ignore[no-any-return]
    return None


def is_recursive(cte: exp.CTE) -> bool:
    """Return whether a WITH lets a common table expression name itself."""
    return bool(cte.parent is not None and cte.parent.args.get("recursive"))


def _names_schema(column: exp.Column, tables: Sequence[TableReference]) -> bool:
    """Return whether a column may be named with the schema of a table, as in `s.t.c`, and not be a field."""
    parts = [part.name.lower() for part in column.parts]
    named = {(r.namespace.rpartition(".")[2].lower(), r.name.lower()) for r in tables if not r.has_alias}
    return any(pair in named for pair in pairwise(parts[:-1]))
