"""Lists that a SELECT collects and sorts as output columns: they are the same in whatever order rows are read.

That is so where equal values cannot be told apart. Where the columns of tables do not show of which type the values are
(row_order/collected_lists.py), it is known all the same of a list that is an output column by itself: Spark gives the
type of the column. So does the storage table, but for a collation, which Iceberg does
not keep; a SELECT that names one has no such lists.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.collected_lists import collected
from dbt.adapters.icebergmv.maintenance.definition.row_order.order_dependence import (
    names_collation,
    order_dependent_calls,
    picks_rows,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql
from dbt.adapters.icebergmv.maintenance.sql.spark_types import is_exact

_COLLECTING = frozenset(["collect_set", "collect_list", "array_agg"])
_LIST = re.compile(r"array<(.*)>")


@dataclass(frozen=True)
class SortedLists:
    """The output columns, in lower case, that are such lists; nothing else in the SELECT depends on an order.

    `inexact` says what depends on an order where equal values in one of them can be told apart.
    """

    columns: frozenset[str]
    inexact: str

    def obstacle(self, types: Mapping[str, str]) -> str | None:
        """Return `inexact` if it is so with these types of the output columns, in Spark's words."""
        lists = (_LIST.fullmatch(of) for name, of in types.items() if name.lower() in self.columns)
        exact = [found for found in lists if found is not None and is_exact(found[1])]
        return None if len(exact) == len(self.columns) else self.inexact


def sorted_lists(parsed: ParsedSql, depends: str) -> SortedLists | None:
    """Return the lists on which alone it depends whether the order of rows matters; None where there are none.

    `depends` says what depends on it, if values in them can be told apart.
    """
    query = parsed.tree.unnest()
    if not isinstance(query, exp.Select) or picks_rows(parsed.tree) or names_collation(parsed.tokens):
        return None
    calls = order_dependent_calls(parsed.tokens)
    lists = [item.alias.lower() for item in query.selects if isinstance(item, exp.Alias) and collected(item.this)]
    # There is a call in each list. If there are as many calls as lists, there is none elsewhere.
    is_all = len(calls) == len(lists) > 0 and {*calls} <= _COLLECTING
    return SortedLists(frozenset(lists), depends) if is_all else None
