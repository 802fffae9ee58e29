"""A case: a view, its base tables, and changes with a refresh after each. Running it compares bags.

The stored rows after a refresh must be what the definition gives: by the plan's region with its base filters, and by
the region alone (so that a wrong region is not taken for a wrong filter).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb

from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import with_edits
from dbt.adapters.icebergmv.maintenance.definition.hidden_keys import wanted_keys, with_keys
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_hidden, is_key
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, Merge, NoOp, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.queries.merged_groups import NOT_MERGED, can_merge
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.sql.queries import column_list
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from tests.randomised.choices import Choices
from tests.randomised.clocks import MOMENTS, at, clock_at, reads_clock
from tests.randomised.database import Database, Judge
from tests.randomised.grammar import CLOCK
from tests.randomised.iceberg_tables import base_table, storage_table
from tests.randomised.planners import Planner, Session, analysed, analysed_at
from tests.randomised.selects import EMPTY_SETS
from tests.randomised.tables import ZONES, Change, Row, RowMaker, Spec, make_partitioning, make_spec
from tests.randomised.untied import untied
from tests.randomised.views import View, make_view
from tests.randomised.writes import Target, statements
from tests.support.stub_catalog import StubCatalog

Step = Mapping[str, Change]


@dataclass(frozen=True)
class Case:
    """A view over tables that hold `start`, and the changes before each refresh.

    `appends`: the engine knows of changes that only add rows. `partitioning` is that of the storage. `clock` has the
    moment of the first build and of each refresh, or nothing where the view reads no clock. `merges`: the storage keeps
    what groups are merged by. `own_keys_first`: changed rows are asked for keys of their own first. `keys` are the
    hidden keys that are stored besides. `lists`: the values that changed rows hold are listed before all else.
    `asks_little`: only what can be asked by reading little is asked. `filters`: changes are cut down by joins first.
    `breaks_ties`: windows are ordered by more, so that no rows tie.
    """

    view: View
    specs: Mapping[str, Spec]
    start: Mapping[str, tuple[Row, ...]]
    steps: tuple[Step, ...]
    zone: str = ZONES[0]
    appends: bool = False
    partitioning: tuple[tuple[str, str], ...] = ()
    clock: tuple[str, ...] = ()
    merges: bool = False
    own_keys_first: bool = False
    keys: tuple[str, ...] = ()
    lists: bool = False
    asks_little: bool = False
    filters: bool = False
    breaks_ties: bool = True

    @property
    def sql(self) -> str:
        """Return the SELECT of what is stored: the view's, with its hidden keys and what breaks its ties."""
        widened = (with_keys(self.view.sql, self.keys) if self.keys else None) or self.view.sql
        return untied(widened, self.keys) if self.breaks_ties else widened

    def clock_of(self, refresh: int) -> Clock:
        """Return what the clock functions give at a refresh; 0 is the first build."""
        return clock_at(self.clock[refresh] if self.clock else MOMENTS[0], self.zone)


@dataclass(frozen=True)
class Refreshed:
    """One refresh of a history: its plan, the tables (and CLOCK) that changed before it, and what was wrong with it."""

    plan: RefreshPlan
    changed: frozenset[str]
    wrong: str | None = None
    sql: str = ""


def make_case(choices: Choices, view: View | None = None, keys: tuple[str, ...] | None = None) -> Case:
    """Return a random history, of a random view unless one is given; so are its hidden keys."""
    view = view or make_view(choices)
    choices.view_is_made()
    zone = choices.weighted([(10, ZONES[0]), *((0.5, z) for z in ZONES[1:])])
    appends = choices.chance(0.5)
    rows = RowMaker(choices)
    tables = sorted({r.name for r in analysed(view.sql).references} | view.tables)
    specs = {table: make_spec(choices, view.key) for table in tables}
    wants_keys = choices.chance(0.6)
    if keys is None:
        keys = hidden_keys(view, specs) if wants_keys else ()
    sql = (with_keys(view.sql, keys) if keys else None) or view.sql
    partitioning = make_partitioning(choices, {c.name: c.type for c in analysed(sql, keys=keys).columns or ()})
    start = {table: rows.rows(0.8, 6) for table in tables}
    now = dict(start)
    steps: list[Step] = []
    reads_it = reads_clock(view.sql)
    while len(steps) < 4 and (not steps or choices.chance(0.65)):
        step: dict[str, Change] = {}
        several = 30 if view.together else 2
        for _ in range(choices.weighted([(8, 1), (several, 2), (5 if reads_it else 0.3, 0)])):
            table = choices.pick(tables)
            if table not in step:
                step[table] = rows.change(now[table], view.key, specs[table])
                now[table] = step[table].after
        steps.append(step)
    clock = _moments(choices, len(steps) + 1) if reads_it else ()
    merges, own_keys_first = choices.chance(0.6), choices.chance(0.3)
    # Over no rows an empty grouping set has a row in DuckDB; in Spark it has none, as groups without rows are merged.
    merges = merges and EMPTY_SETS.isdisjoint(shape for shape, _ in view.shapes)
    lists, asks_little = choices.chance(0.3), choices.chance(0.2)
    return Case(
        *(view, specs, start, tuple(steps), zone, appends, partitioning, clock, merges, own_keys_first, keys),
        lists=lists,
        asks_little=asks_little,
        filters=choices.chance(0.5),
    )


def hidden_keys(view: View, specs: Mapping[str, Spec]) -> tuple[str, ...]:
    """Return the hidden keys that a view gets over tables that are partitioned so."""
    definition = analysed_at(view.sql, clock_at(MOMENTS[0], ZONES[0]))
    columns = {name: tuple(column for _, column in spec.fields) for name, spec in specs.items()}
    return wanted_keys(definition, {r.index: columns[r.name] for r in definition.references})


def _moments(choices: Choices, count: int) -> tuple[str, ...]:
    """Return moments of which some are the same as those before."""
    moments = [choices.pick(MOMENTS)]
    while len(moments) < count:
        moments.append(choices.pick(MOMENTS) if choices.chance(0.75) else moments[-1])
    return tuple(moments)


def run(database: Database, case: Case, planner: Planner) -> Iterator[Refreshed]:
    """Play a history; yields each refresh, and ends after the first wrong one."""
    sql = case.sql
    database.in_zone(case.zone)
    database.begin(f"{case.start} {case.steps}")
    now = dict(case.start)
    bases = BaseTables(StubCatalog({}, {f"ns.{t}": base_table(t, spec) for t, spec in case.specs.items()}))
    for table, rows in case.start.items():
        database.load(table, rows)
        database.load_before(table, rows, ())
    is_utc = case.zone == ZONES[0]
    stored, merges = stored_columns(database, analysed_at(sql, case.clock_of(0), is_utc, case.keys))
    columns = [c for c in stored if is_key(c.name) or not is_hidden(c.name)]
    merges = merges and case.merges
    session = Session(
        *(is_utc, database.run, now, case.appends, case.partitioning, bases, columns, merges, case.own_keys_first),
        keys=case.keys,
        lists=case.lists,
        asks_little=case.asks_little,
        stored=stored,
        filters=case.filters,
    )
    storage = storage_table({c.name: c.type for c in stored}, case.partitioning)
    for number, step in enumerate(case.steps, start=1):
        session = session._replace(before=case.clock_of(number - 1), now=case.clock_of(number))
        for table, change in step.items():
            database.load(table, change.after)
            database.load_before(table, now[table], change.added)
            now[table] = change.after
        changed = {table for table, change in step.items() if change.removed or change.added}
        changed |= {CLOCK} if at(sql, session.before) != at(sql, session.now) else set()
        judge = database.judge(at(sql, session.now))
        target = Target(planner.definition(analysed_at(sql, session.now, is_utc, case.keys)), bases, storage)
        plan = planner.run(sql, case.specs, step, session)
        found = _refresh(database, planner, plan, target, judge)
        if found is not None and isinstance(plan, Merge) and NOT_MERGED in found[0]:
            plan = planner.run(sql, case.specs, step, session._replace(merges=False))
            found = _refresh(database, planner, plan, target, judge)
        wrong, text = found or (None, "")
        again = session._replace(before=session.now)
        if wrong is None and planner.run(sql, case.specs, {}, again).kind != "none":
            wrong = "a second refresh does something"
        yield Refreshed(plan, frozenset(changed), wrong, text)
        if wrong is not None:
            return
        if not isinstance(plan, NoOp):
            database.adopt()


def stored_columns(database: Database, definition: ViewDefinition) -> tuple[tuple[Column, ...], bool]:
    """Store what a definition gives; return the columns, hidden ones included, and whether groups can be merged."""
    merging = definition.merging
    if merging is not None:
        edited = with_edits(definition.sql, merging.edits)
        stored = tuple(Column(name, kind) for name, kind in database.store(edited).items())
        if can_merge(merging, stored):
            return stored, True
    return tuple(Column(name, kind) for name, kind in database.store(definition.sql).items()), False


def _refresh(
    database: Database, planner: Planner, plan: RefreshPlan, target: Target, judge: Judge
) -> tuple[str, str] | None:
    """Refresh by the plan, on what is stored; return what is wrong with the outcome and the SQL that gave it."""
    tried: dict[str, Append | Overwrite | Merge | Full]
    match plan:
        case NoOp():
            stored = database.rows(f"SELECT {column_list(target.shown_and_keys)} FROM stored")
            return None if judge(stored) is None else ("nothing is done though the view changed", "")
        case Overwrite():
            tried = {"written anew": replace(plan, base_filters={}), "deleted and inserted": plan}
        case _:
            tried = {plan.kind: plan}
    for name, how in tried.items():
        written = statements(planner.write(target.write(how, is_scattered=name == "written anew"), how))
        if (found := wrong_rows(database, name, (written, target.shown_and_keys), judge)) is not None:
            return found
    return None


def wrong_rows(
    database: Database, name: str, outcome: tuple[Sequence[str], Sequence[str]], judge: Judge
) -> tuple[str, str] | None:
    """Return what is wrong with the rows that statements leave in some columns, and the statements."""
    written, columns = outcome
    try:
        rows = database.written(written, columns)
    except duckdb.Error as error:
        return f"{name}: {type(error).__name__}: {error}", ";\n".join(written)
    wrong = judge(rows)
    return None if wrong is None else (f"{name}: {wrong}", ";\n".join(written))
