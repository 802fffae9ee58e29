"""What the productions of the grammar share: relations, names, literals, predicates.

Every relation outputs at least three columns under fixed names: the key (what tables are mostly partitioned by), the
group (a second one) and the measure. So any relation can be where any other can, to any depth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from dbt.adapters.icebergmv.maintenance.sql.rendering import literal
from tests.randomised.choices import Choices
from tests.randomised.clocks import OF_ANY, OF_TYPE
from tests.randomised.tables import POOLS, SPARK_TYPES, TABLES

_GROUP_AND_MEASURE = {
    "d": ("region", "v"),
    "ts": ("region", "v"),
    "region": ("id", "v"),
    "id": ("region", "v"),
    "v": ("region", "id"),
    "x": ("region", "v"),
}
CLOCK = "the clock"
"""It changes as a table does."""


@dataclass(frozen=True)
class Relation:
    """A SELECT, or (`named`) the name of a table or CTE; `tables` are the base tables that it reads."""

    sql: str
    tables: frozenset[str]
    named: bool = False


class Source(NamedTuple):
    """An item of FROM: its text, its alias, the base tables that it reads."""

    text: str
    alias: str
    tables: frozenset[str]
    is_table: bool = False


class Body(NamedTuple):
    """FROM and WHERE, with the expressions for the three columns, and further items of the SELECT list."""

    key: str
    group: str
    measure: str
    text: str
    where: str
    tables: frozenset[str]
    extra: tuple[str, ...] = ()


def named(expression: str, name: str) -> str:
    """Return an item of a SELECT list under the name."""
    return expression if re.fullmatch(rf"(\w+\.)?{name}", expression) else f"{expression} AS {name}"


class Builder:
    """Builds one view: hands out names, and notes which shapes were used and which tables each is about."""

    def __init__(self, choices: Choices, productions: Callable[[Builder, int], Relation]) -> None:
        self.choices = choices
        self.key = choices.weighted([(4, "d"), (3, "ts"), (3, "region"), (1.5, "id"), (1.5, "v"), (0.7, "x")])
        self.group, self.measure = _GROUP_AND_MEASURE[self.key]
        self.key_type = SPARK_TYPES[self.key]
        self.shapes: list[tuple[str, frozenset[str]]] = []
        self.ctes: list[str] = []
        self._tables = TABLES[: choices.weighted([(1, 1), (4, 2), (2, 3), (1, 4)])]
        self._productions = productions
        self._occurrences = 0
        self._names = 0

    @property
    def columns(self) -> tuple[str, str, str]:
        """The columns of every relation."""
        return self.key, self.group, self.measure

    def name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def note(self, shape: str, tables: Iterable[str]) -> None:
        """Record a shape; it counts when all tables that changed are among these."""
        self.shapes.append((shape, frozenset(tables)))

    def table(self) -> Relation:
        """Return a base table."""
        self._occurrences += 1
        # With several tables the later ones come in by themselves, so that joins are not all self-joins.
        at = (self._occurrences - 1) % len(self._tables) if not self.choices.chance(0.2) else 0
        return Relation(self._tables[at], frozenset([self._tables[at]]), named=True)

    def relation(self, depth: int) -> Relation:
        """Return any relation, a base table at depth 0 or once the query has grown large."""
        if depth <= 0 or self._occurrences > 3 or not self.choices.chance(0.45):
            return self.table()
        return self._productions(self, depth)

    def query(self, depth: int) -> Relation:
        """Return any relation that is no base table."""
        return self._productions(self, depth)

    def source(self, depth: int) -> Source:
        """Return any relation as an item of FROM."""
        return self.item(self.relation(depth))

    def item(self, relation: Relation) -> Source:
        """Return a relation as an item of FROM: a name, a subquery or a CTE."""
        if not relation.named:
            if self.choices.chance(0.25):
                relation = self.cte(relation)
            else:
                alias = self.name("s")
                return Source(f"({relation.sql}) {self.choices.pick(['', 'AS '])}{alias}", alias, relation.tables)
        alias = self.name("a")
        text = f"{relation.sql} {self.choices.pick(['AS ', ''])}{alias}"
        return Source(text, alias, relation.tables, is_table=relation.sql in TABLES)

    def body(self, depth: int) -> Body:
        """Return any relation as the FROM of a SELECT, perhaps filtered."""
        source = self.source(depth)
        key, group, measure = (f"{source.alias}.{c}" for c in self.columns)
        return Body(key, group, measure, source.text, self.where(source.alias, 0.4), source.tables)

    def cte(self, relation: Relation) -> Relation:
        """Give a relation a name in the WITH of the whole query."""
        name = self.name("c")
        self.ctes.append(
            f"{name} AS (SELECT * FROM {relation.sql})" if relation.named else f"{name} AS ({relation.sql})"
        )
        return Relation(name, relation.tables, named=True)

    def literal(self, column: str) -> str:
        """Return a literal of a value that the column may hold."""
        values = [v for v in POOLS[column] if v is not None and not (isinstance(v, float) and math.isnan(v))]
        return literal(self.choices.pick(values), SPARK_TYPES[column])

    def predicate(self, alias: str) -> str:
        """Return a predicate over the columns of a relation."""
        key, group, measure = (f"{alias}.{c}" for c in self.columns)
        if self.choices.chance(0.15):
            self.note("clock in a filter", [CLOCK])
            return self._on_the_clock(key, measure)
        kind = self.choices.below(9)
        return [
            f"{measure} > 0",
            f"{measure} IS NOT NULL",
            f"{group} = {self.literal(self.group)}",
            f"{key} = {self.literal(self.key)} OR {group} IS NULL",
            f"NOT ({measure} < 3)",
            f"{key} IS NOT NULL",
            f"coalesce({measure}, 0) IN (0, 3, 9)",
            f"{key} IS NULL OR {measure} <> 3",
            f"own_int({measure}) > 0",
        ][kind]

    def where(self, alias: str, chance: float = 0.3) -> str:
        """Return nothing or a WHERE over the relation."""
        return f" WHERE {self.predicate(alias)}" if self.choices.chance(chance) else ""

    def one_of(self, *texts: str) -> str:
        return self.choices.pick(texts)

    def _on_the_clock(self, key: str, measure: str) -> str:
        return self.choices.pick((*OF_TYPE.get(self.key_type, ()), *OF_ANY)).format(key=key, measure=measure)

    def listed(self, key: str, measure: str) -> str | None:
        """Return, seldom, a value of the type of the measure that the clock has a part in."""
        if not self.choices.chance(0.08):
            return None
        self.note("clock in a list", [CLOCK])
        condition = self._on_the_clock(key, measure)
        return self.choices.pick(
            [
                f"CASE WHEN {condition} THEN {measure} END",
                f"IF({condition}, {measure}, 7)",
                f"CASE WHEN {measure} IS NULL THEN 1 WHEN {condition} THEN 2 ELSE {measure} END",
                f"CASE WHEN ({condition}) IS NULL THEN 5 WHEN NOT ({condition}) THEN 3 ELSE {measure} END",
            ]
        )

    def aggregate(self, argument: str) -> str:
        """Return an aggregate that does not depend on the order of rows."""
        return self.choices.pick(
            [
                f"sum({argument})",
                "count(*)",
                f"max({argument})",
                f"min({argument})",
                f"count(DISTINCT {argument})",
                f"count(*) FILTER (WHERE {argument} > 0)",
            ]
        )
