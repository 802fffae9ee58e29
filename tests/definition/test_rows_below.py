"""The rows below an aggregate, as a query, and the SELECT over some of them. What is merged: tests/randomised."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import with_edits
from dbt.adapters.icebergmv.maintenance.definition.merging.merged_states import Merging
from dbt.adapters.icebergmv.maintenance.definition.merging.rows_below import RowsBelow
from tests.support.rule_tables import analysed


def merging(sql: str) -> Merging:
    found = analysed(sql).merging
    assert found is not None
    return found


def below(sql: str) -> RowsBelow:
    found = merging(sql).below
    assert found is not None
    return found


COUNTED = "(SELECT v, count(*) AS n FROM t GROUP BY v) q"
BOTH = "(SELECT id, d FROM t INTERSECT SELECT id, d FROM u)"


@pytest.mark.parametrize(
    ("sql", "rows", "limited"),
    [
        (
            f"SELECT n, count(*) AS c FROM {COUNTED} GROUP BY n ORDER BY n",
            f"SELECT `q`.`v` AS icebergmv_row_0, `q`.`n` AS icebergmv_row_1 FROM {COUNTED}",
            f"SELECT n, count(*) AS c FROM {COUNTED} WHERE (P) GROUP BY n ORDER BY n",
        ),
        (
            f"SELECT count(*) AS c -- all\nFROM {COUNTED} WHERE -- some\n n > 1 OR v IS NULL -- of them",
            f"SELECT `q`.`v` AS icebergmv_row_0, `q`.`n` AS icebergmv_row_1 FROM {COUNTED} WHERE -- some\n "
            "n > 1 OR v IS NULL",
            f"SELECT count(*) AS c -- all\nFROM {COUNTED} WHERE -- some\n (n > 1 OR v IS NULL) AND (P) -- of them",
        ),
        (
            f"SELECT count(id) AS c FROM {BOTH}",
            f"SELECT `id` AS icebergmv_row_0, `d` AS icebergmv_row_1 FROM {BOTH}",
            f"SELECT count(id) AS c FROM {BOTH} WHERE (P)",
        ),
        (
            f"SELECT /*+ BROADCAST(q) */ count(*) AS c FROM {COUNTED}",
            f"SELECT `q`.`v` AS icebergmv_row_0, `q`.`n` AS icebergmv_row_1 FROM {COUNTED}",
            f"SELECT /*+ BROADCAST(q) */ count(*) AS c FROM {COUNTED} WHERE (P)",
        ),
        # USING: the merged column, and both that it is made of.
        (
            "SELECT count(a.v) AS c FROM t a FULL JOIN u b USING (id)",
            "SELECT `a`.`id` AS icebergmv_row_0, `a`.`v` AS icebergmv_row_1, `b`.`id` AS icebergmv_row_2, "
            "coalesce(`a`.`id`, `b`.`id`) AS icebergmv_row_3, `id` AS icebergmv_row_4 "
            "FROM t a FULL JOIN u b USING (id)",
            "SELECT count(a.v) AS c FROM t a FULL JOIN u b USING (id) WHERE (P)",
        ),
        # A name that is in the text once more, as that of another column.
        (
            "SELECT count(*) AS region FROM t LEFT ANTI JOIN u ON t.id = u.w",
            "SELECT `t`.`id` AS icebergmv_row_0, `t`.`region` AS icebergmv_row_1 FROM t LEFT ANTI JOIN u ON t.id = u.w",
            "SELECT count(*) AS region FROM t LEFT ANTI JOIN u ON t.id = u.w WHERE (P)",
        ),
        (
            "SELECT count(*) AS c FROM t, u WHERE t.id = u.id AND t.v > (SELECT min(w) FROM u x WHERE x.id = t.id)",
            "SELECT `t`.`id` AS icebergmv_row_0, `t`.`v` AS icebergmv_row_1, `u`.`id` AS icebergmv_row_2, "
            "`u`.`w` AS icebergmv_row_3 FROM t, u WHERE t.id = u.id "
            "AND t.v > (SELECT min(w) FROM u x WHERE x.id = t.id)",
            "SELECT count(*) AS c FROM t, u WHERE (t.id = u.id "
            "AND t.v > (SELECT min(w) FROM u x WHERE x.id = t.id)) AND (P)",
        ),
    ],
)
def test_the_select_of_the_rows_below_and_the_one_limited_to_some_of_them(sql: str, rows: str, limited: str) -> None:
    found = below(sql)
    assert found.sql == rows
    assert with_edits(sql, found.limited_to("P")) == limited


def test_both_sides_of_a_condition_are_edited_beside_hidden_columns() -> None:
    sql = f"SELECT sum(v) AS s FROM {COUNTED} WHERE v > 1"
    assert with_edits(sql, [*merging(sql).edits, *below(sql).limited_to("`q`.`v` <=> 3")]) == (
        f"SELECT sum(v) AS s, count(1) AS icebergmv_state_0, count(v) AS icebergmv_state_1 FROM {COUNTED} "
        "WHERE (v > 1) AND (`q`.`v` <=> 3)"
    )


@pytest.mark.parametrize(
    "sql",
    [
        # What adds up, or is answered by a column of the output.
        "SELECT count(*) AS c FROM t JOIN u ON t.id = u.id",
        f"SELECT v, sum(n) AS s FROM {COUNTED} GROUP BY v",
        # A list that reads more than the columns of FROM.
        f"SELECT count(*) + (SELECT count(*) FROM u) AS c FROM {COUNTED}",
        "SELECT count(*) AS c, max(t.s.d) AS m FROM t LEFT ANTI JOIN u ON t.id = u.id",
        "SELECT count(t.*) AS c FROM t LEFT ANTI JOIN u ON t.id = u.id",
        f"SELECT sum(n) AS s, sum(s) AS r FROM {COUNTED}",
        f"SELECT count(*) AS c FROM {COUNTED}, {COUNTED}",
        # What is above the rows.
        f"SELECT n, count(*) AS c FROM {COUNTED} GROUP BY n HAVING count(*) > 1",
        f"SELECT n, count(*) AS c FROM {COUNTED} GROUP BY ROLLUP(n, n)",
        f"SELECT count(*) AS c FROM {COUNTED} UNION ALL SELECT count(*) FROM u",
        "SELECT count(*) AS icebergmv_row_0 FROM (SELECT DISTINCT v FROM t) q",
        # Rows that are others at every evaluation.
        "SELECT count(*) AS c FROM (SELECT v, row_number() OVER (PARTITION BY region ORDER BY d) AS r FROM t) q",
        "SELECT count(*) AS c FROM (SELECT region, avg(id) AS m FROM t GROUP BY region) q WHERE m > 1",
        "SELECT count(*) AS c FROM (SELECT v FROM t LIMIT 3) q",
    ],
)
def test_what_is_not_taken_apart(sql: str) -> None:
    found = analysed(sql).merging
    assert found is None or found.below is None
