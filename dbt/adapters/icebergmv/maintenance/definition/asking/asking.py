"""What can be asked of the changed rows of each table that a SELECT reads: the text, its references, its questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.asking.date_units import units_are_literals
from dbt.adapters.icebergmv.maintenance.definition.asking.moved_values import MovedTerm, moved_terms
from dbt.adapters.icebergmv.maintenance.definition.asking.on_demand import OnDemand
from dbt.adapters.icebergmv.maintenance.definition.asking.parts import Part, blocks_of, scalar_subqueries, unsure_parts
from dbt.adapters.icebergmv.maintenance.definition.asking.query_edits import text_edits
from dbt.adapters.icebergmv.maintenance.definition.edits.cte_copies import Copies, with_copies
from dbt.adapters.icebergmv.maintenance.definition.edits.shared_ctes import TABLE, SharedText, shared_texts
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit
from dbt.adapters.icebergmv.maintenance.definition.references.name_scopes import NameScopes
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference, find_references
from dbt.adapters.icebergmv.maintenance.definition.row_order.order_dependence import names_collation
from dbt.adapters.icebergmv.maintenance.definition.row_order.order_of_rows import depends_on_order
from dbt.adapters.icebergmv.maintenance.definition.row_order.shown_values import as_asked
from dbt.adapters.icebergmv.maintenance.definition.row_order.window_orders import settled_nodes
from dbt.adapters.icebergmv.maintenance.definition.rules import track
from dbt.adapters.icebergmv.maintenance.definition.rules.constants import tells_apart, without_literals
from dbt.adapters.icebergmv.maintenance.definition.rules.table_uses import occurrences_in
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.syntax.select_items import select_items
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import Question, Scope, TrackedRelation
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK, Occurrence, Track
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import keeps_values


@dataclass(frozen=True)
class Known:
    """What the analysis of a text was given besides it; `columns` are those of each reference.

    `deterministic_functions` are user-defined functions, as they are called, in lower case: each gives one value for
    one row, and always the same for the same arguments.
    """

    default_namespace: str = ""
    columns: Mapping[int, tuple[ColumnInfo, ...] | None] = field(default_factory=dict)
    session_is_utc: bool = False
    deterministic_functions: frozenset[str] = frozenset()

    @property
    def types(self) -> dict[str, list[str | None]]:
        """Return the types of all columns by name in lower case."""
        found: dict[str, list[str | None]] = {}
        for column in (c for columns in self.columns.values() for c in columns or ()):
            found.setdefault(column.name.lower(), []).append(column.type)
        return found


@dataclass(frozen=True)
class Reach:
    """Which output rows the changed rows of a reference reach: those with the values of a question in `columns`.

    The question is the SQL over the changed rows alone, with `edits`, and with the references in `emptied` read as
    empty (see rules/answers.py). Where it gives no row, nothing is reached; without `columns` it says no more. The
    columns in `literals` are answered too, but show one value: they say which branch of a UNION is reached.

    No column is answered that has a subquery. Of `(k = 1 AND x = 'a') OR (k = 2 AND x = 'b')`, with a correlated
    subquery for x, Spark puts the constants into the two copies of it, takes them for one all the same, and loses rows.
    """

    columns: tuple[str, ...]
    edits: tuple[TextEdit, ...] = ()
    emptied: frozenset[int] = frozenset()
    literals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """The text that is asked: the view's own, with a copy for each further use of a common table expression.

    `references` are those of this text, and `origins` says of which reference of the view's text each is a copy, or the
    same. `reach` holds the references whose changed rows can be asked what they reach; `scalars` those that only scalar
    subqueries read: as long as the value of one of these is the same, nothing is reached. `moved` has, for some of
    them, the term of a WHERE which holds the subquery: only rows for which it is another one are reached. `blocks` has
    the FROM and WHERE that read a reference: where they give no row over its changed rows, nothing is reached either.
    No row depends on those in `ruled_out`. `shared` has the expression through which alone a reference of the view's
    text is read, if it is used several times and its columns lead to such of the view.
    """

    sql: str
    references: tuple[TableReference, ...] = ()
    origins: Mapping[int, int] = field(default_factory=dict)
    reach: Mapping[int, Reach] = field(default_factory=dict)
    scalars: Mapping[int, tuple[Part, ...]] = field(default_factory=dict)
    moved: Mapping[int, MovedTerm] = field(default_factory=dict)
    blocks: Mapping[int, Part] = field(default_factory=dict)
    ruled_out: frozenset[int] = frozenset()
    shared: Mapping[int, SharedCte] = field(default_factory=dict)

    def copies_of(self, origin: int) -> tuple[int, ...]:
        """Return the references that are copies of one of the view's text, or the same, and that rows depend on."""
        copies = (r.index for r in self.references if self.origins[r.index] == origin)
        return tuple(index for index in copies if index not in self.ruled_out)

    def columns_of(self, origin: int) -> tuple[str, ...]:
        """Return the columns that every copy of a reference answers."""
        answered = [self.reach[i].columns if i in self.reach else () for i in self.copies_of(origin)]
        return tuple(c for c in answered[0] if all(c in others for others in answered)) if answered else ()

    def names_some(self, origin: int) -> bool:
        """Return whether values of some column say what a reference reaches."""
        return origin in self.shared or bool(self.columns_of(origin))

    def answers_some(self, origin: int) -> bool:
        """Return whether every copy of a reference answers some column, be it one that shows a literal."""
        found = [self._answers(i) for i in self.copies_of(origin)]
        return origin in self.shared or (bool(found) and all(found))

    def may_answer(self, origin: int) -> bool:
        """Return whether some copy of a reference answers some column: the others may turn out to reach nothing."""
        return origin in self.shared or any(map(self._answers, self.copies_of(origin)))

    def _answers(self, copy: int) -> bool:
        reach = self.reach.get(copy)
        return reach is not None and bool(reach.columns or reach.literals)


@dataclass(frozen=True)
class SharedCte:
    """A common table expression that is used several times: what can be asked of its own text, and where its rows lead.

    `uses` says, for each use, by which columns of the view which of its columns are followed.
    """

    asked: Asked
    uses: tuple[Mapping[str, tuple[Track, ...]], ...]

    @property
    def columns(self) -> frozenset[str]:
        """Return its columns that lead to columns of the view from each use."""
        followed = [frozenset(t.column for tracks in use.values() for t in tracks) for use in self.uses]
        return frozenset[str]().union(*followed[:1]).intersection(*followed)


def asked(sql: str, references: tuple[TableReference, ...], known: Known) -> Asked:
    """Return what can be asked of a parsed text that reads these references; nothing where it is not understood."""
    copies = with_copies(sql)
    parsed = None if copies is None else parse(copies.sql)
    if copies is None or not isinstance(parsed, ParsedSql) or not isinstance(parsed.tree, exp.Query):
        return Asked(sql)
    if names_collation(parsed.tokens):
        return Asked(sql)  # Texts that are equal there can be told apart.
    found = find_references(parsed.tree, known.default_namespace).tables
    origins = origins_of(found, references, copies)
    if origins is None:
        return Asked(sql)
    columns = {r.index: known.columns.get(origins[r.index]) for r in found}
    relation = track(parsed.tree, scope_of(parsed, replace(known, columns=columns)))
    relation = as_asked(parsed, relation)
    reach, ruled_out = reach_of(relation, found, parsed), frozenset(o.index for o in relation.ruled_out)
    scopes = NameScopes(columns)
    settled = settled_nodes(relation.findings)
    unsure = unsure_parts(parsed, settled, known.types)
    scalars = scalar_subqueries(parsed, found, scopes, unsure)
    blocks = blocks_of(parsed, scopes, unsure)
    questions = {o.index: question for o, question in relation.questions.items() if not o.uses}
    moved = moved_terms(parsed, scalars, questions) if scalars else {}
    # The rows of a CTE, asked once more, may be others than those that the stored rows come from.
    is_shared = len(found) > len(references) and not depends_on_order(parsed.tree, settled)
    shared = _shared(sql, references, known) if is_shared else {}
    return Asked(copies.sql, found, origins, reach, scalars, moved, blocks, ruled_out, shared)


def _shared(sql: str, references: tuple[TableReference, ...], known: Known) -> Mapping[int, SharedCte]:
    """Return, for references, the outermost shared expression by which it is known what their changed rows reach."""
    texts = [(text, cache(partial(_shared_cte, text, references, known))) for text in shared_texts(sql)]

    def of_reference(reference: TableReference) -> SharedCte | None:
        around = (analysed() for text, analysed in texts if text.holds(reference.start))
        return next((cte for cte in around if cte is not None and _leads_on(cte, reference.index)), None)

    inside = [r for r in references if any(text.holds(r.start) for text, _ in texts)]
    return OnDemand({r.index: partial(of_reference, r) for r in inside})


def _leads_on(cte: SharedCte, reference: int) -> bool:
    """Return whether a column that answers what a reference in an expression reaches leads on from each use of it."""
    return not cte.columns.isdisjoint(cte.asked.columns_of(reference))


def _shared_cte(text: SharedText, references: tuple[TableReference, ...], known: Known) -> SharedCte | None:
    own, around = parse(text.own), parse(text.around)
    if not isinstance(own, ParsedSql) or not isinstance(around, ParsedSql) or not isinstance(around.tree, exp.Query):
        return None
    places = {r.start: r.index for r in references}
    found = [(r, places.get(text.place(r.start))) for r in find_references(own.tree, known.default_namespace).tables]
    its_own = tuple(replace(r, index=index) for r, index in found if index is not None)
    columns = track(own.tree, scope_of(own, replace(known, columns=_by_place(found, known)))).columns
    tables = find_references(around.tree, known.default_namespace).tables
    shared = frozenset(r.index for r in tables if r.name == TABLE)
    if len(its_own) < len(found) or columns is None or len(tables) - len(shared) != len(references):
        return None
    if len({c.name.lower() for c in columns}) < len(columns):
        return None
    shown = tuple(ColumnInfo(c.name, c.type or f"of column {n}", None) for n, c in enumerate(columns))
    others = iter(references)
    by_index = {r.index: shown if r.index in shared else known.columns.get(next(others).index) for r in tables}
    relation = track(around.tree, scope_of(around, replace(known, columns=by_index)))
    uses = {o for o in occurrences_in(around.tree) | relation.occurrences if o.index in shared}
    if not uses <= relation.occurrences or not uses.isdisjoint(relation.obstacles):
        return None
    return SharedCte(
        asked(text.own, its_own, known), tuple(_followed(relation, use) for use in sorted(uses - relation.ruled_out))
    )


def _by_place(
    found: Iterable[tuple[TableReference, int | None]], known: Known
) -> Mapping[int, tuple[ColumnInfo, ...] | None]:
    return {r.index: None if index is None else known.columns.get(index) for r, index in found}


def _followed(relation: TrackedRelation, use: Occurrence) -> Mapping[str, tuple[Track, ...]]:
    """Return, per column of the view, which columns of an expression it shows in one use of it, but for NULL."""
    columns = without_literals(relation).columns or ()
    found = {c.name: tuple(t for t in c.tracks if t.occurrence == use and keeps_values(t.function)) for c in columns}
    return {name: tracks for name, tracks in found.items() if tracks}


def scope_of(parsed: ParsedSql, known: Known) -> Scope:
    """Return what names mean in a parsed text, outside its own WITH."""
    tokens = parsed.tokens
    return Scope(known.columns, known.session_is_utc, units_are_literals(tokens), parsed.sql, select_items(tokens))


def origins_of(
    found: tuple[TableReference, ...], references: tuple[TableReference, ...], copies: Copies
) -> dict[int, int] | None:
    """Return of which reference each found one is a copy, or the same; None if that is not known of all."""
    places = {r.start: r.index for r in references}
    origins = {r.index: places.get(copies.origins[r.start]) for r in found}
    return None if None in origins.values() else {i: o for i, o in origins.items() if o is not None}


def reach_of(
    relation: TrackedRelation, references: tuple[TableReference, ...], parsed: ParsedSql
) -> Mapping[int, Reach]:
    """Return what can be asked of the references, or of CLOCK, under the columns that are answered."""
    usable = {CLOCK.index, *(r.index for r in references if not r.pinned)}
    questions = {
        occurrence.index: partial(_reach, occurrence, question, relation, parsed)
        for occurrence, question in relation.questions.items()
        if all(not o.uses and o.index in usable for o in (occurrence, *question.emptied))
    }
    return OnDemand(questions)


def _reach(occurrence: Occurrence, question: Question, relation: TrackedRelation, parsed: ParsedSql) -> Reach | None:
    edits = text_edits(parsed, question.edits)
    if edits is None:
        return None
    answered = [c for c in relation.columns or () if occurrence in c.answered and not c.is_unsettled]
    columns = tuple(c.name for c in answered if c.literal_of(occurrence) is None)
    literals = tuple(c.name for c in answered if tells_apart(c, occurrence, relation))
    return Reach(columns, edits, frozenset(o.index for o in question.emptied), literals)
