"""Clock functions become literals in the text; where a name may mean a column, nothing is replaced."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.clock.clock import at_clock
from dbt.adapters.icebergmv.maintenance.definition.definition import at_moment
from tests.support.analysis import analysed_in

CLOCK = {
    "date": "2026-11-22",
    "timestamp": "2026-11-22 23:30:00.000001Z",
    "timestamp_ntz": "2026-11-23 00:30:00.000001",
}
T = tuple(ColumnInfo(name, kind, None) for name, kind in [("id", "int"), ("d", "date"), ("ts", "timestamp")])

SPLICED = {
    "SELECT id FROM t WHERE d >= current_date": "SELECT id FROM t WHERE d >= DATE '2026-11-22'",
    "SELECT id FROM t WHERE d >= Current_Date ( ) - 30": "SELECT id FROM t WHERE d >= DATE '2026-11-22' - 30",
    "SELECT id FROM t WHERE d >= date_sub(curdate(), 30) -- current_date": (
        "SELECT id FROM t WHERE d >= date_sub(DATE '2026-11-22', 30) -- current_date"
    ),
    "SELECT id FROM t WHERE ts < NOW() AND ts > current_timestamp": (
        "SELECT id FROM t WHERE ts < TIMESTAMP '2026-11-22 23:30:00.000001Z' "
        "AND ts > TIMESTAMP '2026-11-22 23:30:00.000001Z'"
    ),
    "SELECT id FROM t WHERE CAST(ts AS timestamp_ntz) < localtimestamp()": (
        "SELECT id FROM t WHERE CAST(ts AS timestamp_ntz) < TIMESTAMP_NTZ '2026-11-23 00:30:00.000001'"
    ),
    "SELECT id AS current_date_key, now() AS now FROM t WHERE d < current_date": (
        "SELECT id AS current_date_key, TIMESTAMP '2026-11-22 23:30:00.000001Z' AS now FROM t "
        "WHERE d < DATE '2026-11-22'"
    ),
    "SELECT id, current_date AS today, 'x' AS now FROM t": "SELECT id, DATE '2026-11-22' AS today, 'x' AS now FROM t",
}


@pytest.mark.parametrize("sql", SPLICED)
def test_the_functions_become_literals(sql: str) -> None:
    found = at_clock(sql, CLOCK, [T])
    assert found is not None
    assert found.sql == SPLICED[sql]
    assert found.values == {kind: CLOCK[kind] for kind in CLOCK if f"{kind.upper()} '{CLOCK[kind]}" in found.sql}


REFUSED = {
    "no clock": "SELECT id FROM t WHERE d > DATE '2024-01-01'",
    "a text": "SELECT id FROM t WHERE id = 'current_date'",
    "a name that the SELECT gives": "SELECT current_date AS c FROM (SELECT max(d) AS `current_date` FROM t)",
    "the same, not quoted": "SELECT current_date AS c FROM (SELECT max(d) AS current_date FROM t)",
    "a column of a table": "SELECT t.current_date AS c FROM t WHERE d < current_date",
    "a name from a text": "SELECT s.* FROM (SELECT named_struct('current_date', d) AS s FROM t) WHERE d < current_date",
    "an argument": "SELECT id FROM t WHERE ts < current_timestamp(3)",
    "a quoted function": "SELECT id FROM t WHERE d < `current_date`()",
    "a bare localtimestamp, which the parser takes for a column": "SELECT id FROM t WHERE ts < localtimestamp",
    "an item without an alias": "SELECT id FROM (SELECT id, current_date FROM t)",
    "a field without a name": "SELECT struct(current_date) AS s FROM t",
    "a cast that the parser binds otherwise": "SELECT id FROM t WHERE current_date::string > 'x'",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_mean_something_else_stays(name: str) -> None:
    assert at_clock(REFUSED[name], CLOCK, [T]) is None


@pytest.mark.parametrize(
    "column", [ColumnInfo("Current_Date", "date", None), ColumnInfo("s", "struct<current_date:date>", None)]
)
def test_a_column_of_the_name_hides_the_function(column: ColumnInfo) -> None:
    sql = "SELECT id FROM t WHERE d >= current_date"
    assert at_clock(sql, CLOCK, [(*T, column)]) is None
    assert at_clock(sql, CLOCK, [None]) is None
    written = analysed_in(sql, "ns", lambda _: (*T, column), session_is_utc=True)
    assert at_moment(written, lambda _: (*T, column), CLOCK).always_full is not None


def test_the_definition_is_that_of_the_moment() -> None:
    written = analysed_in("SELECT d, id FROM t WHERE d >= current_date", "ns", lambda _: T, session_is_utc=True)
    definition = at_moment(written, lambda _: T, CLOCK)
    assert definition.always_full is None
    assert definition.clock is not None
    assert definition.clock.values == {"date": "2026-11-22"}
    assert definition.as_written is written
    assert written.as_written is written
    assert definition.additive == {0: frozenset()}


@pytest.mark.parametrize(
    "sql", ["SELECT rand() AS r FROM t WHERE d = current_date", "SELECT unix_timestamp() AS u FROM t"]
)
def test_other_values_that_are_new_at_every_run_are_not_the_clock(sql: str) -> None:
    written = analysed_in(sql, "ns", lambda _: T, session_is_utc=True)
    found = at_moment(written, lambda _: T, CLOCK)
    assert (found.clock, found.sql) == (None, sql)
    assert found.always_full is not None and "current_date" not in found.always_full


def test_without_a_clock_it_stays_as_it_is() -> None:
    written = analysed_in("SELECT d FROM t WHERE d = current_date", "ns", lambda _: T, session_is_utc=True)
    assert at_moment(written, lambda _: T, None) is written
