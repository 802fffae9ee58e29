"""Parts of a text that can be asked alone: scalar subqueries, and FROM and WHERE of the SELECT around a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import takewhile

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.asking.on_demand import OnDemand
from dbt.adapters.icebergmv.maintenance.definition.asking.query_edits import text_edits
from dbt.adapters.icebergmv.maintenance.definition.determinism.repeatable import has_rounded_sums
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit
from dbt.adapters.icebergmv.maintenance.definition.references.name_scopes import NameScopes
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import (
    REFERENCE_INDEX,
    TableReference,
    cte_of,
    is_recursive,
)
from dbt.adapters.icebergmv.maintenance.definition.row_order.order_of_rows import depends_on_order
from dbt.adapters.icebergmv.maintenance.definition.syntax.clauses import (
    Span,
    before_grouping,
    characters,
    cte_span,
    end_before,
    from_of,
    parentheses_around,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import are_alike
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.tracking.equalities import conjuncts
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Edit

_INNER = ("", "INNER", "CROSS")
_READ = ("from_", "joins", "laterals", "where")
_KINDS = (*_INNER, "OUTER", "SEMI", "ANTI")


@dataclass(frozen=True)
class Part:
    """The place of a part in a text, and where the WITH ends that it may need in front of it (0: it needs none).

    `left_out` takes terms out of its WHERE: those that read a row around it, of which nothing is known when it is asked
    alone. `left_out_first` takes out those with subqueries besides, if there are any: the rest is asked much faster.
    `name` is that of the table around which it is, if its columns can be named so and no `*` shows all of them.
    `filters`: it has a WHERE.
    """

    start: int
    end: int
    with_end: int
    left_out: tuple[TextEdit, ...] = ()
    left_out_first: tuple[TextEdit, ...] = ()
    name: str | None = None
    filters: bool = False


def blocks_of(
    parsed: ParsedSql, scopes: NameScopes, unsure: Callable[[Sequence[exp.Expr]], bool]
) -> Mapping[int, Part]:
    """Return, for references, the FROM and WHERE that read them, where all that comes of their rows passes both.

    That is so for a table that is joined by INNER JOIN, or on the preserved side: it gives its SELECT rows that FROM
    and WHERE make of its own. Where they make none of the rows that changed, the SELECT is what it was. PIVOT adds rows
    up before WHERE, so there it is not so. Without some terms of an AND, WHERE lets more rows pass, never fewer.
    Parts that are `unsure` are left out: asked alone, they may give other rows than the stored ones come from.
    """
    tables = (table for table in parsed.tree.find_all(exp.Table) if REFERENCE_INDEX in table.meta)
    return OnDemand({table.meta[REFERENCE_INDEX]: partial(_block, table, parsed, scopes, unsure) for table in tables})


def _block(
    table: exp.Table, parsed: ParsedSql, scopes: NameScopes, unsure: Callable[[Sequence[exp.Expr]], bool]
) -> Part | None:
    select = table.parent.parent if isinstance(table.parent, (exp.From, exp.Join)) else None
    if not isinstance(select, exp.Select) or table.args.get("joins") or not _all_passes(table, select):
        return None
    tokens, read = parsed.tokens, _read_of(select)
    if unsure(read):
        return None
    first, behind = from_of(select, tokens), before_grouping(select, tokens)
    with_end = _end_of_with(read, select, parsed)
    if first is None or behind is None or with_end is None or any(part.find(exp.Pivot) for part in read):
        return None
    has_star = any(part.find(exp.Star) for part in read)
    tied, with_subqueries = _tied_terms(select, scopes), _terms_with_subqueries(select)
    if tied is None:
        return None
    part = Part(
        tokens[first].start,
        end_before(behind, tokens),
        with_end,
        _without_terms(tied, parsed),
        _without_terms([*tied, *with_subqueries], parsed) if with_subqueries else (),
        None if table.alias_column_names or has_star else table.alias_or_name,
        select.args.get("where") is not None,
    )
    found = parse(f"SELECT 1 {parsed.sql[part.start : part.end]}")
    is_around = part.start <= int(table.this.meta["start"]) < part.end
    return part if is_around and isinstance(found, ParsedSql) and _reads_the_same(found.tree, select) else None


def _read_of(select: exp.Select) -> list[exp.Expr]:
    """Return FROM and WHERE of a SELECT, with all joins."""
    found = (select.args.get(argument) for argument in _READ)
    return [part for parts in found for part in (parts if isinstance(parts, list) else [parts]) if part is not None]


def _without_terms(terms: Sequence[exp.Expr], parsed: ParsedSql) -> tuple[TextEdit, ...]:
    """Return the edits that leave out terms of a WHERE; none where a place in the text is in doubt."""
    different = dict.fromkeys(map(id, terms))
    return text_edits(parsed, [Edit("no term", term) for term in different]) or ()


def _terms_with_subqueries(select: exp.Select) -> list[exp.Expr]:
    """Return the terms of WHERE that hold a subquery; none where no other term is left."""
    where = select.args.get("where")
    terms = [] if where is None else list(conjuncts(where.this))
    found = [term for term in terms if term.find(exp.Query) is not None]
    return found if len(found) < len(terms) else []


def _tied_terms(select: exp.Select, scopes: NameScopes) -> list[exp.Expr] | None:
    """Return the terms of WHERE that may read a row around a subquery; None where something else of FROM may.

    Such a name would mean a variable of the session where the SELECT is asked alone, if there is one of that name.
    """
    if not _is_beside_a_row(select):
        return []
    where, others = select.args.get("where"), [part for part in _read_of(select) if not isinstance(part, exp.Where)]
    if not all(_is_closed(part, select, scopes) for part in others):
        return None
    terms = [] if where is None else conjuncts(where.this)
    return [term for term in terms if not _is_closed(term, select, scopes)]


def _is_closed(node: exp.Expr, part: exp.Expr, scopes: NameScopes) -> bool:
    """Return whether every name in a node surely means something in the part of the tree that holds it."""
    return all(scopes.is_inside(column, part) for column in node.find_all(exp.Column) if not column.is_star)


def _is_beside_a_row(select: exp.Select) -> bool:
    """Return whether a SELECT is inside a subquery that is computed beside a row of another one, or of its FROM."""
    node: exp.Expr | None = select
    while node is not None:
        if isinstance(node, (exp.Exists, exp.In, exp.Lateral)) or (isinstance(node, exp.Subquery) and _is_scalar(node)):
            return True
        node = node.parent
    return False


def _all_passes(table: exp.Table, select: exp.Select) -> bool:
    """Return whether every row that a SELECT makes of a table's rows is made of one of them."""
    for join in select.args.get("joins") or ():
        if join.method or join.side not in ("", "LEFT") or join.kind not in _KINDS:
            return False
        if join.this is table and (join.side or join.kind not in _INNER):
            return False
    return True


def _reads_the_same(found: exp.Expr, select: exp.Select) -> bool:
    """Return whether a SELECT of nothing but a literal has FROM and WHERE of another one."""
    if not isinstance(found, exp.Select) or any(v for a, v in found.args.items() if a not in (*_READ, "expressions")):
        return False
    return are_alike(found, select, _READ)


def scalar_subqueries(
    parsed: ParsedSql,
    references: tuple[TableReference, ...],
    scopes: NameScopes,
    unsure: Callable[[Sequence[exp.Expr]], bool],
) -> dict[int, tuple[Part, ...]]:
    """Return, for references inside scalar subqueries that read no row around them, the places, outer ones first.

    Left out are those that are `unsure`: the stored rows need not have been compared with the value that is computed
    now for what was.
    """
    whole = Span(0, len(parsed.tokens))
    found: dict[int, tuple[Part, ...]] = {}
    for subquery in parsed.tree.find_all(exp.Subquery, bfs=False):
        query = subquery.this
        if not isinstance(query, exp.Query) or not _is_scalar(subquery) or not _is_closed(query, query, scopes):
            continue
        if unsure([query]):
            continue
        around, with_end = parentheses_around(query, whole, parsed.tokens), _end_of_with([query], query, parsed)
        if around is None or with_end is None:
            continue
        start, end = characters(around, parsed.tokens)
        for index in _references_below(query):
            place = Part(start, end, with_end)
            found[index] = (*found.get(index, ()), place)
    return {r.index: found[r.index] for r in references if r.index in found}


def unsure_parts(
    parsed: ParsedSql, settled: Collection[int], types: Mapping[str, Iterable[str | None]]
) -> Callable[[Sequence[exp.Expr]], bool]:
    """Return what says of parts of a query whether, asked alone, they may give other rows at each evaluation.

    That is by ties, or by a sum that is rounded in another way. `types` gives the Spark types of all base columns of a
    name. With a CTE from outside the parts are the whole text.
    """
    has_any = cache(lambda: has_rounded_sums(parsed.tree, types))

    def unsure(read: Sequence[exp.Expr]) -> bool:
        parts = [parsed.tree] if _ctes_outside(read) else read
        if any(depends_on_order(part, settled) for part in parts):
            return True
        return has_any() and any(has_rounded_sums(part, types) for part in parts)

    return unsure


def _end_of_with(read: Sequence[exp.Expr], query: exp.Query, parsed: ParsedSql) -> int | None:
    """Return where in the text that ends of the first WITH which a query sees; 0 where it uses nothing of it.

    `read` are the parts of the query that are asked. A WITH of its own that is none of them is outside as well. None
    where names from outside may mean something else behind that part.
    """
    outside = _ctes_outside(read)
    if not outside:
        return 0
    with_ = parsed.tree.args.get("with_")
    if with_ is None or not all(cte.parent is with_ and not is_recursive(cte) for cte in outside):
        return None
    seen = _seen_from(query, with_)
    span = cte_span(seen[-1], parsed.tokens) if seen else None
    return None if span is None else end_before(span.end, parsed.tokens)


def _seen_from(query: exp.Query, with_: exp.With) -> list[exp.CTE]:
    """Return the CTEs of a WITH that a query behind it or in it sees: all, or those before the one that it is in."""
    around, node = None, query.parent
    while node is not None:
        around, node = (node if node.parent is with_ else around), node.parent
    return [*takewhile(lambda cte: cte is not around, with_.expressions)]


def _ctes_outside(read: Sequence[exp.Expr]) -> list[exp.CTE]:
    """Return the CTEs that parts of a query use by name and do not hold."""
    used = (cte_of(table) for part in read for table in part.find_all(exp.Table))
    own = {id(cte) for part in read for cte in part.find_all(exp.CTE)}
    return [cte for cte in used if cte is not None and id(cte) not in own]


def _is_scalar(subquery: exp.Subquery) -> bool:
    place = subquery.parent
    return not isinstance(place, (exp.Query, exp.From, exp.Join, exp.CTE, exp.In, exp.Exists, exp.Lateral, type(None)))


def _references_below(query: exp.Expr, seen: frozenset[int] = frozenset()) -> Iterator[int]:
    """Yield the references of a query, and of the CTEs that it uses."""
    for table in query.find_all(exp.Table):
        cte = cte_of(table)
        if REFERENCE_INDEX in table.meta:
            yield table.meta[REFERENCE_INDEX]
        elif cte is not None and id(cte) not in seen:
            yield from _references_below(cte.this, seen | {id(cte)})
