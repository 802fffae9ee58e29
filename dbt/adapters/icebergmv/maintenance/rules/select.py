"""SELECT over one relation: WITH, FROM, WHERE, GROUP BY, HAVING, DISTINCT and the projection.

- WHERE and HAVING keep every track.
- GROUP BY keeps a track when the output column is a function of a grouping key.
- DISTINCT keeps every track: rows with different keys are never merged.
- LIMIT, windows, generators, joins and lateral views cut; occurrences inside a subquery expression are never tracked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.references import CTE_INDEX
from dbt.adapters.icebergmv.maintenance.rules.keys import Input, Key, key_of
from dbt.adapters.icebergmv.maintenance.rules.relation import Scope, TrackedColumn, TrackedRelation
from dbt.adapters.icebergmv.maintenance.rules.scan import rename

Track = Callable[[exp.Expr, Scope], TrackedRelation]

_CUTS = {
    "joins": "JOIN",
    "laterals": "LATERAL VIEW",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "qualify": "QUALIFY",
    "sample": "TABLESAMPLE",
    "pivots": "PIVOT",
    "connect": "CONNECT BY",
    "match": "MATCH_RECOGNIZE",
    "kind": "SELECT TRANSFORM",
}
_GENERATORS = (exp.UDTF, exp.Explode, exp.Inline)
_GENERATOR_NAMES = frozenset(["stack", "json_tuple", "variant_explode", "variant_explode_outer", "inline_outer"])


def track_select(select: exp.Select, scope: Scope, track: Track) -> TrackedRelation:
    """Return what the output of a SELECT tracks."""
    with_ = select.args.get("with_")
    if with_ is not None:
        for cte in with_.expressions:
            scope = scope.with_cte(cte.alias, _track_cte(cte, scope, track, bool(with_.recursive)))
    source = _track_from(select, scope, track)
    below = source.blocked(_inside_expressions(select, scope, track), "a subquery in an expression")
    columns = _project(select, below, scope)
    result = TrackedRelation(columns, below.references, below.obstacles)
    reason = _cut_reason(select)
    if reason is not None:
        return result.cut(reason)
    return result.cut("a column list that cannot be resolved") if columns is None else result


def _track_cte(cte: exp.CTE, scope: Scope, track: Track, recursive: bool) -> TrackedRelation:
    if recursive:
        indexes = {t.meta[CTE_INDEX] for t in cte.find_all(exp.Table) if CTE_INDEX in t.meta}
        return TrackedRelation(None, frozenset(indexes)).cut("WITH RECURSIVE")
    relation = track(cte.this, scope)
    names = cte.args["alias"].columns
    return rename(relation, [c.name for c in names]) if names else relation


def _track_from(select: exp.Select, scope: Scope, track: Track) -> TrackedRelation:
    """Return the relation in FROM; several are joined, and what is joined is no longer tracked."""
    from_ = select.args.get("from_")
    if from_ is None:
        return TrackedRelation(())
    relation = track(from_.this, scope)
    others = [track(join.this, scope) for join in select.args.get("joins") or ()]
    if not others:
        return relation
    obstacles = {k: v for r in (relation, *others) for k, v in r.obstacles.items()}
    references = relation.references.union(*(r.references for r in others))
    return TrackedRelation(None, references, obstacles).cut("JOIN")


def _inside_expressions(select: exp.Select, scope: Scope, track: Track) -> frozenset[int]:
    """Return the base occurrences read by subqueries anywhere but in FROM and WITH."""
    found: set[int] = set()
    for argument, value in select.args.items():
        if argument in ("from_", "with_"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, exp.Expr):
                continue
            for query in node.find_all(exp.Query):
                if not isinstance(query, exp.Subquery):
                    found |= track(query, scope).references
    return frozenset(found)


def _project(select: exp.Select, below: TrackedRelation, scope: Scope) -> tuple[TrackedColumn, ...] | None:
    """Return the output columns, or None when `*` stands for columns that are not known."""
    given = Input(below.columns or (), _alias_of_from(select), scope)
    group = select.args.get("group")
    grouping = _grouping_keys(select, group, given) if group is not None else None
    columns: list[TrackedColumn] = []
    for expression in select.expressions:
        if isinstance(expression, exp.Star) or (isinstance(expression, exp.Column) and expression.is_star):
            expanded = _expand(expression, below.columns, given.alias)
            if expanded is None or grouping is not None:
                return None
            columns += expanded
            continue
        key = key_of(expression, given)
        kept = key is not None and (grouping is None or any(key.is_function_of(g) for g in grouping))
        columns.append(
            TrackedColumn(
                expression.output_name,
                key.tracks() if key is not None and kept else frozenset(),
                key.type if key is not None else None,
            )
        )
    return tuple(columns)


def _expand(star: exp.Expr, columns: tuple[TrackedColumn, ...] | None, alias: str) -> tuple[TrackedColumn, ...] | None:
    """Return the columns of `*`, `t.*` and `* EXCEPT (...)`."""
    inner = star.this if isinstance(star, exp.Column) else star
    if isinstance(star, exp.Column) and star.table.lower() != alias.lower():
        return None
    if columns is None or inner.args.get("replace") or inner.args.get("rename"):
        return None
    dropped = {e.name.lower() for e in inner.args.get("except_") or ()}
    return tuple(c for c in columns if c.name.lower() not in dropped)


def _grouping_keys(select: exp.Select, group: exp.Group, given: Input) -> list[Key]:
    """Return the keys that every output row has one value of. Grouping sets have none that are sure."""
    if any(group.args.get(a) for a in ("grouping_sets", "cube", "rollup", "totals")):
        return []
    expressions: Iterable[exp.Expr] = select.expressions if group.args.get("all") else group.expressions
    keys = []
    for expression in expressions:
        if isinstance(expression, (exp.Rollup, exp.Cube, exp.GroupingSets)):
            return []
        key = key_of(_resolve_grouping(expression, select, given), given)
        if key is not None:
            keys.append(key)
    return keys


def _resolve_grouping(expression: exp.Expr, select: exp.Select, given: Input) -> exp.Expr:
    """Return what a grouping expression means: an ordinal, a column below, else an alias of the SELECT list."""
    if isinstance(expression, exp.Literal) and expression.is_int:
        position = int(expression.this) - 1
        return select.expressions[position] if 0 <= position < len(select.expressions) else expression
    if isinstance(expression, exp.Column) and not expression.table:
        named = expression.name.lower()
        if all(c.name.lower() != named for c in given.columns):
            aliased = [e for e in select.expressions if isinstance(e, exp.Alias) and e.alias.lower() == named]
            return aliased[0] if len(aliased) == 1 else expression
    return expression


def _cut_reason(select: exp.Select) -> str | None:
    for argument, words in _CUTS.items():
        if select.args.get(argument):
            return words
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        return "DISTINCT ON"
    for expression in select.expressions:
        if expression.find(exp.Window):
            return "a window function"
        if expression.find(*_GENERATORS) or any(
            str(call.this).lower() in _GENERATOR_NAMES for call in expression.find_all(exp.Anonymous)
        ):
            return "a generator function"
    return None


def _alias_of_from(select: exp.Select) -> str:
    from_ = select.args.get("from_")
    return from_.this.alias_or_name if from_ is not None else ""
