"""The definition of a materialized view: what it reads, what it outputs, and which output column tracks which base.

*Output column k tracks column c of base occurrence T through f* when every output row depends only on those rows of T
with f(c) = k, NULL-safely. The rules that derive it are in `rules/`, one operator a file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp
from sqlglot.tokens import Token

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Asked, Known, asked, scope_of
from dbt.adapters.icebergmv.maintenance.definition.asking.dynamic_filters import DynamicFilter, dynamic_filters
from dbt.adapters.icebergmv.maintenance.definition.clock.clock import CLOCK_TYPES, Clock, at_clock
from dbt.adapters.icebergmv.maintenance.definition.clock.moved_clock import asked_of_clock
from dbt.adapters.icebergmv.maintenance.definition.determinism.ansi_mode import ansi_matters, reads_unnamed
from dbt.adapters.icebergmv.maintenance.definition.determinism.determinism import volatility
from dbt.adapters.icebergmv.maintenance.definition.determinism.user_functions import calls_user_functions
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import TextEdit
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_hidden
from dbt.adapters.icebergmv.maintenance.definition.merging.group_keys import GroupKeys, group_keys
from dbt.adapters.icebergmv.maintenance.definition.merging.merged_items import called_aggregates
from dbt.adapters.icebergmv.maintenance.definition.merging.merged_states import Merging
from dbt.adapters.icebergmv.maintenance.definition.merging.merging import additive_by_index, merging_of
from dbt.adapters.icebergmv.maintenance.definition.merging.rows_below import RowsBelow
from dbt.adapters.icebergmv.maintenance.definition.references.column_lists import read_in_full, reads_by_shape
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import (
    References,
    TableReference,
    find_references,
)
from dbt.adapters.icebergmv.maintenance.definition.references.unread_columns import words_of_read_columns
from dbt.adapters.icebergmv.maintenance.definition.row_order.shown_values import shown_values
from dbt.adapters.icebergmv.maintenance.definition.row_order.sorted_lists import SortedLists, sorted_lists
from dbt.adapters.icebergmv.maintenance.definition.row_order.tie_breaking import tie_breaking
from dbt.adapters.icebergmv.maintenance.definition.rules import track
from dbt.adapters.icebergmv.maintenance.definition.rules.constants import without_literals
from dbt.adapters.icebergmv.maintenance.definition.rules.table_uses import occurrences_in
from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import Nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import DIALECT, NotParsed, ParsedSql, parse
from dbt.adapters.icebergmv.maintenance.definition.syntax.query_facts import is_joined_by_where, needs_tables
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import Filter, StaticFilter
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import (
    TrackedColumn,
    TrackedRelation,
    Unlisted,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Track
from dbt.adapters.icebergmv.maintenance.errors import InvalidDefinition
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import is_computed, preimage
from dbt.adapters.icebergmv.maintenance.predicates.simplification import within_bounds

_TOO_DEEP = "its SQL cannot be analysed (it is nested too deeply, or has a chain of hundreds of operators)"
_FEW_VALUES = 20
"""Every changed file is compared with the rows that matter; of more values than these their bounds are."""


@dataclass(frozen=True)
class ViewDefinition:
    """An analysed SELECT."""

    sql: str
    references: tuple[TableReference, ...]
    columns: tuple[TrackedColumn, ...] | None
    """None when the output cannot be known without Spark."""
    always_full: str | None = None
    """Why the view can be neither kept nor refreshed in part, whatever changed."""
    full_when_changed: str | None = None
    """Why a change always asks for a full refresh."""
    depends_on_order: str | None = None
    """Which values may be others although no row changed."""
    shown_alone: bool = False
    """A change asks for nothing because of these values (shown_values.py)."""
    sorted_lists: SortedLists | None = None
    """Where `with_types` finds that the values in these are exact, none depends on order."""
    occurrences: frozenset[Occurrence] = frozenset()
    obstacles: Mapping[Occurrence, str] = field(default_factory=dict)
    """What keeps a base occurrence from being tracked."""
    additive: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """The references whose new rows alone give the new output rows, with those that are read as empty for it."""
    rewritable: bool = False
    """Subqueries may take the places of the references."""
    mentions: frozenset[str] = frozenset()
    """The words of the SQL in lower case."""
    reads_by_shape: bool = False
    """Columns that it does not name may matter too."""
    needs_tables: bool = False
    """Every output row comes from rows of tables."""
    selects_subquery: bool = False
    """A SELECT list holds a subquery."""
    ansi_matters: bool = True
    """Its values may be others in ANSI mode."""
    calls_user_functions: bool = False
    """It calls functions that are not Spark's own."""
    reads_unnamed: bool = True
    """It reads columns by no name."""
    read_in_full: frozenset[int] | None = None
    """The references of which columns that it does not name may matter too, by `*` or by their place; None: all."""
    joins_by_where: bool = False
    """Behind a join that leaves its condition to WHERE (comma, CROSS JOIN) it joins more."""
    merging: Merging | None = None
    """How its groups are merged, if they can be."""
    group_keys: GroupKeys | None = None
    """Which its groups are, of what rows below are reached."""
    known: Known = field(default_factory=Known)
    """What it was analysed with."""
    clock: ReadClock | None = None
    """Its clock functions have become literals."""
    keys: tuple[str, ...] = ()
    """The texts of the last items of its list, which are stored and not shown (hidden_keys.py)."""
    unlisted: tuple[Unlisted, ...] = ()
    """The columns that could be such items."""
    ties: tuple[TextEdit, ...] = ()
    """The edits after which the rows of its windows tie no longer."""
    tie_breakers: tuple[str, ...] = ()
    """The texts of those that were made."""
    filters: tuple[DynamicFilter, ...] = ()
    """What joins with filtered tables keep of others."""
    static_filters: tuple[StaticFilter, ...] = ()
    """What conditions with constants keep."""

    @property
    def live(self) -> tuple[TableReference, ...]:
        """Return the references that are read as their tables are now, and not at a snapshot of their own."""
        return tuple(r for r in self.references if not r.pinned)

    @cached_property
    def asked(self) -> Asked:
        """Return what can be asked of the changed rows; found out when somebody wants to know."""
        return asked(self.sql, self.references, self.known)

    @cached_property
    def read_words(self) -> frozenset[str] | None:
        """Return the words of the SQL without items of queries in FROM that nothing reads.

        Columns of tables with other names are not read. None where that is not known of any column.
        """
        return words_of_read_columns(self.sql)

    @property
    def rows_below(self) -> RowsBelow | None:
        """Return the rows that it groups, as a query of their own, if they are of use."""
        found = (part.below for part in (self.merging, self.group_keys) if part is not None)
        return next((below for below in found if below is not None), None)

    @property
    def as_written(self) -> ViewDefinition:
        """Return the definition with its clock functions, which give readers another value at every moment."""
        return self if self.clock is None else self.clock.written

    @property
    def written_at(self) -> frozenset[str]:
        """Return the columns, in lower case, that say when their row was written."""
        return frozenset() if self.clock is None else self.clock.written_at

    @cached_property
    def full_when_clock_moves(self) -> bool:
        """Return whether a clock that moved always asks for a full refresh."""
        return self.clock is not None and self.asked_since(self.clock.values) is None

    def asked_since(self, before: Clock) -> tuple[Asked, ...] | None:
        """Return what to ask of a clock that had other values before; None if no question shows what it reaches."""
        if self.clock is None:
            return ()
        return asked_of_clock(self.clock.followed, self.known, before, self.clock.values)

    def with_types(self, types: Mapping[str, str]) -> ViewDefinition:
        """Return the definition as its output columns have these types, in Spark's words."""
        if self.sorted_lists is None:
            return self
        depends = self.sorted_lists.obstacle(types)
        return replace(self, depends_on_order=depends, full_when_changed=None if self.shown_alone else depends)

    def uses_of(self, index: int) -> tuple[Occurrence, ...]:
        """Return the occurrences of a reference: several where a CTE around it is used again."""
        return tuple(sorted(o for o in self.occurrences if o.index == index))

    def uses_of_all(self, indexes: Iterable[int]) -> tuple[Occurrence, ...]:
        """Return the occurrences of some references, one reference after the other."""
        return tuple(use for index in indexes for use in self.uses_of(index))

    def tracks_of(self, occurrence: Occurrence) -> dict[str, tuple[Track, ...]]:
        """Return, per output column, how it tracks the base occurrence."""
        if occurrence in self.obstacles:
            return {}
        found = {c.name: tuple(t for t in c.tracks if t.occurrence == occurrence) for c in self.columns or ()}
        return {name: tracks for name, tracks in found.items() if tracks}

    def rows_that_matter(self, indexes: Iterable[int]) -> tuple[TupleDomain, ...]:
        """Return the only rows of a table that matter to the view, which reads it by some references: any of these.

        Conditions with constants leave out all others.
        """
        return tuple(self._rows_that_matter(use) for use in self.uses_of_all(indexes)) or (TupleDomain.all(),)

    def _rows_that_matter(self, use: Occurrence) -> TupleDomain:
        tracks = ((one, t) for one in self.static_filters for t in one.tracks if t.occurrence == use)
        rows = TupleDomain.all_of(
            (ColumnKey(t.column), preimage(t.function, one.passing)) for one, t in tracks if not is_computed(t.function)
        )
        return within_bounds(rows, _FEW_VALUES)

    def tracked_columns(self, index: int) -> frozenset[str]:
        """Return the base columns of a reference that some output column tracks."""
        return frozenset(track.column for track in self.tracks_to(index))

    def tracks_to(self, index: int) -> list[Track]:
        """Return the tracks from all output columns to a reference."""
        return [t for use in self.uses_of(index) for tracks in self.tracks_of(use).values() for t in tracks]


@dataclass(frozen=True)
class ReadClock:
    """The clock that a SELECT reads: the definition as it is written, and the values in place of its functions.

    `followed` is its text with those functions alone that its rows depend on, and `written_at` the columns, in lower
    case, that say when their row was written.
    """

    written: ViewDefinition
    values: Clock
    followed: str
    written_at: frozenset[str] = frozenset()


def at_moment(
    written: ViewDefinition,
    columns_of: Callable[[TableReference], tuple[ColumnInfo, ...] | None],
    clock: Clock | None,
    written_at: Collection[str] = (),
) -> ViewDefinition:
    """Return the definition at a moment of the clock (None: not known); `written_at` as in clock_columns.py.

    It stays as it is written where it reads no clock, or where a refresh cannot be shown to depend on nothing else.
    """
    if clock is None or CLOCK_TYPES.keys().isdisjoint(written.mentions):
        return written
    found = at_clock(written.sql, clock, written.known.columns.values(), written_at)
    if found is None:
        return written
    known = written.known
    definition = analyse(known, found.sql, columns_of, written.keys)
    if definition.always_full is not None:
        # Something else than the clock is the reason.
        return replace(written, always_full=definition.always_full)
    read = ReadClock(written, found.values, found.followed, found.written_at)
    # See shown_values.py.
    definition = replace(definition, full_when_changed=definition.depends_on_order, shown_alone=False)
    return replace(definition, clock=read, tie_breakers=written.tie_breakers)


def analyse(
    given: Known,
    sql: str,
    columns_of: Callable[[TableReference], tuple[ColumnInfo, ...] | None],
    keys: tuple[str, ...] = (),
) -> ViewDefinition:
    """Analyse the compiled SQL of a materialized view; the last items of its list are these hidden keys.

    Given is what is known besides, but for the columns. `columns_of` returns those of a referenced table, or None when
    it is not an Iceberg table of the catalog. Raises InvalidDefinition for output that a table cannot hold: unnamed or
    duplicate columns.
    """
    found = _parsed(sql)
    if isinstance(found, str):
        return ViewDefinition(sql, (), None, always_full=found)
    try:
        return _analysed(given, *found, columns_of, keys)
    except RecursionError:
        return ViewDefinition(sql, (), None, always_full=_TOO_DEEP)


def _analysed(
    given: Known,
    parsed: ParsedSql,
    query: exp.Query,
    columns_of: Callable[[TableReference], tuple[ColumnInfo, ...] | None],
    keys: tuple[str, ...],
) -> ViewDefinition:
    """Return the definition of a parsed text. Raises InvalidDefinition, and RecursionError for one that is too deep."""
    references = find_references(query, given.default_namespace)
    _check_named(query)
    known = replace(given, columns={r.index: columns_of(r) for r in references.tables})
    relation = track(query, scope_of(parsed, known))
    overlooked = occurrences_in(query) - relation.occurrences
    relation = relation.blocked(overlooked, "a place that is not analysed")
    check_names([c.name for c in (relation.columns or ())][: -len(keys) or None])
    return replace(_definition(parsed, references, relation, known), keys=keys)


def _definition(parsed: ParsedSql, references: References, relation: TrackedRelation, known: Known) -> ViewDefinition:
    """Return all that is found out of a text whose output tracks base columns as in a relation."""
    tokens, nodes = parsed.tokens, Nodes(parsed.tree)
    words = frozenset(t.text.lower() for t in tokens)
    if nodes.have(exp.Star):
        words |= {"*"}  # `FROM t` alone is `SELECT * FROM t`.
    shown = shown_values(parsed, relation)
    followed = without_literals(shown.relation)
    unnamed, depends, shown_alone = reads_unnamed(nodes, words), shown.depends, shown.are_only_shown
    return ViewDefinition(
        sql=parsed.sql,
        references=references.tables,
        columns=followed.columns,
        always_full=references.opaque or volatility(nodes, tokens, known.columns, known.deterministic_functions),
        full_when_changed=None if shown_alone else depends,
        depends_on_order=depends,
        shown_alone=shown_alone,
        sorted_lists=None if depends is None else sorted_lists(parsed, depends),
        occurrences=relation.occurrences - relation.ruled_out,
        obstacles={o: reason for o, reason in relation.obstacles.items() if o not in relation.ruled_out},
        additive=_additive(relation, references.tables, tokens),
        mentions=words,
        reads_by_shape=reads_by_shape(nodes),
        rewritable=references.rewritable,
        needs_tables=needs_tables(nodes),
        ansi_matters=ansi_matters(nodes, known.types, words),
        calls_user_functions=calls_user_functions(nodes),
        reads_unnamed=unnamed,
        read_in_full=None if unnamed else read_in_full(nodes),
        joins_by_where=any(map(is_joined_by_where, nodes.of(exp.Select))),
        merging=merging_of(parsed, relation, references.tables, known),
        group_keys=group_keys(parsed, relation, references.tables, known),
        selects_subquery=any(item.find(exp.Query) for s in nodes.of(exp.Select) for item in s.expressions),
        known=known,
        unlisted=followed.unlisted,
        ties=tie_breaking(parsed, relation.findings),
        filters=dynamic_filters(parsed, [f for f in relation.findings if isinstance(f, Filter)]),
        static_filters=tuple(f for f in relation.findings if isinstance(f, StaticFilter)),
    )


def _parsed(sql: str) -> tuple[ParsedSql, exp.Query] | str:
    """Return a text and its SELECT, or why it cannot be analysed."""
    parsed = parse(sql)
    if isinstance(parsed, NotParsed):
        return f"its SQL cannot be analysed ({parsed.reason})"
    if not isinstance(parsed.tree, exp.Query):
        return "its SQL is not one SELECT statement"
    if any(t.text == "|>" for t in parsed.tokens):
        return "pipe syntax is not analysed"
    return parsed, parsed.tree


def _additive(
    relation: TrackedRelation, references: tuple[TableReference, ...], tokens: Sequence[Token]
) -> dict[int, frozenset[int]]:
    """Return the references that can be read in part, or as empty, by their place in the text.

    The parser does not know every aggregate function as one, so the names decide.
    """
    return {} if called_aggregates(tokens) else additive_by_index(relation.deltas.additive, relation, references)


def _check_named(query: exp.Query) -> None:
    for position, expression in enumerate(query.selects, start=1):
        if isinstance(expression, exp.Star) or expression.is_star or expression.output_name:
            continue
        if isinstance(expression, (exp.Column, exp.Aliases, exp.Dot, exp.Bracket)):
            continue
        raise InvalidDefinition(
            f"column {position} of the SELECT has no name: {expression.sql(dialect=DIALECT)[:80]}. Give it one with AS."
        )


def check_names(names: Sequence[str]) -> None:
    """Raise InvalidDefinition for output columns that the storage table cannot hold.

    Two may not have one name, whatever their case; none may begin as the hidden columns do.
    """
    seen: set[str] = set()
    for name in names:
        if is_hidden(name):
            raise InvalidDefinition(
                f"the SELECT outputs a column named {name}; such names are kept for columns of the storage table that "
                "the view does not show. Rename it with AS."
            )
        if name.lower() in seen:
            raise InvalidDefinition(f"the SELECT outputs two columns named {name}. Rename one of them with AS.")
        seen.add(name.lower())
