"""The catalogue of view shapes, and the one list of those that must be refreshed incrementally."""

from __future__ import annotations

import re
from dataclasses import dataclass

from integration.randomised.tables import KeyColumn

_NAMES = re.compile(r"\{(a|b|c|mv)\}")


@dataclass(frozen=True)
class Shape:
    """A SELECT over the tables {a}, {b}, {c}, or the materialized view {mv}.

    {key} is the key column of the history and {g:x} the key that the view outputs, made of column x.key. `tracked` are
    the tables whose changes can be followed to that key; a change of another one rightly asks for a full refresh.
    `bare`: the shape outputs the key column itself only.
    """

    name: str
    sql: str
    tracked: frozenset[str]
    bare: bool = False

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(_NAMES.findall(self.sql))

    @property
    def compares_floats(self) -> bool:
        """Return whether Spark alone would leave out rows with NaN, or find them by what else is in their file."""
        return "WHERE x >" in self.sql

    @property
    def equates(self) -> bool:
        """Return whether the key of one table is followed to another by an equality."""
        return any(tie in self.sql for tie in ("o.{key}", "USING ({key})", "NATURAL", "p.key = q.key"))


def _shape(name: str, sql: str, tracked: str = "", bare: bool = False) -> Shape:
    reads = frozenset(_NAMES.findall(sql))
    return Shape(name, sql, frozenset(tracked) if tracked else reads, bare)


SHAPES = (
    _shape("filter", "SELECT id, {g:} AS key, v FROM {a} WHERE v > 1"),
    _shape("filter_floats", "SELECT {g:} AS key, id, x FROM {a} WHERE x >= 0 AND v IS NOT NULL"),
    _shape("projection", "SELECT {g:} AS key, id + v * 2 AS iv, coalesce(r, '-') AS rr, CASE WHEN v > 2 THEN 'high' END AS c, substr(r, 1, 1) AS s FROM {a}"),
    _shape("star", "SELECT * FROM {a}", bare=True),
    _shape("group_by", "SELECT {g:} AS key, count(*) AS cnt, sum(v) AS s, max(id) AS mx FROM {a} GROUP BY {g:}"),
    _shape("group_by_two", "SELECT {g:} AS key, v, min(id) AS mn, count(DISTINCT r) AS dr FROM {a} GROUP BY 1, 2"),
    _shape("group_by_all", "SELECT {g:} AS key, count(*) FILTER (WHERE v > 2) AS high FROM {a} GROUP BY ALL"),
    _shape("having", "SELECT {g:} AS key, count(*) AS cnt FROM {a} GROUP BY {g:} HAVING count(*) > 1"),
    _shape("shown_alone", "WITH x AS (SELECT {g:} AS key, max_by(v, v) AS last, first(r) IS NULL AS f, count(*) AS cnt FROM {a} GROUP BY {g:}, r) SELECT key, last, f FROM x WHERE cnt > 0"),
    _shape("distinct", "SELECT DISTINCT {g:} AS key, v FROM {a}"),
    _shape("cte", "WITH x AS (SELECT {g:} AS key, v FROM {a} WHERE id > 0) SELECT key, sum(v) AS s FROM x GROUP BY key"),
    _shape("from_subquery", "SELECT q.key, count(*) AS cnt FROM (SELECT {g:} AS key, v FROM {a}) q WHERE v IS NOT NULL GROUP BY q.key"),
    _shape("cte_twice", "WITH x AS (SELECT {g:} AS key, id, v FROM {a}) SELECT p.key, p.id, q.cnt FROM x p JOIN (SELECT key, count(*) AS cnt FROM x GROUP BY key) q ON p.key = q.key"),
    _shape("inner_join_on", "SELECT {g:l} AS key, l.id, o.v AS ov FROM {a} l JOIN {b} o ON l.{key} = o.{key}"),
    _shape("inner_join_null_safe", "SELECT {g:l} AS key, l.id, o.v AS ov FROM {a} l JOIN {b} o ON l.{key} <=> o.{key}"),
    _shape("inner_join_other_side", "SELECT {g:o} AS key, l.id, o.v AS ov FROM {a} l JOIN {b} o ON l.{key} = o.{key} AND l.v <= o.v"),
    _shape("inner_join_using", "SELECT {g:} AS key, l.id, o.v AS ov FROM {a} l JOIN {b} o USING ({key})"),
    _shape("natural_join", "SELECT {g:} AS key, av, bv FROM (SELECT {key}, v AS av FROM {a}) NATURAL JOIN (SELECT {key}, v AS bv FROM {b})"),
    _shape("comma_join", "SELECT {g:l} AS key, l.id, o.id AS oid FROM {a} l, {b} o WHERE l.{key} = o.{key} AND o.v > 0"),
    _shape("left_join", "SELECT {g:l} AS key, l.id, o.v AS ov FROM {a} l LEFT JOIN {b} o ON l.{key} = o.{key}"),
    _shape("left_join_null_side", "SELECT {g:o} AS key, l.id, o.v AS ov FROM {a} l LEFT JOIN {b} o ON l.{key} = o.{key}", bare=True),
    _shape("right_join", "SELECT {g:o} AS key, l.id, o.v AS ov FROM {a} l RIGHT JOIN {b} o ON l.{key} = o.{key} AND l.v > 1"),
    _shape("full_join_using", "SELECT {key} AS key, l.id, o.id AS oid FROM {a} l FULL JOIN {b} o USING ({key})", bare=True),
    _shape("full_join_coalesce", "SELECT coalesce(l.{key}, o.{key}) AS key, l.id, o.id AS oid FROM {a} l FULL JOIN {b} o ON l.{key} = o.{key}", bare=True),
    _shape("three_way_join", "SELECT {g:l} AS key, l.id, o.v AS ov, p.id AS pid FROM {a} l JOIN {b} o ON l.{key} = o.{key} LEFT JOIN {c} p ON o.{key} = p.{key}"),
    _shape("aggregate_over_join", "SELECT {g:l} AS key, count(*) AS cnt, sum(o.v) AS s FROM {a} l LEFT JOIN {b} o ON l.{key} = o.{key} GROUP BY 1"),
    _shape("join_dimension", "SELECT {g:l} AS key, l.id, o.r AS other FROM {a} l JOIN {b} o ON l.v = o.v", tracked="a"),
    _shape("cross_join", "SELECT {g:l} AS key, l.id, o.id AS oid FROM {a} l CROSS JOIN (SELECT max(id) AS id FROM {b}) o", tracked="a"),
    _shape("self_join", "SELECT {g:l} AS key, l.id, o.id AS oid FROM {a} l JOIN {a} o ON l.{key} = o.{key} AND l.id < o.id"),
    _shape("self_join_elsewhere", "SELECT {g:l} AS key, l.id, o.v AS ov FROM {a} l JOIN {a} o ON l.v = o.id", tracked="-"),
    _shape("cte_twice_elsewhere", "WITH x AS (SELECT {g:} AS key, id, v FROM {a}) SELECT p.key, p.id, q.v FROM x p LEFT JOIN x q ON p.v = q.id", tracked="-"),
    _shape("share_of_total", "SELECT {g:l} AS key, l.id, o.s FROM {a} l CROSS JOIN (SELECT sum(v) AS s FROM {a}) o", tracked="-"),
    _shape("left_join_filled", "SELECT coalesce(CAST(o.{key} AS string), 'none') AS filled, l.id FROM {a} l LEFT JOIN {b} o ON l.v = o.v", tracked="-", bare=True),
    _shape("semi_join", "SELECT {g:l} AS key, l.id FROM {a} l LEFT SEMI JOIN {b} o ON l.{key} = o.{key}"),
    _shape("anti_join", "SELECT {g:l} AS key, l.id FROM {a} l LEFT ANTI JOIN {b} o ON l.{key} = o.{key}"),
    _shape("exists", "SELECT {g:l} AS key, l.id FROM {a} l WHERE EXISTS (SELECT 1 FROM {b} o WHERE o.{key} = l.{key} AND o.v > 1)"),
    _shape("not_exists", "SELECT {g:l} AS key, l.id FROM {a} l WHERE NOT EXISTS (SELECT 1 FROM {b} o WHERE o.{key} = l.{key})"),
    _shape("in_subquery", "SELECT {g:l} AS key, l.id FROM {a} l WHERE l.{key} IN (SELECT o.{key} FROM {b} o WHERE o.v > 0)"),
    _shape("not_in", "SELECT {g:l} AS key, l.id FROM {a} l WHERE l.{key} NOT IN (SELECT o.{key} FROM {b} o WHERE o.{key} IS NOT NULL)", tracked="a"),
    _shape("not_in_nullable", "SELECT {g:l} AS key, l.id FROM {a} l WHERE l.{key} NOT IN (SELECT o.{key} FROM {b} o)", tracked="a"),
    _shape("window", "SELECT {g:} AS key, id, v, sum(v) OVER (PARTITION BY {g:} ORDER BY id) AS running, rank() OVER (PARTITION BY {g:} ORDER BY v) AS rk FROM {a}"),
    _shape("window_elsewhere", "SELECT {g:} AS key, id, count(*) OVER (PARTITION BY v) AS cnt FROM {a}", tracked="-"),
    _shape("union_all", "SELECT {g:} AS key, id FROM {a} UNION ALL SELECT {g:} AS key, v FROM {b} WHERE v > 0"),
    _shape("union", "SELECT {g:} AS key, v FROM {a} UNION SELECT {g:} AS key, v FROM {b}"),
    _shape("intersect", "SELECT {g:} AS key, v FROM {a} INTERSECT SELECT {g:} AS key, v FROM {b}"),
    _shape("intersect_all", "SELECT {g:} AS key, v FROM {a} INTERSECT ALL SELECT {g:} AS key, v FROM {b}"),
    _shape("except", "SELECT {g:} AS key, v FROM {a} EXCEPT SELECT {g:} AS key, v FROM {b}"),
    _shape("except_all", "SELECT {g:} AS key, v FROM {a} EXCEPT ALL SELECT {g:} AS key, v FROM {b}"),
    _shape("explode", "SELECT {g:} AS key, id, explode(array(v, id)) AS e FROM {a}"),
    _shape("lateral_view", "SELECT {g:} AS key, id, e FROM {a} LATERAL VIEW OUTER explode(sequence(1, v)) t AS e"),
    _shape("pivot", "SELECT * FROM (SELECT {g:} AS key, v, id FROM {a}) PIVOT (sum(id) AS s FOR v IN (1 AS one, 2 AS two))"),
    _shape("grouping_sets", "SELECT {g:} AS key, v, count(*) AS cnt FROM {a} GROUP BY GROUPING SETS (({g:}, v), ({g:}))"),
    _shape("rollup_with_key", "SELECT {g:} AS key, v, count(*) AS cnt FROM {a} GROUP BY {g:}, ROLLUP (v)"),
    _shape("rollup", "SELECT {g:} AS key, v, count(*) AS cnt FROM {a} GROUP BY ROLLUP ({g:}, v)", tracked="-"),
    _shape("scalar_correlated", "SELECT {g:l} AS key, l.id, (SELECT max(o.v) FROM {b} o WHERE o.{key} = l.{key}) AS mx FROM {a} l"),
    _shape("scalar_uncorrelated", "SELECT {g:} AS key, id, (SELECT max(v) FROM {b}) AS mx FROM {a}", tracked="a"),
    _shape("lateral_subquery", "SELECT {g:l} AS key, l.id, q.cnt FROM {a} l, LATERAL (SELECT count(*) AS cnt FROM {b} o WHERE o.{key} = l.{key}) q", tracked="a"),
    _shape("values_join", "SELECT {g:} AS key, id, label FROM {a} JOIN (VALUES (1, 'one'), (2, 'two')) AS w(v, label) USING (v)"),
    _shape("global_aggregate", "SELECT count(*) AS cnt, max(v) AS mx FROM {a}", tracked="-"),
    _shape("merged", "SELECT v, count(*) AS cnt, sum(id) AS s, avg(id) AS av, max(r) AS mx FROM {a} GROUP BY v", tracked="-"),
    _shape("merged_total", "SELECT count(*) AS cnt, sum(v) AS s, count(r) AS rs FROM {a}", tracked="-"),
    _shape("merged_join", "SELECT l.r, count(*) AS cnt, sum(o.v) AS s FROM {a} l JOIN {b} o ON l.v = o.v GROUP BY l.r", tracked="-"),
    _shape("merged_below", "SELECT cnt, count(*) AS vs FROM (SELECT v, count(*) AS cnt FROM {a} GROUP BY v) GROUP BY cnt", tracked="-"),
    _shape("left_out", "SELECT id, v FROM {a}", tracked="-"),
    _shape("left_out_final", "WITH x AS (SELECT * FROM {a}), y AS (SELECT id, r FROM x WHERE v > 0) SELECT * FROM y", tracked="-"),
    _shape("left_out_join", "SELECT l.id, o.r AS other FROM {a} l LEFT JOIN {b} o ON l.v = o.v", tracked="-"),
    _shape("over_view", "SELECT key, sum(cnt) AS cnt, max(s) AS s FROM {mv} GROUP BY key"),
    _shape("over_view_join", "SELECT l.key, o.id, l.cnt FROM {mv} l LEFT JOIN {b} o ON o.v = l.cnt", tracked="mv"),
)  # fmt: skip
BY_NAME = {shape.name: shape for shape in SHAPES}
OF_THE_VIEW_BELOW = "group_by"
"""The shape of {mv}."""

NEVER = frozenset(shape.name for shape in SHAPES if shape.tracked == {"-"})
INTENDED = frozenset(BY_NAME) - NEVER
"""Shapes that the completeness rules can follow."""

MUST_BE_INCREMENTAL = INTENDED
"""Shapes whose refresh must be incremental whenever tracked tables changed in partitions of the key."""

SOMETIMES_INCREMENTAL = frozenset(n for n in BY_NAME if n.startswith(("merged", "left_out")))
"""Shapes without a key. How they are refreshed depends on the change, and on how a table is partitioned."""

FULL_IN_TABLES = frozenset({"merged_total"})
"""Shapes that need a count which a view hides; what is stored as a table hides no column."""

STITCHED = INTENDED - {"over_view", "over_view_join", "shown_alone"}
"""Shapes whose stale rows a view can find when it is read, if a key of theirs is a partition of a table.

Values that depend on the order of rows are as they were stored, or all computed by the reader. A refresh leaves
branches and metadata files behind that the storage table of a materialized view did not have, so a view over another
cannot know what changed there.
"""

ONE_EXPRESSION = INTENDED - {
    "cte_twice",
    "window",
    "union_all",
    "union",
    "intersect",
    "intersect_all",
    "except",
    "except_all",
}
"""Shapes that keep a key of any expression; the others repeat the expression, which is followed for a few only."""


class _Key:
    """Formats `{g:x}` as the flavour of x.key."""

    def __init__(self, column: str, flavour: str) -> None:
        self._column, self._flavour = column, flavour

    def __format__(self, alias: str) -> str:
        return self._flavour.replace("{}", f"{alias}.{self._column}" if alias else self._column)


def render(shape: Shape, key: KeyColumn, flavour: str, tables: dict[str, str]) -> str:
    """Return the SELECT of a shape; `tables` gives the full names behind a, b, c and mv."""
    return shape.sql.format(key=key.name, g=_Key(key.name, flavour), **tables)
