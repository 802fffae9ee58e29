"""Planners that merge groups in a wrong way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import SIGN
from dbt.adapters.icebergmv.maintenance.planning.plan import Merge, NoOp, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.write import ReplaceAll, ReplacePartitions, Write
from tests.randomised.asking_mutants import (
    every_column,
    first_alone,
    heard,
    only_less,
    only_more,
    reaching,
    said,
    without_null,
)
from tests.randomised.mutants import UNION_ALL, Mutant, first_only, view
from tests.randomised.planners import Disjuncts, Planner
from tests.randomised.tables import Change

GROUPS = view("SELECT region, count(*) AS c, sum(v) AS s FROM t0 GROUP BY region")
TOTAL = view("SELECT count(v) AS c, sum(v) AS s FROM t0")
NULLS = view("SELECT id % 3 AS g, sum(v) AS s FROM t0 GROUP BY 1")
VALUES = view("SELECT region, count(v) AS c FROM t0 GROUP BY region")
EXTREMES = view("SELECT region, max(v) AS m, min(d) AS f FROM t0 GROUP BY region")
JOINED = view("SELECT b.region, sum(a.v) AS s, count(*) AS c FROM t0 a JOIN t1 b ON a.id = b.id GROUP BY b.region")
REPEATED = view("SELECT b.region, count(*) AS c FROM t0 a JOIN t1 b ON a.region = b.region GROUP BY b.region")
TO_ITSELF = view("SELECT a.region, count(*) AS c, max(b.v) AS m FROM t0 a JOIN t0 b ON a.v = b.v GROUP BY a.region")
COUNTS = view("SELECT n, count(*) AS c FROM (SELECT v, count(*) AS n FROM t0 GROUP BY v) q GROUP BY n")
SAME = view("SELECT count(*) AS c, sum(v) AS s FROM (SELECT id, v FROM t0 INTERSECT SELECT id, v FROM t1) q")
EITHER = view("SELECT count(*) AS c, count(a.id) AS l, count(b.id) AS r FROM t0 a FULL JOIN t1 b ON a.v = b.v")
ABOVE = view(
    "SELECT count(*) AS c, sum(a.id) AS s FROM t0 a WHERE a.id >= (SELECT max(b.id) FROM t1 b WHERE b.v = a.v)"
)
DIFFERENT = view("SELECT count(DISTINCT v) AS c, sum(id) AS s FROM t0")
SETS = view(
    "SELECT region, v, count(*) AS c, sum(id) AS s, grouping(region) AS l FROM t0"
    " GROUP BY GROUPING SETS ((region, v), (region), (v))"
)
RANKED = view("SELECT region, count(*) AS c, rank() OVER (ORDER BY count(*), region) AS r FROM t0 GROUP BY region")
FILTERED = view(
    "SELECT region, count(v) FILTER (WHERE id > 0) AS c, sum(v) FILTER (WHERE id > 0) AS s FROM t0 GROUP BY 1"
)
SOME = view("SELECT id % 3 AS g, count(*) AS c, sum(v) AS s FROM t0 WHERE v > 0 OR v IS NULL GROUP BY 1")
BEST = view("SELECT id % 3 AS g, count(*) AS c, max(v) AS m FROM t0 WHERE v > 0 OR v IS NULL GROUP BY 1")
OF_EACH = view("SELECT id, count(*) AS c, sum(v) AS s FROM t0 GROUP BY id")
UNITED = view(f"SELECT v, count(*) AS c FROM ({UNION_ALL.sql}) q GROUP BY v")

Literals: TypeAlias = tuple[str, ...]
CAME, WENT = ", 1 AS icebergmv_state_sign", ", -1 AS icebergmv_state_sign"


def written(change: Callable[[str], str]) -> Planner:
    """Return a planner that merges by other words."""

    def rewrite(write: Write, plan: RefreshPlan) -> Write:
        if not isinstance(plan, Merge):
            return write
        return replace(write, rows=replace(write.rows, query=change(write.rows.query)))

    return Planner(write=rewrite)


def planned(**changes: object) -> Planner:
    """Return a planner of other deltas."""

    def change(plan: RefreshPlan, raw: Mapping[str, Disjuncts], of: ViewDefinition) -> RefreshPlan:
        if not isinstance(plan, Merge):
            return plan
        return replace(plan, deltas=tuple(replace(d, **changes) for d in plan.deltas))  # type: ignore[arg-type,misc]

    return Planner(plan=change)


def listed(change: Callable[[Sequence[Literals]], Iterable[Literals]]) -> Planner:
    """Return a planner that lists other groups, where groups are listed."""

    def rewrite(plan: RefreshPlan, raw: Mapping[str, Disjuncts], of: ViewDefinition) -> RefreshPlan:
        if not isinstance(plan, Merge) or plan.listed is None:
            return plan
        rows = tuple(change(plan.listed.rows))
        return replace(plan, listed=replace(plan.listed, rows=rows)) if rows else NoOp("no group is listed")

    return Planner(plan=rewrite)


def cancelling(rows: Sequence[Literals]) -> list[Literals]:
    """Leave out groups of which rows came and went, whatever these are."""
    counts = Counter(row[0] for row in rows)
    return [row for row in rows if counts[row[0]] == 1]


def swapped(sql: str) -> str:
    other = {"1": "-1", "-1": "1"}
    return re.sub(rf"(-?1) AS (icebergmv_state_sign|{SIGN})\b", lambda m: f"{other[m[1]]} AS {m[2]}", sql)


def added(sql: str) -> str:
    return sql.replace(WENT, CAME).replace(f"-1 AS {SIGN}", f"1 AS {SIGN}")


def without_null_groups(sql: str) -> str:
    return sql.replace("\n) GROUP BY `region`", "\n) WHERE `region` IS NOT NULL GROUP BY `region`")


def one_level(sql: str) -> str:
    """Take a group for the one of another grouping set that has NULL in the columns which this one leaves out."""
    levels = "`icebergmv_state_0`, `icebergmv_state_1`"
    some = ", ".join(f"max({level}) AS {level}" for level in levels.split(", "))
    return sql.replace(f"SELECT `region`, `v`, {levels}, try_sum", f"SELECT `region`, `v`, {some}, try_sum").replace(
        f"GROUP BY `region`, `v`, {levels}", "GROUP BY `region`, `v`"
    )


def ranked_before(sql: str) -> str:
    """Rank the groups that have no rows left too."""
    query, kept = sql.rsplit(" WHERE ", 1)
    return f"SELECT * FROM ({query}) ranked WHERE {kept}"


def stored_ranks(sql: str) -> str:
    """Rank the groups by what they were before the change."""
    return sql.replace(
        "AS icebergmv_state_refused",
        "AS icebergmv_state_refused, max(CASE WHEN icebergmv_state_sign = 0 THEN `c` END) AS before",
    ).replace("coalesce(`c`)", "before")


def without_term(sign: str) -> Planner:
    """Return a planner that reads all rows below the aggregate, in place of those that are reached, on one side."""

    def change(sql: str) -> str:
        before, part = sql.split(sign)
        return before + sign + re.sub(r" WHERE \(\(.*\)\)(?= GROUP BY n\n|\n)", "", part, count=1)

    return replace(written(change), plan=planned(base_filters={}).plan)


def cancelled_once(sql: str) -> str:
    """Leave the rows in what went that are there still."""
    went, net = f"count(CASE WHEN {SIGN} < 0 THEN 1 END)", f"sum({SIGN})"
    counted = f"CASE WHEN {net} > 0 THEN {net} ELSE -{went} END AS {SIGN}"
    return sql.replace(f"{net} AS {SIGN}", counted).replace(f"HAVING {net} <> 0", f"HAVING {net} > 0 OR {went} > 0")


def counting(than: str) -> Planner:
    """Return a planner that compares two versions of a table, and keeps other rows than those which one has more of."""
    return written(lambda sql: sql.replace(f"HAVING sum({SIGN}) <> 0", f"HAVING sum({SIGN}) {than}"))


def last_delta(plan: RefreshPlan, raw: Mapping[str, Disjuncts], of: ViewDefinition) -> RefreshPlan:
    return replace(plan, deltas=plan.deltas[-1:]) if isinstance(plan, Merge) else plan


def replacing_all(write: Write, plan: RefreshPlan) -> Write:
    """Replace all stored rows by the merged groups of some partitions."""
    return ReplaceAll(write.rows) if isinstance(plan, Merge) else write


def reading_all(write: Write, plan: RefreshPlan) -> Write:
    """Replace the stored rows of some partitions by the merged groups of all."""
    if not isinstance(plan, Merge) or not isinstance(write, ReplacePartitions):
        return write
    query = write.rows.query.replace(f" WHERE {write.where}", "", 1)
    return replace(write, rows=replace(write.rows, query=query))


def merging(**changes: object) -> Planner:
    """Return a planner with another idea of how groups are merged."""

    def patch(definition: ViewDefinition) -> ViewDefinition:
        found = definition.merging
        return definition if found is None else replace(definition, merging=replace(found, **changes))  # type: ignore[arg-type]

    return Planner(definition=patch)


def always(change: Change) -> bool:
    return True


MERGING_MUTANTS: dict[str, Mutant] = {
    "what went is added": Mutant((GROUPS, TOTAL), written(added)),
    "what came and what went are swapped": Mutant((GROUPS, TOTAL), written(swapped)),
    "what went is forgotten": Mutant((GROUPS, TOTAL), Planner(is_append=always)),
    "what is stored is forgotten": Mutant(
        (GROUPS,),
        written(lambda sql: sql.replace("0 AS icebergmv_state_sign", "-1 AS icebergmv_state_sign")),
        seeds=600,
        first=357,
    ),
    "equal parts are one": Mutant(
        (TO_ITSELF, UNITED), written(lambda sql: sql.replace("UNION ALL\nSELECT", "UNION\nSELECT"))
    ),
    "a value is counted in a region and outside it": Mutant((DIFFERENT,), merging(compared=None)),
    "a value that came is counted though it was there": Mutant((DIFFERENT,), merging(additive={0: frozenset()})),
    "a group without rows is kept": Mutant((GROUPS,), written(lambda sql: sql.split(" WHERE `c` <> 0")[0])),
    "a sum of no values is zero": Mutant(
        (NULLS, TOTAL), written(lambda sql: sql.replace("<> 0 THEN `s` END", ">= 0 THEN `s` END"))
    ),
    "a row without a value is counted": Mutant(
        (VALUES,), written(lambda sql: sql.replace("CASE WHEN (v) IS NOT NULL THEN 1 ELSE 0 END", "1"))
    ),
    "a row that the FILTER leaves out is counted": Mutant(
        (FILTERED,),
        written(
            lambda sql: sql.replace("(id > 0) IS TRUE AND ", "").replace("CASE WHEN (id > 0) IS TRUE THEN (v) END", "v")
        ),
    ),
    "a total is taken for the group of NULL": Mutant((SETS,), written(one_level)),
    "a group without rows is ranked": Mutant((RANKED,), written(ranked_before)),
    "groups are ranked by what they were": Mutant((RANKED,), written(stored_ranks)),
    "an extreme is kept when it went": Mutant(
        (EXTREMES,), written(lambda sql: sql.replace("coalesce(icebergmv_state_refused, ", "("))
    ),
    "the group of NULL is lost": Mutant((GROUPS,), written(without_null_groups)),
    "other tables are read as they are now": Mutant((TO_ITSELF,), planned(before={})),
    "the other branches are not emptied": Mutant((UNITED,), planned(empty=frozenset())),
    "one change of several is merged": Mutant((TO_ITSELF, UNITED), Planner(plan=last_delta)),
    "one partition is forgotten": Mutant((GROUPS, TOTAL), Planner(disjuncts=first_only)),
    "rows of other partitions are lost": Mutant((OF_EACH,), Planner(write=replacing_all)),
    "rows of other partitions are written again": Mutant((OF_EACH,), Planner(write=reading_all)),
    "removed rows alone are merged": Mutant((GROUPS,), Planner(rows=lambda table, change: change.removed)),
    # Groups that are listed.
    "what went is listed as if it came": Mutant((SOME,), listed(lambda rows: [(*row[:-1], "1") for row in rows])),
    "what came is listed alone": Mutant((SOME,), listed(lambda rows: [row for row in rows if row[-1] == "1"])),
    "the group of NULL is not listed": Mutant(
        (SOME, BEST), listed(lambda rows: [row for row in rows if "NULL" not in row[0]])
    ),
    "what came and went of a group cancels": Mutant((SOME, BEST), listed(cancelling)),
    # Rows that cancel before they are joined.
    "rows that changed twice are joined once": Mutant(
        (REPEATED,), written(lambda sql: re.sub(r"explode\(sequence\(1, .*? AS int\)\)\)", "1", sql))
    ),
    "rows cancel in what came alone": Mutant((JOINED,), written(cancelled_once)),
    "what came is not compared": Mutant((JOINED,), counting("< 0")),
    "what went is not compared": Mutant((JOINED,), counting("> 0")),
    "what came of a comparison is taken off": Mutant(
        (JOINED,),
        written(
            lambda sql: sql.replace(f"CASE WHEN {SIGN} > 0 THEN 1 ELSE -1", f"CASE WHEN {SIGN} > 0 THEN -1 ELSE 1")
        ),
    ),
    # The rows below an aggregate that changes reach.
    "rows that came are asked alone": Mutant((COUNTS, SAME), Planner(ask=said(only_more))),
    "rows that went are asked alone": Mutant((COUNTS, SAME), Planner(ask=said(only_less))),
    "a reached key is not heard": Mutant((COUNTS, ABOVE), Planner(ask=heard(lambda rows: rows[1:]))),
    "the reached key NULL is not heard": Mutant((COUNTS, EITHER), Planner(ask=heard(without_null))),
    "the keys of one table are forgotten": Mutant((SAME, ABOVE, EITHER), Planner(ask=first_alone)),
    "one side of a full join below is taken for a key": Mutant((EITHER,), reaching(every_column)),
    "what went is computed over what is there now": Mutant((COUNTS, SAME, ABOVE), planned(before={})),
    "all rows come": Mutant((COUNTS, SAME), without_term(CAME)),
    "all rows go": Mutant((COUNTS, SAME), without_term(WENT)),
}
