"""A case: a view, its base tables, and changes with a refresh after each. Running it compares bags.

The stored rows after a refresh must be what the definition gives: by the plan's region with its base filters, and by
the region alone (so that a wrong region and a wrong filter are told apart).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.table_references import splice
from dbt.adapters.icebergmv.maintenance.planning.planner import RefreshPlan
from dbt.adapters.icebergmv.maintenance.predicates.domain import TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, disjunction, identifier

from .choices import Choices
from .database import Bag, Database
from .planners import Planner, Session, analysed
from .tables import SPARK_TYPES, ZONES, Change, Row, RowMaker, Spec, make_partitioning, make_spec
from .views import View, make_view

Step = Mapping[str, Change]
CATALOG = "lake"


@dataclass(frozen=True)
class Case:
    """A view over tables that hold `start`, and the changes before each refresh.

    `appends`: the engine is told of changes that only add rows. `partitioning` is that of the storage.
    """

    view: View
    specs: Mapping[str, Spec]
    start: Mapping[str, tuple[Row, ...]]
    steps: tuple[Step, ...]
    zone: str = ZONES[0]
    appends: bool = False
    partitioning: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Refreshed:
    """One refresh of a history: its plan, the tables that changed before it, and what was wrong with it."""

    plan: RefreshPlan
    changed: frozenset[str]
    wrong: str | None = None
    sql: str = ""


def make_case(choices: Choices, view: View | None = None) -> Case:
    """Return a random history, of a random view unless one is given."""
    view = view or make_view(choices)
    choices.view_is_made()
    zone = choices.weighted([(10, ZONES[0]), *((0.5, z) for z in ZONES[1:])])
    appends = choices.chance(0.5)
    partitioning = make_partitioning(choices, {c.name: c.type for c in analysed(view.sql).columns or ()})
    rows = RowMaker(choices)
    tables = sorted({r.name for r in analysed(view.sql).references} | view.tables)
    specs = {table: make_spec(choices, view.key) for table in tables}
    start = {table: rows.rows(0.8, 6) for table in tables}
    now = dict(start)
    steps: list[Step] = []
    while len(steps) < 4 and (not steps or choices.chance(0.65)):
        step: dict[str, Change] = {}
        for _ in range(choices.weighted([(8, 1), (2, 2), (0.3, 0)])):
            table = choices.pick(tables)
            if table not in step:
                step[table] = rows.change(now[table], view.key, specs[table])
                now[table] = step[table].after
        steps.append(step)
    return Case(view, specs, start, tuple(steps), zone, appends, partitioning)


def run(database: Database, case: Case, planner: Planner) -> Iterator[Refreshed]:
    """Play a history; yields each refresh, and ends after the first wrong one."""
    sql = case.view.sql
    database.in_zone(case.zone)
    now = dict(case.start)
    session = Session(case.zone == ZONES[0], database.run, now, case.appends, case.partitioning)
    for table, rows in case.start.items():
        database.load(table, rows)
    types = database.store(sql)
    before = database.rows("SELECT * FROM stored")
    for step in case.steps:
        for table, change in step.items():
            database.load(table, change.after)
            if not change.removed:
                database.load(f"{table}_before", now[table])
                database.load(f"{table}_added", change.added)
            now[table] = change.after
        changed = frozenset(table for table, change in step.items() if change.removed or change.added)
        plan = planner.run(sql, case.specs, step, session)
        expected = database.rows(sql)
        found = _refresh(database, case, planner, plan, types, before, expected)
        wrong, text = found or (None, "")
        if wrong is None and planner.run(sql, case.specs, {}, session).kind != "none":
            wrong = "a second refresh does something"
        yield Refreshed(plan, changed, wrong, text)
        if wrong is not None:
            return
        if expected != before:
            database.store(sql)
            before = expected


def _refresh(
    database: Database,
    case: Case,
    planner: Planner,
    plan: RefreshPlan,
    types: Mapping[str, str],
    before: Bag,
    expected: Bag,
) -> tuple[str, str] | None:
    """Refresh by the plan, on what is stored; return what is wrong with the outcome and the SQL that gave it."""
    match plan.kind:
        case "full":
            return None
        case "none":
            return None if before == expected else ("nothing is done though the view changed", "")
        case "append":
            query = appended(planner.definition(analysed(case.view.sql)), plan)
            return wrong_rows(database, "append", query, expected)
        case "overwrite":
            definition = planner.definition(analysed(case.view.sql))
            for name, filters in (("region and base filters", plan.base_filters), ("region alone", {})):
                query = overwritten(planner, plan, filtered(definition, filters), types)
                if (found := wrong_rows(database, name, query, expected)) is not None:
                    return found
            return None


def wrong_rows(database: Database, name: str, query: str, expected: Bag) -> tuple[str, str] | None:
    """Return how the rows of the query differ from those expected, and the query."""
    try:
        rows = database.rows(query)
    except duckdb.Error as error:
        return f"{name}: {type(error).__name__}: {error}", query
    return None if rows == expected else (f"{name}: {difference(rows, expected)}", query)


def appended(definition: ViewDefinition, plan: RefreshPlan) -> str:
    """Return the SQL of what is stored after an append: the rows that were there, and those of each delta."""
    queries = []
    for delta in plan.deltas:
        texts = {}
        for reference in definition.references:
            name = reference.name
            if reference.index == delta.added:
                texts[reference] = f"(SELECT * FROM {name}_added)"
            elif reference.index in delta.empty:
                texts[reference] = f"(SELECT * FROM {name} WHERE false)"
            elif reference.index in delta.before:
                texts[reference] = f"(SELECT * FROM {name}_before)"
        spliced = {r: text + ("" if r.has_alias else f" {identifier(r.name)}") for r, text in texts.items()}
        queries.append(f"SELECT * FROM (\n{splice(definition.sql, spliced)}\n) n")
    return " UNION ALL ".join(["SELECT * FROM stored", *queries])


def overwritten(planner: Planner, plan: RefreshPlan, query: str, types: Mapping[str, str]) -> str:
    """Return the SQL of what is stored after an overwrite: the rows that stay, and the new ones.

    It is DELETE WHERE region and INSERT WHERE region, as one SELECT.
    """
    region = disjunction(plan.region, types, Dialect(CATALOG))
    new = f"SELECT * FROM (\n{query}\n) n WHERE {region}"
    match planner.overwrite:
        case "region":
            stay = f"({region}) IS NOT TRUE"
        case "not in":
            # NULL-unsafe in the way of NOT (k = 1 OR k = 2).
            stay = f"NOT ({region.replace('<=>', '=')})"
        case "partitions of the new rows":
            key = identifier(plan.region[0].constraints[0][0].column) if plan.region else "true"
            stay = f"NOT EXISTS (SELECT 1 FROM ({new}) x WHERE x.{key} <=> stored.{key})"
    return f"SELECT * FROM stored WHERE {stay} UNION ALL {new}"


def filtered(definition: ViewDefinition, filters: Mapping[int, Sequence[TupleDomain]]) -> str:
    """Return the definition, reading of each occurrence only the rows that its filter leaves."""
    replacements = {}
    for reference in definition.references:
        if reference.index in filters:
            where = disjunction(filters[reference.index], SPARK_TYPES, Dialect(CATALOG))
            alias = "" if reference.has_alias else f" {identifier(reference.name)}"
            replacements[reference] = f"(SELECT * FROM {identifier(reference.name)} WHERE {where}){alias}"
    return splice(definition.sql, replacements)


def difference(found: Bag, expected: Bag) -> str:
    """Return which rows are missing and which are too many."""
    missing, extra = list(expected), []
    for row in found:
        if row in missing:
            missing.remove(row)
        else:
            extra.append(row)
    return f"missing {missing}, too many {extra}"
