"""Random views: a production at the root, more below it, and a projection on top."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.randomised import joins, selects, subqueries
from tests.randomised.choices import Choices
from tests.randomised.grammar import Body, Builder, Relation
from tests.randomised.keys import ALL, OTHER_TYPES
from tests.randomised.untied import may_tie, ranked, untied

Production = Callable[[Builder, int], Relation]


def over_one(select: Callable[[Builder, Body], Relation]) -> Production:
    """Return the production of a SELECT over a single relation."""
    return lambda b, depth: select(b, b.body(depth - 1))


PRODUCTIONS: list[Production] = [
    over_one(selects.projection),
    selects.star,
    over_one(selects.derived_key),
    over_one(selects.grouped),
    over_one(selects.grouped),
    over_one(selects.distinct),
    over_one(selects.grouping_sets),
    over_one(selects.window),
    over_one(selects.numbered),
    over_one(selects.numbered),
    over_one(selects.exploded),
    over_one(selects.pivoted),
    over_one(selects.limited),
    over_one(selects.global_aggregate),
    joins.inner_join,
    joins.inner_join,
    joins.three_joined,
    joins.shared_expression,
    joins.shared_expression,
    joins.using_join,
    joins.natural_join,
    joins.left_join,
    joins.left_join,
    joins.full_join,
    joins.cross_join,
    joins.values_join,
    joins.semi_join,
    joins.semi_join,
    subqueries.exists,
    subqueries.exists,
    joins.equated_inside,
    subqueries.in_subquery,
    subqueries.in_subquery,
    subqueries.listed_subquery,
    subqueries.scalar_subquery,
    subqueries.set_operation,
    subqueries.set_operation,
    subqueries.three_set_operations,
    subqueries.nested_cte,
    over_one(selects.merged),
    over_one(selects.merged),
    over_one(selects.merged),
    over_one(selects.merged_sets),
    selects.merged_rows,
    selects.merged_rows,
    selects.merged_rows,
    subqueries.labelled_union,
    subqueries.labelled_union,
]


@dataclass(frozen=True)
class View:
    """A SELECT in Spark's words, the base tables it reads, and its shapes with the tables that each is about.

    `together`: most changes are of several tables.
    """

    sql: str
    tables: frozenset[str]
    shapes: tuple[tuple[str, frozenset[str]], ...]
    key: str
    together: bool = False


def make_view(choices: Choices) -> View:
    """Return a random view; the first choice is its root."""
    root = choices.below(len(PRODUCTIONS))
    depth = choices.weighted([(5, 1), (4, 2), (1.5, 3)])
    builder = Builder(choices, lambda b, d: b.choices.pick(PRODUCTIONS)(b, d))
    relation = PRODUCTIONS[root](builder, depth)
    sql = _on_top(builder, relation) if choices.chance(0.3) else relation.sql
    if builder.ctes:
        builder.note("cte", relation.tables)
        # A query that begins with its own WITH goes inside, so that both keep their names.
        body = f"SELECT * FROM ({sql}) q" if sql.startswith("WITH ") else sql
        sql = f"WITH {', '.join(builder.ctes)} {body}"
    if may_tie(untied(sql)):
        sql = ranked(sql)
    shapes = {(name, relation.tables if tables is ALL else tables) for name, tables in builder.shapes}
    return View(sql, relation.tables, tuple(sorted(shapes, key=repr)), builder.key, choices.chance(0.2))


def _on_top(b: Builder, relation: Relation) -> str:
    """Rename the columns, or show the key through a function of another type; perhaps group by that."""
    key = b.key.upper()
    if b.choices.chance(0.3):
        b.note("a key that is left out", ALL)
        return f"SELECT {b.group} AS g, {b.measure} AS m FROM ({relation.sql}) q"
    if b.choices.chance(0.5):
        shape, text = b.choices.pick(OTHER_TYPES[b.key_type])
        b.note(shape, ALL)
        key = text.format(f"{b.key} + 0" if _may_be_either_zero(b, relation) else b.key)
        if b.choices.chance(0.4):
            last = ""
            if len(relation.sql) % 2:
                b.note("value that depends on the order of rows", ALL)
                # Equal values cannot be told apart, so that a wrong one is seen.
                last = f", max_by({b.measure}, {b.measure}) AS l"
            return (
                f"SELECT {key} AS k, count(*) AS c, sum({b.measure}) AS m{last} FROM ({relation.sql}) q GROUP BY {key}"
            )
    extra = f", {b.key} AS k2" if b.choices.chance(0.2) else ""
    return f"SELECT {b.group} AS g, {key} AS k, {b.measure} AS m{extra} FROM ({relation.sql}) q"


def _may_be_either_zero(b: Builder, relation: Relation) -> bool:
    """Return whether 0.0 and -0.0 are both right as a key, of which the texts differ: an extreme of both is either."""
    return b.key_type == "double" and ("min(" in relation.sql or "max(" in relation.sql)
