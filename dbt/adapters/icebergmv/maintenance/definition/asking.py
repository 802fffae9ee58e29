"""What can be asked of the changed rows of each table that a SELECT reads: the text, its references, its questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.clauses import Span, cte_span, parentheses_around
from dbt.adapters.icebergmv.maintenance.definition.cte_copies import Copies, is_recursive, with_copies
from dbt.adapters.icebergmv.maintenance.definition.date_units import units_are_literals
from dbt.adapters.icebergmv.maintenance.definition.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.query_edits import text_edits
from dbt.adapters.icebergmv.maintenance.definition.rules import track
from dbt.adapters.icebergmv.maintenance.definition.rules.constants import tells_apart
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import CLOCK, Scope, TrackedRelation
from dbt.adapters.icebergmv.maintenance.definition.select_items import select_items
from dbt.adapters.icebergmv.maintenance.definition.table_references import (
    CTE_INDEX,
    TableReference,
    TextEdit,
    cte_of,
    find_references,
)


@dataclass(frozen=True)
class Known:
    """What the analysis of a text was given besides it; `columns` are those of each reference."""

    default_namespace: str = ""
    columns: Mapping[int, tuple[ColumnInfo, ...] | None] = field(default_factory=dict)
    session_is_utc: bool = False


@dataclass(frozen=True)
class Reach:
    """Which output rows the changed rows of a reference reach: those with the values of a question in `columns`.

    The question is the SQL over the changed rows alone, with `edits`, and with the references in `emptied` read as
    empty (see rules/answers.py). Where it gives no row, nothing is reached; without `columns` it says no more. The
    columns in `literals` are answered too, but show one value: they say which branch of a UNION is reached.
    """

    columns: tuple[str, ...]
    edits: tuple[TextEdit, ...] = ()
    emptied: frozenset[int] = frozenset()
    literals: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScalarSubquery:
    """The place of a scalar subquery in a text, and of the WITH that it may need in front of it."""

    start: int
    end: int
    with_end: int


@dataclass(frozen=True)
class Asked:
    """The text that is asked: the view's own, with a copy for each further use of a common table expression.

    `references` are those of this text, and `origins` says of which reference of the view's text each is a copy, or the
    same. `reach` holds the references whose changed rows can be asked what they reach; `scalars` those that only scalar
    subqueries read: as long as the value of one of these is the same, nothing is reached. No row depends on those in
    `ruled_out`.
    """

    sql: str
    references: tuple[TableReference, ...] = ()
    origins: Mapping[int, int] = field(default_factory=dict)
    reach: Mapping[int, Reach] = field(default_factory=dict)
    scalars: Mapping[int, tuple[ScalarSubquery, ...]] = field(default_factory=dict)
    ruled_out: frozenset[int] = frozenset()

    def copies_of(self, origin: int) -> tuple[int, ...]:
        """Return the references that are copies of one of the view's text, or the same, and that rows depend on."""
        copies = (r.index for r in self.references if self.origins[r.index] == origin)
        return tuple(index for index in copies if index not in self.ruled_out)

    def columns_of(self, origin: int) -> tuple[str, ...]:
        """Return the columns that every copy of a reference answers."""
        answered = [self.reach[i].columns if i in self.reach else () for i in self.copies_of(origin)]
        return tuple(c for c in answered[0] if all(c in others for others in answered)) if answered else ()

    def answers_some(self, origin: int) -> bool:
        """Return whether every copy of a reference answers some column, be it one that shows a literal."""
        found = [self.reach.get(i) for i in self.copies_of(origin)]
        return bool(found) and all(reach is not None and bool(reach.columns or reach.literals) for reach in found)


def asked(sql: str, references: tuple[TableReference, ...], known: Known) -> Asked:
    """Return what can be asked of a parsed text that reads these references; nothing where it is not understood."""
    copies = with_copies(sql)
    parsed = None if copies is None else parse(copies.sql)
    if copies is None or not isinstance(parsed, ParsedSql) or not isinstance(parsed.tree, exp.Query):
        return Asked(sql)
    found = find_references(parsed.tree, known.default_namespace).tables
    origins = origins_of(found, references, copies)
    if origins is None:
        return Asked(sql)
    columns = {r.index: known.columns.get(origins[r.index]) for r in found}
    relation = track(parsed.tree, scope_of(parsed, copies.sql, replace(known, columns=columns)))
    reach, ruled_out = reach_of(relation, found, parsed, copies.sql), frozenset(o.index for o in relation.ruled_out)
    return Asked(copies.sql, found, origins, reach, _scalars(parsed, found), ruled_out)


def scope_of(parsed: ParsedSql, sql: str, known: Known) -> Scope:
    """Return what names mean in a parsed text, outside its own WITH."""
    tokens = parsed.tokens
    return Scope(known.columns, known.session_is_utc, units_are_literals(tokens), sql, select_items(tokens))


def origins_of(
    found: tuple[TableReference, ...], references: tuple[TableReference, ...], copies: Copies
) -> dict[int, int] | None:
    """Return of which reference each found one is a copy, or the same; None if that is not known of all."""
    places = {r.start: r.index for r in references}
    origins = {r.index: places.get(copies.origins[r.start]) for r in found}
    return None if None in origins.values() else {i: o for i, o in origins.items() if o is not None}


def reach_of(
    relation: TrackedRelation, references: tuple[TableReference, ...], parsed: ParsedSql, sql: str
) -> dict[int, Reach]:
    """Return what can be asked of the references, or of CLOCK, under the columns that are answered."""
    usable = {CLOCK.index, *(r.index for r in references if not r.pinned)}
    found: dict[int, Reach] = {}
    for occurrence, question in relation.questions.items():
        if any(o.uses or o.index not in usable for o in (occurrence, *question.emptied)):
            continue
        edits = text_edits(parsed, sql, question.edits)
        if edits is not None:
            answered = [c for c in relation.columns or () if occurrence in c.answered]
            columns = tuple(c.name for c in answered if c.literal_of(occurrence) is None)
            literals = tuple(c.name for c in answered if tells_apart(c, occurrence, relation))
            found[occurrence.index] = Reach(columns, edits, frozenset(o.index for o in question.emptied), literals)
    return found


def _scalars(parsed: ParsedSql, references: tuple[TableReference, ...]) -> dict[int, tuple[ScalarSubquery, ...]]:
    """Return, for references inside scalar subqueries, the places of these, outer ones first."""
    whole = Span(0, len(parsed.tokens))
    found: dict[int, tuple[ScalarSubquery, ...]] = {}
    for subquery in parsed.tree.find_all(exp.Subquery, bfs=False):
        query = subquery.this
        if not isinstance(query, exp.Query) or not _is_scalar(subquery):
            continue
        around, with_end = parentheses_around(query, whole, parsed.tokens), _end_of_with(query, parsed)
        if around is None or with_end is None:
            continue
        start, end = parsed.tokens[around.start].start, parsed.tokens[around.end - 1].end + 1
        for index in _read_by(query):
            place = ScalarSubquery(start, end, with_end)
            found[index] = (*found.get(index, ()), place)
    return {r.index: found[r.index] for r in references if r.index in found}


def _end_of_with(query: exp.Query, parsed: ParsedSql) -> int | None:
    """Return where in the text that ends of the first WITH which a subquery sees; 0 where it uses nothing of it.

    None where names from outside may mean something else behind that part.
    """
    outside = _ctes_outside(query)
    if not outside:
        return 0
    with_ = parsed.tree.args.get("with_")
    if with_ is None or not all(cte.parent is with_ and not is_recursive(cte) for cte in outside):
        return None
    seen = _seen_from(query, with_)
    span = cte_span(seen[-1], parsed.tokens) if seen else None
    return None if span is None else parsed.tokens[span.end - 1].end + 1


def _seen_from(query: exp.Query, with_: exp.With) -> list[exp.CTE]:
    """Return the CTEs of a WITH that a query behind it or in it sees: all, or those before the one that it is in."""
    around, node = None, query.parent
    while node is not None:
        around, node = (node if node.parent is with_ else around), node.parent
    return [*takewhile(lambda cte: cte is not around, with_.expressions)]


def _ctes_outside(query: exp.Query) -> list[exp.CTE]:
    """Return the CTEs that a subquery uses by name and that are not its own."""
    used = (cte_of(table) for table in query.find_all(exp.Table))
    own = {id(cte) for cte in query.find_all(exp.CTE)}
    return [cte for cte in used if cte is not None and id(cte) not in own]


def _is_scalar(subquery: exp.Subquery) -> bool:
    place = subquery.parent
    return not isinstance(place, (exp.Query, exp.From, exp.Join, exp.CTE, exp.In, exp.Exists, exp.Lateral, type(None)))


def _read_by(query: exp.Expr, seen: frozenset[int] = frozenset()) -> Iterator[int]:
    """Yield the references of a query, and of the CTEs that it uses."""
    for table in query.find_all(exp.Table):
        cte = cte_of(table)
        if CTE_INDEX in table.meta:
            yield table.meta[CTE_INDEX]
        elif cte is not None and id(cte) not in seen:
            yield from _read_by(cte.this, seen | {id(cte)})
