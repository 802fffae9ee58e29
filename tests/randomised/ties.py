"""DuckDB that reads rows in another order at every statement, where their order counts.

By itself DuckDB breaks ties nearly always alike, so that a plan goes unseen in which a condition, a key, a region or
another row depends on how they are broken. Here each call of what depends on the order of rows reads them in one order,
or in the opposite one. What is stored is right if the rows of each key, the first column of the view, are those of some
choice of orders: a value that no row of now gives is wrong, and so is a row that is missing or too many.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from tests.randomised.database import Bag, Database, Judge

_ORDERED = re.compile(
    r"\b(?:any_value|first)\((?P<value>[\w.]+)\)"
    r"|\barray_agg\((?P<listed>(?:DISTINCT )?(?P<each>[\w.]+))\)"
    r"|\bmax_by\((?P<shown>[\w.]+), (?P<largest>[\w.]+)\)"
    r"|(?P<window>\b(?:row_number|lag|first_value)\(\w*\) OVER \(PARTITION BY [\w.]+ ORDER BY "
    r"(?:[^()]|\([^()]*\))+)(?=\))"
    r"|(?P<frame> OVER \(PARTITION BY [\w.]+ ORDER BY (?:[^()]|\([^()]*\))+?)(?= ROWS )"
)
"""What depends on the order of rows. Rows below windows have a column `w`, of which no two values are equal."""

_DIRECTIONS = ("ASC NULLS LAST", "DESC NULLS FIRST")


class TiesAtRandom(Database):
    """A database that breaks ties at random, the same ones in every run of a history."""

    def __init__(self) -> None:
        super().__init__()
        self._random = random.Random(0)

    def begin(self, history: str) -> None:
        """Begin a history, whose text says how ties are broken in it."""
        self._random.seed(history)

    def store(self, query: str) -> dict[str, str]:
        """Put in the table `stored` what the query gives by one order; return its columns."""
        return super().store(self._by_any_order(query))

    def written(self, statements: Iterable[str], columns: Iterable[str]) -> Bag:
        """Return these columns of the storage table's branch after the statements, each by orders of its own."""
        return super().written([self._by_any_order(statement) for statement in statements], columns)

    def run(self, statement: str) -> list[tuple[object, ...]]:
        """Answer what the engine asks Spark, by one order."""
        return super().run(self._by_any_order(statement))

    def judge(self, query: str) -> Judge:
        """Return the judge of stored rows of which those of each key should be what the query gives by some order."""
        calls = len(_ORDERED.findall(query))
        ways = [_by_key(self.rows(_ordered(query, iter(way)))) for way in product(_DIRECTIONS, repeat=calls)]

        def wrong(found: Bag) -> str | None:
            stored = _by_key(found)
            for key in sorted({*stored, *(key for way in ways for key in way)}):
                right = [way.get(key, []) for way in ways]
                if stored.get(key, []) not in right:
                    return f"missing is one of {right}, in its place is {stored.get(key, [])}"
            return None

        return wrong

    def rows_by_any_order(self, query: str) -> Bag:
        """Return the rows of a query by one order."""
        return self.rows(self._by_any_order(query))

    def _by_any_order(self, statement: str) -> str:
        return _ordered(statement, iter(lambda: self._random.choice(_DIRECTIONS), None))


def _by_key(rows: Bag) -> Mapping[str, Bag]:
    """Return the rows by what is in their first column."""
    found: dict[str, Bag] = defaultdict(list)
    for row in rows:
        found[row.partition(", ")[0]].append(row)
    return found


def _ordered(statement: str, directions: Iterator[str]) -> str:
    """Return a statement, in the words of Spark, whose calls read rows in these directions, one after the other."""

    def one(call: re.Match[str]) -> str:
        direction = next(directions)
        if call["value"] is not None:
            return f"first({call['value']} ORDER BY {call['value']} {direction})"
        if call["listed"] is not None:
            return f"array_agg({call['listed']} ORDER BY {call['each']} {direction})"
        if call["shown"] is not None:
            order = f"{call['largest']} DESC, {call['shown']} {direction}"
            return f"first({call['shown']} ORDER BY {order}) FILTER (WHERE {call['largest']} IS NOT NULL)"
        return f"{call['window'] or call['frame']}, w {direction}"

    return _ORDERED.sub(one, statement)
