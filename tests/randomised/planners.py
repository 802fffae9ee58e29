"""The engine's planner as the tester calls it, with a place for each way to spoil it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import NamedTuple, TypeAlias
from unittest.mock import patch

from dbt.adapters.icebergmv.maintenance.catalog.changed_rows import Wanted
from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import StaleDataConstraints, TableChange, TableVersion
from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Asked, Known
from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, analyse, at_moment
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import CLOCK
from dbt.adapters.icebergmv.maintenance.lake import Limit, Spark
from dbt.adapters.icebergmv.maintenance.planning.answers.changed_keys import Questions, clock_answer
from dbt.adapters.icebergmv.maintenance.planning.answers.listed_groups import GroupListing
from dbt.adapters.icebergmv.maintenance.planning.answers.reached_rows import Reaching
from dbt.adapters.icebergmv.maintenance.planning.choice.plan_request import PlanRequest
from dbt.adapters.icebergmv.maintenance.planning.choice.planner import plan_refresh, unaffected
from dbt.adapters.icebergmv.maintenance.planning.choice.to_ask import (
    ToAsk,
    asks_for_any_row,
    clock_to_ask,
    references_to_ask,
)
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.questions import key_queries, question_texts
from dbt.adapters.icebergmv.maintenance.planning.questions.asker import Asker, one_by_one
from dbt.adapters.icebergmv.maintenance.planning.questions.dynamic_filtering import DynamicFiltering
from dbt.adapters.icebergmv.maintenance.planning.questions.key_evaluation import LiveValues, Run, evaluated
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import MOST_OF_ONE, Answer
from dbt.adapters.icebergmv.maintenance.planning.questions.listed_values import Listing
from dbt.adapters.icebergmv.maintenance.planning.questions.question_texts import A_ROW
from dbt.adapters.icebergmv.maintenance.planning.questions.scalar_values import SAME_VALUE
from dbt.adapters.icebergmv.maintenance.planning.write import Write
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import BaseTableState
from dbt.adapters.icebergmv.maintenance.status.session.clock import ClockChange, clock_change
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus, wanted_of
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTable, BaseTables
from tests.randomised.database import BEFORE, OWN_FUNCTIONS
from tests.randomised.tables import COLUMN_INFOS, Change, Row, Spec, changed_partitions, live_values

Disjuncts = tuple[TupleDomain, ...]


@lru_cache(maxsize=64)
def analysed(sql: str, is_utc: bool = True, keys: tuple[str, ...] = ()) -> ViewDefinition:
    """Analyse a view over base tables, as it is written; the last items of its list are these hidden keys."""
    given = Known("ns", session_is_utc=is_utc, deterministic_functions=frozenset(OWN_FUNCTIONS))
    return analyse(given, sql, lambda _: COLUMN_INFOS, keys)


def analysed_at(sql: str, clock: Clock, is_utc: bool = True, keys: tuple[str, ...] = ()) -> ViewDefinition:
    """Analyse a view over base tables at a moment of the clock; `keys` as above."""
    return at_moment(analysed(sql, is_utc, keys), lambda _: COLUMN_INFOS, clock)


class Session(NamedTuple):
    """What a refresh finds: a Spark in its time zone, what the tables hold, how the storage is partitioned.

    `appends` says whether it is known of a change that it only adds rows, `merges` whether groups may be merged.
    `before` and `now` are what the clock was at the last refresh and is at this one. `own_keys_first`: see Questions.
    `keys` are the hidden keys that are the last items of the SELECT list. `lists`: the values that changed rows hold
    are listed before anything is planned. `asks_little`: only what can be asked by reading little is asked. `stored`
    are all columns of the storage table, hidden states included. `filters`: changes are cut down to the rows that joins
    with filtered tables keep.
    """

    is_utc: bool
    run: Run
    rows: Mapping[str, tuple[Row, ...]]
    appends: bool
    partitioning: Sequence[tuple[str, str]]
    bases: BaseTables
    columns: Sequence[Column] = ()
    merges: bool = False
    own_keys_first: bool = False
    before: Clock = {}
    now: Clock = {}
    keys: tuple[str, ...] = ()
    lists: bool = False
    asks_little: bool = False
    stored: Sequence[Column] = ()
    filters: bool = False


Ask: TypeAlias = Callable[[Questions, ToAsk, Run], dict[int, Answer]]
AskClock: TypeAlias = Callable[[Questions, Clock, Run], Answer]


_BESIDE = ThreadPoolExecutor(2)


def answers_of(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
    """Ask what the changed rows reach. An error of DuckDB is none of the kind that the engine expects of Spark."""
    strict, one_at_a_time = _strict(run), Lock()

    def ask(sql: str, limit: Limit) -> Sequence[Sequence[object]]:
        with one_at_a_time:
            return strict(sql)

    return questions.answers(to_ask, Asker(ask, _BESIDE.submit, Limit()))


def little_of(questions: Questions, to_ask: ToAsk, run: Run) -> dict[int, Answer]:
    """Ask what can be asked by reading little."""
    return questions.cheap_answers(to_ask, one_by_one(_strict(run)))


def answer_of_clock(questions: Questions, before: Clock, run: Run) -> Answer:
    """Ask what the clock reaches, which had other values before."""
    return answer_of_terms(questions, questions.definition.asked_since(before), run)


def answer_of_terms(questions: Questions, terms: Sequence[Asked] | None, run: Run) -> Answer:
    """Ask what the terms reach that read the clock."""
    asked = None if terms is None else [replace(questions, asked=term) for term in terms]
    return clock_answer(asked, _strict(run))


def _strict(run: Run) -> Spark:
    def run_it(sql: str) -> Sequence[Sequence[object]]:
        try:
            return run(sql)
        except Exception as error:
            # The subquery is tied to the rows around it. A table that is not there would be another thing.
            if sql.startswith(SAME_VALUE) or (A_ROW in sql and "Catalog Error" not in str(error)):
                raise
            raise Unanswerable(f"{error}\n{sql}") from error

    return run_it


def filtered_everywhere(filtering: DynamicFiltering, status: MaterializedViewStatus) -> MaterializedViewStatus:
    """Cut down what changed of all tables, however small they are."""
    return filtering.status(status, range(len(filtering.definition.references)))


_UNCHANGED = Change((), (), ())


class Situation(NamedTuple):
    """What a plan is made from before Spark is asked anything."""

    definition: ViewDefinition
    status: MaterializedViewStatus
    request: PlanRequest


class Unanswerable(BaseException):
    """A question that fails."""


@dataclass(frozen=True)
class Planner:
    """From changed rows to a plan and a write. Every field but the defaults is a way to be wrong."""

    rows: Callable[[str, Change], tuple[Row, ...]] = lambda table, change: change.removed + change.added
    disjuncts: Callable[[str, Disjuncts], Disjuncts] = lambda table, disjuncts: disjuncts
    definition: Callable[[ViewDefinition], ViewDefinition] = lambda definition: definition
    references: Callable[[tuple[int, ...]], tuple[int, ...]] = lambda indexes: indexes
    plan: Callable[[RefreshPlan, Mapping[str, Disjuncts], ViewDefinition], RefreshPlan] = lambda plan, raw, of: plan
    is_append: Callable[[Change], bool] = lambda change: not change.removed
    write: Callable[[Write, RefreshPlan], Write] = lambda write, plan: write
    ask: Ask = answers_of
    ask_little: Ask = little_of
    clock: Callable[[ClockChange | None], ClockChange | None] = lambda change: change
    ask_clock: AskClock = answer_of_clock
    listing: Callable[[Run], Run] = lambda run: run
    wanted: Callable[[ViewDefinition, Sequence[int]], Wanted] = wanted_of
    groups: Callable[[Reaching, PlanRequest, Sequence[Column]], Mapping[int, Answer] | Full | None] = Reaching.groups
    filter: Callable[[DynamicFiltering, MaterializedViewStatus], MaterializedViewStatus] = filtered_everywhere
    watch: Callable[[Situation, RefreshPlan], None] = lambda situation, plan: None

    def run(self, sql: str, specs: Mapping[str, Spec], changes: Mapping[str, Change], session: Session) -> RefreshPlan:
        """Return the plan of a refresh after the changes; tables that are not among them are fresh."""
        definition = self.definition(analysed_at(sql, session.now, session.is_utc, session.keys))
        raw = {
            table: self.disjuncts(table, changed_partitions(self.rows(table, change), specs[table]))
            for table, change in changes.items()
        }
        references: dict[str, list[TableReference]] = {}
        for reference in definition.references:
            references.setdefault(reference.name, []).append(reference)
        bases = []
        for table, found in references.items():
            is_append = session.appends and table in changes and self.is_append(changes[table])
            indexes = self.references(tuple(reference.index for reference in found))
            change = changes.get(table, _UNCHANGED)
            base = _base(session.bases.of(found[0]), indexes, raw.get(table, ()), is_append, change)
            wanted = self.wanted(definition, indexes)
            bases.append(_cut_down(base, wanted) if session.filters else base)
        moved = None if definition.clock is None else clock_change(definition.clock.values, session.before)
        status = MaterializedViewStatus(tuple(bases), self.clock(moved))
        if session.lists:
            every, run = range(len(definition.references)), one_by_one(_strict(self.listing(session.run)))
            # Ids of snapshots are the same in all histories.
            listing = Listing(session.bases.catalog_name, run, Remembered(0))
            status = listing.status(definition, status, every)
        if session.filters:
            filtering = DynamicFiltering(definition, session.bases, one_by_one(_strict(session.run)))
            status = self.filter(filtering, status)

        def live(base: BaseTableStatus, column: str) -> Domain | None:
            table = base.base.name[2]
            return live_values(session.rows[table], specs[table], column)

        # Of two changes of three the planner thinks that they reach nearly everything.
        is_wide = sum(base.change.changed_rows for base in status.stale) % 3 != 1
        wide = frozenset(base.base.name for base in status.stale if is_wide)
        request = PlanRequest(
            "incremental",
            partitioning=session.partitioning,
            merges=session.merges,
            changed_nearly_everywhere=wide,
        )
        situation = Situation(definition, status, request)
        definition = evaluated(definition, status, session.run, live)
        plan = self.plan(self._planned(definition, status, request, session, live), raw, definition)
        self.watch(situation, plan)
        return plan

    def _planned(
        self,
        definition: ViewDefinition,
        status: MaterializedViewStatus,
        request: PlanRequest,
        session: Session,
        live: LiveValues,
    ) -> RefreshPlan:
        """Ask the clock, then the tables, as planning/answers/answered_plan.py does."""
        first = frozenset(r.index for r in definition.references if session.own_keys_first)
        questions = Questions(
            *(definition, definition.asked, session.bases, status, session.columns),
            own_keys_first=first,
            most_of_one=MOST_OF_ONE,
        )
        if not session.appends:
            questions = replace(questions, many_compared=0)
        if session.own_keys_first:
            questions = replace(questions, asked=replace(questions.asked, shared={}))
        before = clock_to_ask(definition, status, request)
        if before is not None:
            request = replace(request, answers={CLOCK.index: self.ask_clock(questions, before, session.run)})

        if asks_for_any_row(definition, status, request):
            is_same = questions.no_row_changed(one_by_one(_strict(session.run)))
            return unaffected(status) if is_same else plan_refresh(definition, status, request)

        def ask(questions: Questions, to_ask: ToAsk) -> dict[int, Answer]:
            asked = self.ask_little if session.asks_little else self.ask
            with ExitStack() as small:
                # The tables of a history are too small for rows to be compared behind a join of them,
                if not session.appends:
                    small.enter_context(patch.object(question_texts, "is_compared_behind", _always))
                # and hold too few keys for one column to be asked by itself, as it may have more than several together.
                if sum(base.change.changed_rows for base in status.stale) % 2:
                    small.enter_context(patch.object(key_queries, "MOST_KEYS", 1))
                return asked(questions, to_ask, session.run)

        # Most groups of the histories are few enough to be listed, so they are for one of two changes.
        if not session.asks_little and sum(base.change.changed_rows for base in status.stale) % 2 == 0:
            listing = GroupListing(definition, session.bases, status, session.stored, _strict(session.run))
            listed = listing.plan(request, references_to_ask(definition, status, request), 0)
            if listed is not None:
                return listed
        reaching = Reaching(definition, session.bases, status, _strict(session.run), ask, live)
        merge = reaching.plan(request)
        if merge is not None:
            return merge
        reached = self.groups(reaching, request, session.columns)
        if isinstance(reached, Full):
            return reached
        if reached is not None:
            return plan_refresh(definition, status, replace(request, answers={**request.answers, **reached}))
        to_ask = references_to_ask(definition, status, request)
        if session.own_keys_first and not to_ask.only_whether:
            to_ask = _with_own_keys(to_ask, definition, status)
        if not to_ask.is_nothing:
            request = replace(request, answers={**request.answers, **ask(questions, to_ask)})
        return plan_refresh(definition, status, request)


def _always(base: BaseTableStatus, joined: Iterable[BaseTableStatus]) -> bool:
    return True


def _with_own_keys(to_ask: ToAsk, definition: ViewDefinition, status: MaterializedViewStatus) -> ToAsk:
    """Ask tables that only got rows for the keys in these, as is done of large tables alone."""
    appended = {i for b in status.stale if b.change.appended_since is not None for i in b.references}
    others = {*to_ask.needed, *to_ask.narrower}
    return replace(to_ask, own_keys=tuple(sorted(appended - others)) if definition.rewritable else ())


def _base(
    base: BaseTable, references: tuple[int, ...], disjuncts: Disjuncts, is_append: bool, rows: Change
) -> BaseTableStatus:
    change = TableChange(
        "stale" if disjuncts else "fresh",
        bool(disjuncts),
        StaleDataConstraints(disjuncts),
        len(disjuncts),
        appended_since=BEFORE if is_append and disjuncts else None,
        changed_rows=len(rows.removed + rows.added),
        # Changed rows are listed in all columns, unless they are many.
        changed_bytes=2**40 if len(rows.added) % 4 == 3 else 0,
        # Of some changes the planner knows only that the table was made anew.
        replaced=len(rows.removed) % 3 == 2,
    )
    recorded = BaseTableState(base.name, base.name, TableVersion("uuid", BEFORE, 0))
    return BaseTableStatus(base, references, recorded, change)


def _cut_down(base: BaseTableStatus, wanted: Wanted) -> BaseTableStatus:
    """Return the status of a table without what is known of changed rows that are not wanted."""
    kept = StaleDataConstraints(tuple(filter(wanted.may_be_in, base.change.constraints.data_disjuncts)), is_part=True)
    return replace(base, change=replace(base.change, constraints=kept))


RIGHT = Planner()
