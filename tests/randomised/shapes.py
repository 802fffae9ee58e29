"""Which shapes of views must be seen refreshed incrementally. A shape that never is, is not tested at all."""

from __future__ import annotations

ONE_TABLE = frozenset(
    [
        "a key that is left out",
        "value that depends on the order of rows",
        "derived key: arithmetic",
        "derived key: case",
        "derived key: cast",
        "derived key: coalesce",
        "derived key: date_trunc",
        "derived key: other function",
        "derived key: substr",
        "derived key: trunc",
        "derived key: year",
        "distinct",
        "group by alias",
        "group by all",
        "group by derived key",
        "group by key",
        "group by key and group",
        "group by ordinals",
        "group by other column",
        "having",
        "merged cube beside a column",
        "merged expression",
        "merged grouping sets",
        "merged groups, ranked",
        "merged over a query",
        "merged rollup beside a column",
        "merged total of values that differ",
        "merged with FILTER",
        "projection and filter",
        "star",
        "star of one relation",
        "star with EXCEPT",
        "cte",
    ]
)
OUTER_TABLE_ALONE = frozenset(
    [
        "correlated scalar subquery",
        "exists",
        "in a subquery of the key",
        "not exists",
        "not in a subquery of the key",
        "uncorrelated scalar subquery",
    ]
)
SEVERAL_TABLES = frozenset(
    [
        "a branch that a literal rules out, the other changed",
        "a branch with a literal, over all of which a window goes",
        "a group that WHERE equates, its side changed",
        "a window that WHERE equates, its side changed",
        "comma join with WHERE",
        "correlated scalar subquery, subquery changed",
        "cross join, kept side changed",
        "cte used twice",
        "cube with the key in every set",
        "except",
        "except all",
        "except, right side changed",
        "exists, subquery changed",
        "explode in the select list",
        "full join using",
        "full join, coalesced key",
        "grouping sets with the key in every set",
        "in a subquery of the key, subquery changed",
        "in a subquery with HAVING, subquery changed",
        "inner join",
        "inner join, derived condition",
        "inner join, null-safe condition",
        "intersect",
        "intersect all",
        "join using",
        "join with VALUES",
        "lateral view explode",
        "left anti join",
        "left anti join, right side changed",
        "left join",
        "left join using",
        "left join, null-supplying side changed",
        "left semi join",
        "left semi join, right side changed",
        "natural full join",
        "natural join",
        "natural left join",
        "natural right join",
        "nested cte",
        "not exists, subquery changed",
        "pivot",
        "right join",
        "right join using",
        "right join, null-supplying side changed",
        "rollup with the key in every set",
        "self join",
        "three set operations",
        "three tables joined",
        "two windows",
        "union",
        "union all",
        "union all with a constant branch",
        "union all, right side changed",
        "union, right side changed",
        "window by a function of the key",
        "window by the key",
        "window by the key and more",
    ]
)
THE_CLOCK_ALONE = frozenset(["clock in a filter", "clock in a list"])
INTENDED = ONE_TABLE | OUTER_TABLE_ALONE | SEVERAL_TABLES | THE_CLOCK_ALONE
MUST_BE_INCREMENTAL = INTENDED
"""What the tests ask for: a part of INTENDED while the rules do not reach all of it."""

TYPES_NOT_FOLLOWED = frozenset(["double"])
"""Keys of these types are followed only as they are: what is all that a view shows must be no function of them."""
