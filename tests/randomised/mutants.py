"""Planners that are wrong on purpose. The tester is worth its name when it catches each of them.

A mutant of a rule claims, in place of the engine, which output column tracks which base column; its twin makes the
claim that is right. So the mutants do not depend on how far the engine's own rules reach.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import TrackedColumn
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Track
from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.write import AddRows, ReplaceAll, ReplacePartitions, ReplaceRows, Write
from dbt.adapters.icebergmv.maintenance.predicates.date_functions import DATE_TO_YEAR, truncate_date, truncate_timestamp
from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Inverse, Step
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier
from tests.randomised.planners import RIGHT, Disjuncts, Planner
from tests.randomised.tables import Change, Row
from tests.randomised.views import View

Tracks = Mapping[str, tuple[Track, ...]]


@dataclass(frozen=True)
class Mutant:
    """A wrong planner, the right one beside it, and views on which they differ. The engine itself must be right too.

    `keys` are the hidden keys that the views are stored with. `first` is the seed to begin with: one that is known to
    catch a planner that few catch. `ties`: ties are broken at random. `as_written`: windows are not ordered by more.
    """

    views: tuple[View, ...]
    wrong: Planner
    right: Planner = RIGHT
    seeds: int = 200
    first: int = 0
    own_keys_first: bool = False
    lists: bool = False
    asks_little: bool = False
    filters: bool = False
    keys: tuple[str, ...] = ()
    ties: bool = False
    as_written: bool = False


def on(reference: int, column: str, *steps: Step) -> Track:
    """Return the claim that something tracks a column of a base table, of which a view has one use."""
    return Track(Occurrence(reference), column, steps)


def view(sql: str, key: str = "d", *, together: bool = False) -> View:
    """Return a view over t0 and t1 whose tables are mostly partitioned by the key."""
    return View(sql, frozenset(t for t in ("t0", "t1") if f" {t}" in sql), (), key, together)


def claims(tracks: Tracks) -> Callable[[ViewDefinition], ViewDefinition]:
    """Return a patch that puts the given tracks in place of those that the engine found."""

    def patch(definition: ViewDefinition) -> ViewDefinition:
        columns = tuple(TrackedColumn(name, frozenset(found)) for name, found in tracks.items())
        occurrences = frozenset(Occurrence(r.index) for r in definition.references)
        return replace(definition, columns=columns, occurrences=occurrences, obstacles={}, full_when_changed=None)

    return patch


def without_nulls(table: str, disjuncts: Disjuncts) -> Disjuncts:
    return tuple(d for d in disjuncts if not any(domain.null for domain in d.domains.values()))


def first_only(table: str, disjuncts: Disjuncts) -> Disjuncts:
    return disjuncts[:1]


def all_at_once(table: str, disjuncts: Disjuncts) -> Disjuncts:
    """AND in place of OR."""
    met: dict[object, Domain] = {}
    for disjunct in disjuncts:
        for key, domain in disjunct.constraints:
            met[key] = domain.intersect(met.get(key, Domain.all()))
    return (TupleDomain.where(met),) if disjuncts else ()  # type: ignore[arg-type]


def shrunk(change: Callable[[Range], Range]) -> Callable[[str, Disjuncts], Disjuncts]:
    def shrink(table: str, disjuncts: Disjuncts) -> Disjuncts:
        return tuple(
            TupleDomain.where(
                {k: Domain(tuple(change(r) for r in d.ranges), d.null, d.nan) for k, d in rows.constraints}
            )
            for rows in disjuncts
        )

    return shrink


def open_low(r: Range) -> Range:
    return r if r.is_single_value else Range(r.low, r.high, False, r.high_inclusive)


def one_less(r: Range) -> Range:
    return r if r.is_single_value or not isinstance(r.high, int) else Range(r.low, r.high - 1, True, False)


def ignoring(ignored: str) -> Callable[[str, Change], tuple[Row, ...]]:
    """Return a detection that does not see changes of one table."""
    return lambda table, change: () if table == ignored else change.removed + change.added


def changed_rows_as_filters(plan: RefreshPlan, raw: Mapping[str, Disjuncts], of: ViewDefinition) -> RefreshPlan:
    if not isinstance(plan, Append | Overwrite):
        return plan
    filters = {r.index: raw[r.name] for r in of.references if r.index in plan.base_filters and r.name in raw}
    return replace(plan, base_filters={**plan.base_filters, **filters})


def filter_of_the_last(plan: RefreshPlan, raw: Mapping[str, Disjuncts], of: ViewDefinition) -> RefreshPlan:
    """Read every occurrence of a table by the filter of its last one."""
    if not isinstance(plan, Append | Overwrite):
        return plan
    last = {r.name: plan.base_filters[r.index] for r in of.references if r.index in plan.base_filters}
    return replace(plan, base_filters={r.index: last[r.name] for r in of.references if r.name in last})


def null_unsafe(write: Write, plan: RefreshPlan) -> Write:
    """Keep only the stored rows where NOT (k = 1 OR k = 2) holds, which it does not for NULL."""
    if not isinstance(write, ReplacePartitions | ReplaceRows):
        return write
    return ReplaceRows(write.rows, f"(NOT ({write.where.replace('<=>', '=')})) IS NOT TRUE")


def beside(instead: str) -> Planner:
    """Return a planner with other words for which stored rows are written again; \\1 is the predicate of the others."""

    def rewrite(write: Write, plan: RefreshPlan) -> Write:
        if not isinstance(write, ReplaceAll) or not isinstance(plan, Overwrite):
            return write
        query = re.sub(r" WHERE \((.*)\) IS NOT TRUE\n", rf"{instead}\n", write.rows.query)
        return replace(write, rows=replace(write.rows, query=query))

    return Planner(write=rewrite)


def dynamic(write: Write, plan: RefreshPlan) -> Write:
    """Replace the partitions that get rows, as INSERT OVERWRITE does in dynamic mode."""
    if not isinstance(plan, Overwrite):
        return write
    key = identifier(plan.region[0].constraints[0][0].column)
    new = f"SELECT * FROM (\n{write.rows.query}\n) n WHERE {write.rows.where}"
    return ReplaceRows(write.rows, f"EXISTS (SELECT 1 FROM ({new}) x WHERE x.{key} <=> stored.{key})")


def without_predicate(write: Write, plan: RefreshPlan) -> Write:
    """Insert every row of the query, those outside the region included."""
    return replace(write, rows=replace(write.rows, where=None))


def without_delete(write: Write, plan: RefreshPlan) -> Write:
    """Add the new rows of the region beside the stored ones."""
    return AddRows(write.rows)


def in_lists(change: Callable[[str], str], of: str = ", struct(") -> Planner:
    """Return a planner that changes lists of rows, or such `of` values, where these are deleted and inserted."""

    def rewrite(write: Write, plan: RefreshPlan) -> Write:
        if not isinstance(write, ReplaceRows) or of not in write.where:
            return write
        rows = replace(write.rows, where=change(write.rows.where or ""))
        return replace(write, rows=rows, where=change(write.where))

    return Planner(write=rewrite)


def without_the_first_value(where: str) -> str:
    return re.sub(r"(?<=\(VALUES \(')[^,]*,", "", where)


def without_null(where: str) -> str:
    return where.replace(" IS NULL OR (", " IS NOT NULL AND (")


def without_the_last(where: str) -> str:
    return f"{where[: where.rindex(LISTED)]})"


LISTED = ", struct("
LONG_LIST = "explode(split("
MONTH = truncate_timestamp("month") or DATE_TO_YEAR
MONTH_OF_DATE = truncate_date("month") or DATE_TO_YEAR


def without_before(plan: RefreshPlan, raw: Mapping[str, Disjuncts], of: ViewDefinition) -> RefreshPlan:
    if not isinstance(plan, Append):
        return plan
    return replace(plan, deltas=tuple(replace(d, before={}) for d in plan.deltas))


def without_empty(plan: RefreshPlan, raw: Mapping[str, Disjuncts], of: ViewDefinition) -> RefreshPlan:
    if not isinstance(plan, Append):
        return plan
    return replace(plan, deltas=tuple(replace(d, empty=frozenset()) for d in plan.deltas))


OF_TWO_KEYS = (
    view("SELECT DISTINCT region, v FROM t0"),
    view("SELECT region, v, median(id) AS m FROM t0 GROUP BY 1, 2"),
)
OF_ONE_KEY = (
    view("SELECT region, count(DISTINCT v) AS n FROM t0 GROUP BY region"),
    view("SELECT v, median(id) AS m FROM t0 GROUP BY v"),
)
UNION_ALL = view("SELECT d, v FROM t0 UNION ALL SELECT d, id FROM t1")
JOINED_TO_ITSELF = view("SELECT a.d, a.v, b.id FROM t0 a JOIN t0 b ON a.region = b.region")
PLAIN = (
    view("SELECT d, region, v FROM t0 WHERE v > 0 OR region = 'a'"),
    view("SELECT d, count(*) AS c, sum(v) AS s FROM t0 GROUP BY d"),
    view("SELECT CAST(ts AS date) AS k, count(*) AS c, sum(v) AS s FROM t0 GROUP BY CAST(ts AS date)", "ts"),
    view("SELECT DISTINCT region, v FROM t0", "region"),
    view("SELECT v, count(DISTINCT region) AS c FROM t0 GROUP BY v", "v"),
)
BY_DAY = view("SELECT date_trunc('day', ts) AS k, count(*) AS c FROM t0 GROUP BY 1", "ts")
BY_MONTH = (
    view("SELECT date_trunc('month', ts) AS k, count(*) AS c, sum(v) AS s FROM t0 GROUP BY 1", "ts"),
    view("SELECT year(d) AS k, count(*) AS c FROM t0 GROUP BY 1"),
)
BOTH = {"d": (on(0, "d"), on(1, "d"))}
LEFT = {"d": (on(0, "d"),)}
INNER_JOIN = view("SELECT a.d, a.region, b.v FROM t0 a JOIN t1 b ON a.d = b.d")
LEFT_JOIN = view("SELECT a.d, a.region, b.v FROM t0 a LEFT JOIN t1 b ON a.d = b.d")
EXCEPT = view("SELECT d, region FROM t0 EXCEPT SELECT d, region FROM t1")
IN_SUBQUERY = view("SELECT d, region, v FROM t0 WHERE d IN (SELECT d FROM t1 WHERE v >= 0)")
SELF_JOIN = view("SELECT a.d, a.v, b.d AS k, b.region FROM t0 a JOIN t0 b ON a.id = b.id")
MONTHS_JOINED = view(
    "SELECT date_trunc('month', a.ts) AS k, a.v, b.v AS w FROM t0 a JOIN t0 b ON date_trunc('month', a.ts) = b.ts", "ts"
)
OF_MONTHS_JOINED = {"k": (on(0, "ts", MONTH), on(1, "ts"))}
ROLLUP = view("SELECT d, region, count(*) AS c FROM t0 GROUP BY ROLLUP(d, region)")
WINDOW = view("SELECT d, region, sum(v) OVER (PARTITION BY region) AS s FROM t0")
NULL_SUPPLIED = view("SELECT a.id, a.region, b.d FROM t0 a LEFT JOIN t1 b ON a.id = b.id")
FULL_JOIN = "SELECT {} AS d, a.v, b.id FROM t0 a FULL JOIN t1 b ON a.d = b.d"


def claim(sql: str, wrong: Tracks) -> Mutant:
    """Return a mutant that claims wrong tracks; the engine is its twin."""
    return Mutant((view(sql),), Planner(definition=claims(wrong)))


def deaf(of: View, tracks: Tracks) -> Mutant:
    """Return a mutant that does not see changes of t1; the twin sees them."""
    right = Planner(definition=claims(tracks))
    return Mutant((of,), replace(right, rows=ignoring("t1")), right)


MUTANTS: dict[str, Mutant] = {
    # The six classics.
    "appended rows alone are seen": Mutant(PLAIN, Planner(rows=lambda table, change: change.added)),
    "changes of the right side of an inner join are ignored": deaf(INNER_JOIN, BOTH),
    "changes of the right side of a left join are ignored": deaf(LEFT_JOIN, BOTH),
    "changes of a base that nothing tracks are ignored": Mutant(
        (view("SELECT a.d, a.v, (SELECT max(v) FROM t1) AS m FROM t0 a"),),
        Planner(rows=ignoring("t1"), definition=claims(LEFT)),
        Planner(definition=claims(LEFT)),
    ),
    "NULL partitions are dropped": Mutant(PLAIN, Planner(disjuncts=without_nulls)),
    "NOT IN in place of a null-safe negation": Mutant(PLAIN, Planner(write=null_unsafe)),
    "dynamic overwrite": Mutant(PLAIN, Planner(write=dynamic)),
    # Writes.
    "rows outside the region are inserted": Mutant(PLAIN, Planner(write=without_predicate)),
    "the region is not deleted": Mutant(PLAIN, Planner(write=without_delete)),
    "stored rows of NULL are not written again": Mutant(PLAIN, beside(r" WHERE NOT (\1)")),
    "stored rows that are replaced are written again": Mutant(PLAIN, beside("")),
    "a key is not in the list of rows": Mutant(OF_TWO_KEYS, in_lists(without_the_last)),
    "NULL is not in the list of rows": Mutant(
        OF_TWO_KEYS, in_lists(lambda where: where.replace("(CAST(NULL AS string) AS key_0", "('none' AS key_0"))
    ),
    "a value is not in a long list": Mutant(OF_ONE_KEY, in_lists(without_the_first_value, LONG_LIST)),
    "NULL is not in a long list": Mutant(OF_ONE_KEY, in_lists(without_null, LONG_LIST)),
    # Regions and filters.
    "removed rows alone are seen": Mutant(PLAIN, Planner(rows=lambda table, change: change.removed)),
    "lower bounds are off by one": Mutant(PLAIN, Planner(disjuncts=shrunk(open_low))),
    "upper bounds are off by one": Mutant((PLAIN[2], PLAIN[4]), Planner(disjuncts=shrunk(one_less))),
    "one partition is forgotten": Mutant(PLAIN, Planner(disjuncts=first_only)),
    "changed partitions are ANDed": Mutant(PLAIN, Planner(disjuncts=all_at_once)),
    "base rows are those that changed, not the preimage": Mutant(BY_MONTH, Planner(plan=changed_rows_as_filters)),
    "the filter of one occurrence is used for another": Mutant(
        (MONTHS_JOINED,),
        Planner(definition=claims(OF_MONTHS_JOINED), plan=filter_of_the_last),
        Planner(definition=claims(OF_MONTHS_JOINED)),
    ),
    "the second occurrence of a self-join is ignored": Mutant(
        (SELF_JOIN,),
        Planner(definition=claims({"d": (on(0, "d"),), "k": (on(1, "d"),)}), references=lambda found: found[:1]),
        Planner(definition=claims({"d": (on(0, "d"),), "k": (on(1, "d"),)})),
    ),
    "a month is taken for a day": Mutant((BY_DAY,), Planner(definition=claims({"k": (on(0, "ts", MONTH),)}))),
    # Appends.
    "a change that removed rows is taken for an append": Mutant(PLAIN[:1], Planner(is_append=lambda change: True)),
    "all bases are read as they are now": Mutant((JOINED_TO_ITSELF,), Planner(plan=without_before)),
    "the other branches of a UNION ALL are not emptied": Mutant((UNION_ALL,), Planner(plan=without_empty)),
    "new rows of an aggregate are appended": Mutant(
        (PLAIN[1],), Planner(definition=lambda of: replace(of, additive={0: frozenset()}))
    ),
    # Rules.
    "the null-supplying side's own key, without NULL": claim(NULL_SUPPLIED.sql, {"d": (on(1, "d"),)}),
    "a full join's key from one side": claim(FULL_JOIN.format("a.d"), BOTH),
    "a full join's coalesced key that tracks one side, the other ignored": Mutant(
        (view(FULL_JOIN.format("coalesce(a.d, b.d)")),),
        Planner(definition=claims(BOTH), rows=ignoring("t0")),
        Planner(definition=claims(BOTH)),
    ),
    "a key that is not in every grouping set": claim(ROLLUP.sql, LEFT),
    "a window that is not partitioned by the key": claim(WINDOW.sql, LEFT),
    "a window by years, followed to days alone": claim(
        "SELECT d, v, sum(v) OVER (PARTITION BY trunc(d, 'YEAR')) AS s FROM t0", LEFT
    ),
    "windows by months and by years, followed to months alone": claim(
        "SELECT d, sum(v) OVER (PARTITION BY trunc(d, 'MM')) AS s, sum(v) OVER (PARTITION BY year(d)) AS r FROM t0",
        {"d": (on(0, "d", MONTH_OF_DATE, Inverse(MONTH_OF_DATE)),)},
    ),
    "EXCEPT without its right side": deaf(EXCEPT, BOTH),
    "the base inside IN (SELECT ...) is ignored": deaf(IN_SUBQUERY, BOTH),
    "NOT IN over a column that can be NULL": claim("SELECT d, v FROM t0 WHERE d NOT IN (SELECT d FROM t1)", BOTH),
    "a join condition that is no equality": claim("SELECT a.d, a.v, b.v AS w FROM t0 a JOIN t1 b ON a.d <= b.d", BOTH),
    "an equality under OR": claim(
        "SELECT a.d, a.v, b.v AS w FROM t0 a JOIN t1 b ON a.d = b.d OR a.region = b.region", BOTH
    ),
    "an EXISTS that equates another column": claim(
        "SELECT a.d, a.v FROM t0 a WHERE EXISTS (SELECT 1 FROM t1 b WHERE b.region = a.region)", BOTH
    ),
    "LIMIT keeps a key": claim("SELECT d, region, v FROM t0 ORDER BY v, d, region LIMIT 2", LEFT),
    "a global aggregate keeps a key": claim("SELECT max(d) AS d, count(*) AS c FROM t0", LEFT),
    "UNION ALL by name in place of position": claim(
        "SELECT d, CAST(ts AS date) AS k FROM t0 UNION ALL SELECT CAST(ts AS date) AS k, d FROM t1", BOTH
    ),
    "coalesce keeps the NULL partition": claim("SELECT coalesce(d, DATE '2024-01-01') AS d, v FROM t0", LEFT),
}
