"""What the rules pass to each other: relations whose columns track base columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from sqlglot import exp
from sqlglot.tokens import Token

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import Filter, Finding, StaticFilter
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Tracks
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Constant

Kind: TypeAlias = Literal["number", "text", "time", "boolean", "other", "float"]
"""What values are: whole numbers and decimals, texts, dates and moments, and so on. Of floats equal ones may differ."""


@dataclass(frozen=True)
class TrackedColumn:
    """A column of a relation. `type` is its Spark type where it is known; `required` that it is never NULL.

    `answered` holds the occurrences whose question (see Question) this column is an answer to. `kind` is that of its
    values, as far as it is known (see exactness.py). `has_ties`: a value that depends on the order of rows is a part of
    it, so that it answers nothing; `tied_below` are the occurrences among whose rows it is. `is_rounded`: such a value
    is one number, rounded in one way or another. `is_unsettled`: that, or a subquery in a SELECT list, is a part of it,
    so that no region may name it. `tied_to` are the SELECTs whose groups such a value is of, by their id() (none: not
    known); in all rows of a group of those in `one_in` it is one value. `keeps_equal`: rows of tables that are equal in
    what they are grouped or joined by are not told apart by it.
    """

    name: str
    tracks: Tracks = frozenset()
    type: str | None = None
    required: bool = False
    answered: frozenset[Occurrence] = frozenset()
    kind: Kind | None = None
    is_unsettled: bool = False
    has_ties: bool = False
    is_rounded: bool = False
    tied_below: frozenset[Occurrence] = frozenset()
    tied_to: frozenset[int] = frozenset()
    one_in: frozenset[int] = frozenset()
    keeps_equal: bool = False

    @property
    def is_tied(self) -> bool:
        """Return whether one of several values of rows is a part of it."""
        return self.has_ties and not self.is_rounded

    @property
    def exact(self) -> bool:
        """Return whether equal values of it are known to be one: floats are not."""
        return self.kind not in (None, "float")

    def with_flags_of(self, one: TrackedColumn, other: TrackedColumn) -> TrackedColumn:
        """Return the column as one whose values are each of one of two columns."""
        has_ties = one.has_ties or other.has_ties
        return replace(
            self,
            is_unsettled=one.is_unsettled or other.is_unsettled,
            has_ties=has_ties,
            is_rounded=has_ties and not (one.is_tied or other.is_tied),
            keeps_equal=one.keeps_equal and other.keeps_equal,
        )

    def literal_of(self, occurrence: Occurrence) -> Constant | None:
        """Return the literal that this column shows in each row which depends on an occurrence, if it does."""
        found = (t.literal for t in self.tracks if t.occurrence == occurrence)
        return next((literal for literal in found if literal is not None), None)


Additive = Mapping[Occurrence, frozenset[Occurrence]]


@dataclass(frozen=True)
class Grouped:
    """One aggregate: `below` says for which occurrences the rows at its input add up (as Deltas.additive).

    `keys` are the places in the SELECT list of everything that it groups by; without GROUP BY there is none. `columns`
    are the columns of FROM that its WHERE can write, each as its text and its name; none unless all that the SELECT
    list reads is among them. `compared` are those that every DISTINCT in the list compares; None without any.
    `has_sets`: it has several grouping sets, no two of them the same, and the keys are all of their columns.
    `named` are the columns in the list that mean a key by the name which that key has there, by their id(): its place.
    `has_ties`: which rows are below, or values in them, depends on the order of rows.
    `averaged` has the types of columns of which the list takes an average, by the id() of the call. `shows_all`: each
    group is a row; not so behind HAVING, and where DISTINCT makes groups of rows. `nameable` are the places in the list
    that a region may name: rows below that are equal in what they are grouped or joined by have one value there.
    """

    keys: tuple[int, ...]
    below: Additive
    columns: tuple[tuple[str, str], ...] = ()
    compared: frozenset[str] | None = None
    has_sets: bool = False
    named: Mapping[int, int] = field(default_factory=dict)
    averaged: Mapping[int, str] = field(default_factory=dict)
    has_ties: bool = False
    shows_all: bool = True
    nameable: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Deltas:
    """How new base rows become new output rows, for refreshes that read nothing but what changed.

    `additive`: of these occurrences, more rows give exactly the rows in addition that the query gives over the new rows
    alone, once the occurrences named with each are read as empty (the other branches of a UNION ALL). `emptied_by`:
    reading these as empty makes the relation empty, once the edits in `emptied_with` are made; None when nothing does.
    `grouped`: the query is one aggregate.
    """

    additive: Additive = field(default_factory=dict)
    emptied_by: frozenset[Occurrence] | None = None
    grouped: Grouped | None = None
    emptied_with: frozenset[Edit] = frozenset()

    def not_additive(self) -> Deltas:
        """Return the deltas after an operator that looks at several rows at once."""
        return replace(self, additive={}, grouped=None)

    def one_row(self, select: exp.Expr) -> Deltas:
        """Return the deltas after a SELECT that makes one row of all, of none too."""
        edits, having = {Edit("some row", id(select))}, select.args.get("having")
        if having is not None:
            # In parentheses its words have no other meaning behind an AND.
            edits.add(Edit("all rows", id(having.this)))
        return replace(self.not_additive(), emptied_with=self.emptied_with | edits)


EditKind: TypeAlias = (
    Literal["all rows", "no term", "some row", "exists", "in", "where exists", "where in"]
    | Literal["inner join", "left join", "right join", "semi join", "union"]
)


@dataclass(frozen=True)
class Edit:
    """A small change of the query, so that no answer is lost: what a condition, a join or a set operation becomes.

    `node` is the id() of its node in the syntax tree. "all rows" makes a term of a WHERE, HAVING or QUALIFY let every
    row pass, and "no term" does so without its columns; "exists" and "in" leave EXISTS (...) and x IN (...) of a term,
    given by the subquery; "where exists" and "where in" add these to the WHERE of the SELECT whose list has it; "some
    row" keeps a SELECT that aggregates all rows from giving a row for none.
    """

    kind: EditKind
    node: int


@dataclass(frozen=True)
class Question:
    """Which rows can the changed rows of an occurrence reach? The query over these rows alone says it.

    Changed are the rows that one of two versions of the table has more often, while all other tables stay as they are.
    The query is edited first, and the occurrences in `emptied` are read as empty. Then every row that one outcome of
    the real query has more often than the other equals some row of the answer, in all columns that are `answered` for
    the occurrence together (NULL equals NULL).
    """

    edits: frozenset[Edit] = frozenset()
    emptied: frozenset[Occurrence] = frozenset()

    def with_edit(self, kind: EditKind, node: exp.Expr) -> Question:
        """Return the question with one more edit."""
        return replace(self, edits=self.edits | {Edit(kind, id(node))})


Questions = Mapping[Occurrence, Question]


@dataclass(frozen=True)
class Unlisted:
    """A column that a SELECT list could name besides, as `text`; its other columns, and its rows, would stay.

    It is a key of the occurrences in `key_of`: it follows them through all windows of the SELECT or, where there are
    none, while other columns of its relation in FROM do not.
    """

    text: str
    column: TrackedColumn
    key_of: frozenset[Occurrence] = frozenset()


@dataclass(frozen=True)
class TrackedRelation:
    """The output of an operator. `columns` is None when its columns are not known.

    `occurrences` are the base occurrences below it; `obstacles` says for some of them what cuts their tracking. Of the
    occurrences that are not in `questions` the columns answer nothing. `unlisted` is known of a SELECT alone. On those
    in `ruled_out` no row depends: a condition keeps none that they are read for. `findings` are those of all SELECTs.
    `has_ties`: which rows it has depends on the order of others (see order_of_rows.py). With the edits in `loosened` it
    has at least all that it may have, but for columns with ties; None where no edits are known to do that.
    """

    columns: tuple[TrackedColumn, ...] | None
    occurrences: frozenset[Occurrence] = frozenset()
    obstacles: Mapping[Occurrence, str] = field(default_factory=dict)
    deltas: Deltas = Deltas()
    questions: Questions = field(default_factory=dict)
    unlisted: tuple[Unlisted, ...] = ()
    ruled_out: frozenset[Occurrence] = frozenset()
    findings: tuple[Finding, ...] = ()
    has_ties: bool = False
    loosened: frozenset[Edit] | None = None

    def cut(self, reason: str) -> TrackedRelation:
        """Return the relation after an operator that nothing tracks through."""
        columns = self.columns and tuple(replace(c, tracks=frozenset()) for c in self.columns)
        obstacles = {**dict.fromkeys(self.occurrences, reason), **self.obstacles}
        kept = replace(TrackedRelation(columns, self.occurrences, obstacles), ruled_out=self.ruled_out)
        return replace(kept, findings=self.findings, has_ties=self.has_ties)

    def blocked(self, occurrences: Iterable[Occurrence], reason: str) -> TrackedRelation:
        """Return the relation with some occurrences added to what it reads but never tracked."""
        added = frozenset(occurrences)
        return replace(
            self,
            occurrences=self.occurrences | added,
            obstacles={**dict.fromkeys(added, reason), **self.obstacles},
        )

    def used_again(self, use: int) -> TrackedRelation:
        """Return the same relation as another use of it sees it: every occurrence below is one of its own.

        No question is asked of it: the text of the table is one for all uses.
        """

        def moved(occurrence: Occurrence) -> Occurrence:
            return Occurrence(occurrence.index, (use, *occurrence.uses))

        def moved_all(tracks: Tracks) -> Tracks:
            return frozenset(replace(t, occurrence=moved(t.occurrence)) for t in tracks)

        def moved_column(column: TrackedColumn) -> TrackedColumn:
            # Each use may show another value of a group.
            column = replace(column, tied_to=frozenset(), one_in=frozenset())
            return replace(column, tracks=moved_all(column.tracks), answered=frozenset())

        def moved_finding(one: Finding) -> Finding:
            match one:
                case Filter():
                    return replace(one, occurrence=moved(one.occurrence), tracks=moved_all(one.tracks))
                case StaticFilter():
                    return replace(one, tracks=moved_all(one.tracks))
            return one

        # Nothing is asked of these occurrences, so no edit is made for them.
        emptied_by = None if self.deltas.emptied_with else self.deltas.emptied_by
        return TrackedRelation(
            self.columns and tuple(map(moved_column, self.columns)),
            frozenset(map(moved, self.occurrences)),
            {moved(o): reason for o, reason in self.obstacles.items()},
            Deltas(
                {moved(o): frozenset(map(moved, others)) for o, others in self.deltas.additive.items()},
                None if emptied_by is None else frozenset(map(moved, emptied_by)),
            ),
            ruled_out=frozenset(map(moved, self.ruled_out)),
            findings=tuple(map(moved_finding, self.findings)),
            has_ties=self.has_ties,
        )


@dataclass(frozen=True)
class Scope:
    """What names mean: columns of base references (None: unknown), and relations of the CTEs in sight.

    `sql` is the text, from which expressions are quoted letter for letter, and `items` the tokens of the SELECT item
    around each of its tokens, by the place of that token in the text.
    `units_are_literals`: every date_trunc and trunc of the SQL names its unit by a string literal that Spark knows. The
    parser shows columns, abbreviations and literals alike, so this is read off the text.
    `outer_names` are the columns and the relations in FROM of the queries around a subquery, in lower case.
    `moved` is the term of a WHERE that holds for the rows which another value of the clock may let pass, or not.
    `tracked` holds the relations of the expressions in the WITH of the whole text, by their id(), as they become known.
    """

    columns: Mapping[int, tuple[ColumnInfo, ...] | None]
    session_is_utc: bool
    units_are_literals: bool = False
    sql: str = ""
    items: Mapping[int, Sequence[Token]] = field(default_factory=dict)
    ctes: Mapping[str, TrackedRelation] = field(default_factory=dict)
    outer_names: frozenset[str] = frozenset()
    moved: exp.Expr | None = None
    tracked: dict[int, TrackedRelation] = field(default_factory=dict)

    @property
    def has_plain_literals(self) -> bool:
        """Return whether every session reads the literals of the text alike.

        Double quotes may be those of a name, backslashes those of a character.
        """
        return '"' not in self.sql and "\\" not in self.sql

    def with_cte(self, name: str, relation: TrackedRelation) -> Scope:
        """Return the scope with one more common table expression in sight."""
        return replace(self, ctes={**self.ctes, name.lower(): relation})
