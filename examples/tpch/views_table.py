"""Writes docs/tpch-views.md: how each view in views/ follows the TPC-H tables, as the analysis of its SQL tells.

    python -m examples.tpch.views_table

No Spark is started. `behaviours` is what the page says, as data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Known
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, analyse, at_moment
from dbt.adapters.icebergmv.maintenance.definition.hidden_keys import wanted_keys, with_keys
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import key_name
from dbt.adapters.icebergmv.maintenance.definition.references.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence, Track
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import Computed, Inverse, OrNull

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "tpch-views.md"
NAMESPACE = "tpch"

SCHEMAS = {
    "region": "r_regionkey bigint not null, r_name string, r_comment string",
    "nation": "n_nationkey bigint not null, n_name string, n_regionkey bigint, n_comment string",
    "supplier": "s_suppkey bigint not null, s_name string, s_address string, s_nationkey bigint not null, "
    "s_phone string, s_acctbal decimal(15,2), s_comment string",
    "customer": "c_custkey bigint not null, c_name string, c_address string, c_nationkey bigint, c_phone string, "
    "c_acctbal decimal(15,2), c_mktsegment string, c_comment string",
    "part": "p_partkey bigint not null, p_name string, p_mfgr string, p_brand string, p_type string, p_size int, "
    "p_container string, p_retailprice decimal(15,2), p_comment string",
    "partsupp": "ps_partkey bigint not null, ps_suppkey bigint not null, ps_availqty int, ps_supplycost decimal(15,2), "
    "ps_comment string",
    "orders": "o_orderkey bigint not null, o_custkey bigint, o_orderstatus string, o_totalprice decimal(15,2), "
    "o_orderdate date, o_orderpriority string, o_clerk string, o_shippriority int, o_comment string",
    "lineitem": "l_orderkey bigint not null, l_partkey bigint, l_suppkey bigint, l_linenumber int, "
    "l_quantity decimal(15,2), l_extendedprice decimal(15,2), l_discount decimal(15,2), l_tax decimal(15,2), "
    "l_returnflag string, l_linestatus string, l_shipdate date, l_commitdate date, l_receiptdate date, "
    "l_shipinstruct string, l_shipmode string, l_comment string",
}
PARTITIONS = {
    "region": None,
    "nation": "n_regionkey",
    "supplier": "s_nationkey",
    "customer": "c_nationkey",
    "part": "bucket(8, p_partkey)",
    "partsupp": "bucket(8, ps_partkey)",
    "orders": "months(o_orderdate)",
    "lineitem": "months(l_shipdate)",
}
LISTS = {
    "customers_listed": {"customers": "array<bigint>"},
    "balances_listed": {"balances": "array<double>"},
}
"""Types of output columns by view, in Spark's words: where lists are sorted, these settle whether it is incremental."""

SECTIONS = {
    "Scan and projection": [
        "customers_as_they_are",
        "open_orders",
        "orders_until_today",
        "orders_per_month",
        "lines_per_year",
        "lines_per_weekday_name",
        "segments_in_lower_case",
        "priorities",
    ],
    "WHERE and HAVING": ["busy_days"],
    "Inner join": [
        "order_lines",
        "supplier_nations",
        "revenue_per_month_and_nation",
        "region_nations",
        "orders_of_the_same_day",
        "orders_of_the_same_customer",
        "ranked_priorities",
    ],
    "LEFT and RIGHT join": ["customers_and_their_orders", "part_offers", "nations_of_suppliers"],
    "FULL join": ["ordered_and_shipped", "offers_and_parts", "one_side_of_a_full_join"],
    "Semi and anti join, EXISTS, IN": [
        "offered_parts",
        "parts_without_a_cheap_offer",
        "nations_with_rich_customers",
        "nations_without_suppliers",
        "orders_shipped_late",
        "customers_near_a_supplier",
        "days_without_shipment",
        "nations_not_supplied",
    ],
    "GROUP BY, DISTINCT and PIVOT": [
        "segments_of_nations",
        "lines_per_flag_and_day",
        "balances_rolled_up",
        "balances_rolled_up_to_a_total",
        "balances_cubed",
        "lines_by_flag",
        "customers_listed",
        "balances_listed",
        "newest_customer_of_a_nation",
        "names_of_the_newest",
    ],
    "Windows": [
        "dearest_order_of_a_day",
        "running_balance",
        "orders_of_a_customer_numbered",
        "customers_by_quarter_of_balance",
        "revenue_so_far",
    ],
    "UNION, INTERSECT and EXCEPT": [
        "events",
        "days_with_events",
        "days_ordered_and_shipped",
        "days_ordered_not_shipped",
    ],
    "explode and LATERAL VIEW": ["words_of_orders", "words_per_day"],
    "WITH": ["days_against_their_month"],
    "Scalar subqueries": [
        "parts_below_their_mean_cost",
        "customers_above_the_mean",
        "orders_since_the_first_shipment",
    ],
    "An aggregate over all rows": ["total_of_all_orders"],
    "LIMIT, values that are new at every run": [
        "largest_orders",
        "sampled_customers",
    ],
}
INTRODUCTION = """# TPC-H views: what refreshes how

Small views over the eight TPC-H tables, one for each rule by which an output column follows a base table. The page is
written by `python -m examples.tpch.views_table` from the analysis of the SQL in `examples/tpch/views/`. Integration
tests change the tables on Spark and compare every view with this page.

The tables are partitioned so:

{partitions}

Below, *incremental* names the output column whose rows are replaced, and the partition column of the base table that it
follows. Where none does, it names the columns for which
[the changed rows are asked](what-refreshes-how.md#asking-the-changed-rows), and why none follows. *merge*: no partition
says which groups a change reaches, but [they can be merged](what-refreshes-how.md#merging-groups). *full* gives the
rule that stops it; a change that reaches no row of the view is no change there either. A table that is joined to itself
is listed once for each use. *New rows alone* says whether a refresh after nothing but INSERTs reads only what they
brought, and adds it. Where no use of the table follows its partitions, the column bounds of the files that changed say
which rows did.
"""
_SOURCE = re.compile(r"\{\{ source\('tpch', '(\w+)'\) \}\}")
_PARTITION = re.compile(r"(?:(?P<transform>\w+)\((?:\d+, )?)?(?P<column>\w+)\)?")


@dataclass(frozen=True)
class Use:
    """What a change of one use of a base table does to a view.

    `followed` are pairs of an output column and what it makes of the partition column; empty: `obstacle` says why none
    does. `answered` are the output columns for which the changed rows can be asked then; empty: the refresh is full.
    `of_a_value`: only a scalar subquery reads it, so as long as its value is the same, nothing is done.
    `by_bounds`: no use of the table follows its partitions, so the column bounds of the changed files say which rows
    changed; `if_listed`: only if Spark can list the values between them. `only_without_null`: nothing follows rows
    whose partition column is NULL. `new_rows_alone`: an append is refreshed by the rows that it brought. `is_merged`:
    the groups that a change reaches are merged, as the partitions of the table do not say which these are.
    """

    table: str
    followed: tuple[tuple[str, str], ...]
    obstacle: str | None
    by_bounds: bool
    if_listed: bool
    only_without_null: bool
    new_rows_alone: bool
    answered: tuple[str, ...] = ()
    of_a_value: bool = False
    is_merged: bool = False

    @property
    def is_full(self) -> bool:
        """Return whether every change of the use that reaches a row of the view refreshes in full."""
        return self.obstacle is not None and not self.answered and not self.is_merged


@dataclass(frozen=True)
class Behaviour:
    """A view, its SQL, why every run refreshes it in full even if nothing changed (if so), and its uses of tables."""

    name: str
    sql: str
    every_run: str | None
    uses: tuple[Use, ...]


def template(name: str) -> str:
    """Return the SQL of a view as a dbt model."""
    return (HERE / "views" / f"{name}.sql").read_text(encoding="utf-8")


@cache
def behaviours() -> tuple[Behaviour, ...]:
    """Return what the page says, in its order."""
    return tuple(_behaviour(name) for names in SECTIONS.values() for name in names)


def page() -> str:
    """Return the page."""
    by_name = {b.name: b for b in behaviours()}
    partitions = "\n".join(["| Table | Partitioned by |", "|---|---|", *_partition_rows()])
    parts = [INTRODUCTION.format(partitions=partitions)]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}\n")
        parts += [_shown(by_name[name]) for name in names]
    return "\n".join(parts)


def partition_column(table: str) -> str | None:
    """Return the column by which a table is partitioned."""
    partition = PARTITIONS[table]
    matched = _PARTITION.fullmatch(partition) if partition is not None else None
    return matched["column"] if matched is not None else None


def _behaviour(name: str) -> Behaviour:
    sql = _SOURCE.sub(r"\1", template(name)).strip()
    definition = _with_hidden_keys(sql).with_types(LISTS.get(name, {}))
    uses = tuple(_use(definition, o) for o in sorted(definition.occurrences))
    return Behaviour(name, sql, definition.always_full, uses)


def _with_hidden_keys(sql: str) -> ViewDefinition:
    """Return the definition as the rows are stored."""
    plain = _analysed(sql)
    columns = {r.index: partition_column(r.name) for r in plain.references}
    keys = wanted_keys(plain, {index: () if column is None else (column,) for index, column in columns.items()})
    widened = with_keys(sql, keys) if keys else None
    return plain if widened is None else _analysed(widened, keys)


def _analysed(sql: str, keys: tuple[str, ...] = ()) -> ViewDefinition:
    written = analyse(Known(NAMESPACE, session_is_utc=True), sql, _columns, keys)
    return at_moment(written, _columns, {"date": "2024-01-01"})


def _columns(reference: TableReference) -> tuple[ColumnInfo, ...] | None:
    schema = SCHEMAS.get(reference.name)
    return None if schema is None else tuple(_column(text) for text in re.split(r", (?=\w+ )", schema))


def _column(text: str) -> ColumnInfo:
    name, type_, *constraint = text.split(" ", 2)
    return ColumnInfo(name, type_, None, required=bool(constraint))


def _use(definition: ViewDefinition, occurrence: Occurrence) -> Use:
    table = _table(definition, occurrence)
    by_bounds = not any(
        track.column == partition_column(table)
        for use in definition.occurrences
        if _table(definition, use) == table
        for _, track in _tracks(definition, use)
    )
    tracks = [(name, track) for name, track in _tracks(definition, occurrence) if by_bounds or _maps(table, track)]
    always = definition.always_full or definition.full_when_changed
    obstacle = None if tracks and not always else always or _obstacle(definition, occurrence, table)
    additive, merging = definition.additive.get(occurrence.index), definition.merging
    adds_up = not always and merging is not None and occurrence.index in merging.additive and definition.rewritable
    return Use(
        table,
        tuple((name, _steps(track)) for name, track in tracks),
        obstacle,
        by_bounds=by_bounds,
        if_listed=by_bounds and all(any(isinstance(s, Computed) for s in track.function) for _, track in tracks),
        only_without_null=all(Inverse(OrNull()) in track.function for _, track in tracks),
        new_rows_alone=not always and additive is not None and definition.rewritable,
        answered=() if always else _shown_columns(definition, occurrence),
        of_a_value=all(copy in definition.asked.scalars for copy in definition.asked.copies_of(occurrence.index)),
        is_merged=adds_up and (by_bounds or obstacle is not None),
    )


def _table(definition: ViewDefinition, occurrence: Occurrence) -> str:
    return next(r.name for r in definition.references if r.index == occurrence.index)


def _tracks(definition: ViewDefinition, occurrence: Occurrence) -> list[tuple[str, Track]]:
    """Return output columns with their tracks of one use, in the order of the SELECT list."""
    hidden = _hidden_names(definition)
    return [
        (hidden.get(name, name), track)
        for name, found in definition.tracks_of(occurrence).items()
        for track in sorted(found, key=lambda t: (t.column, [step.name for step in t.function]))
    ]


def _shown_columns(definition: ViewDefinition, occurrence: Occurrence) -> tuple[str, ...]:
    """Return the columns that changed rows are asked for; hidden keys are named by what they hold."""
    hidden = _hidden_names(definition)
    return tuple(hidden.get(name, name) for name in definition.asked.columns_of(occurrence.index))


def _hidden_names(definition: ViewDefinition) -> dict[str, str]:
    return {key_name(key): f"hidden key {key.replace('`', '')}" for key in definition.keys}


def _maps(table: str, track: Track) -> bool:
    """Return whether partitions of the table lead to values of the column: bucket numbers only without a function."""
    is_plain = all(step.only_adds_null for step in track.function)
    return track.column == partition_column(table) and (is_plain or not str(PARTITIONS[table]).startswith("bucket"))


def _obstacle(definition: ViewDefinition, occurrence: Occurrence, table: str) -> str:
    words = definition.obstacles.get(occurrence)
    if words is not None:
        return f"not tracked through {words}"
    return f"partitioned by {partition_column(table)}, which no output column follows"


def _steps(track: Track) -> str:
    """Return what becomes of the partition column on its way: "`l_shipdate` through `year`"."""
    text = f"`{track.column}`"
    for step in track.function:
        if step == Inverse(OrNull()):
            continue
        text += " or NULL" if step == OrNull() else f" through `{step.name.replace('`?`', '?')}`"
    return text


def _partition_rows() -> Iterator[str]:
    for table, partition in PARTITIONS.items():
        yield f"| {table} | {'nothing' if partition is None else f'`{partition}`'} |"


def _shown(view: Behaviour) -> str:
    lines = [f"### {view.name}", "", "```sql", view.sql, "```", ""]
    lines += ["| Changed | Refresh | New rows alone |", "|---|---|---|"]
    lines += [f"| {u.table} | {_refresh(view, u)} | {'yes' if u.new_rows_alone else 'no'} |" for u in view.uses]
    return "\n".join([*lines, ""])


def _refresh(view: Behaviour, use: Use) -> str:
    if view.every_run is not None:
        return f"full at every run: {view.every_run}"
    same = "nothing while the subquery has the same value; else " if use.of_a_value else ""
    if use.is_merged:
        return f"{same}merge: what came and went is added to the groups that it is in"
    if use.is_full:
        return f"{same}full: {use.obstacle}"
    asked = f"the changed rows are asked for {', '.join(f'`{c}`' for c in use.answered)}" if use.answered else "full"
    if use.obstacle is not None:
        return f"{same}incremental, {asked}: {use.obstacle}"
    nulls = (
        f"; {asked} when rows changed where `{partition_column(use.table)}` is NULL" if use.only_without_null else ""
    )
    listed = f", if they enclose a single value or few integers (else {asked})" if use.if_listed else ""
    how = f"incremental by column bounds{listed}" if use.by_bounds else "incremental"
    return f"{how}: {', '.join(_followed(use.followed))}{nulls}"


def _followed(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    for name, source in pairs:
        yield source if source == f"`{name}`" else f"`{name}` follows {source}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
