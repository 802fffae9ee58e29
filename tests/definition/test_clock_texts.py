"""Constant texts such as 'today', which are the clock where Spark casts them to a date or a timestamp."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.determinism.clock_texts import may_be_clock
from tests.support.rule_tables import TABLES
from tests.support.rule_tables import analysed as analysed_over_tables


@pytest.fixture(autouse=True)
def _tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        TABLES,
        "tasks",
        "id int, status string, code varchar(10), day date, at timestamp, wall timestamp_ntz, n int, ok boolean,"
        " info struct<due:date,label:string>, dues map<string,date>",
    )
    monkeypatch.setitem(TABLES, "cols", "id int, name string, col1 string")
    monkeypatch.setitem(TABLES, "others", "id int, kind string, status date, label string")


def is_clock(sql: str) -> bool:
    return "may be read as a date" in (analysed_over_tables(sql).always_full or "")


def test_texts_that_may_be_the_clock() -> None:
    assert all(map(may_be_clock, ["now", "TODAY", " tomorrow ", "yesterday UTC", "now Europe/Berlin", "today+01:00"]))
    # Spark trims control characters, too.
    assert all(map(may_be_clock, ["today\x01", "\x00now", "\x1f today UTC\x03", "now UTC\x00"]))
    # Epoch is a date, and always the same one.
    assert not any(map(may_be_clock, ["epoch", "nowhere", "2024-01-01", "today is the day", ""]))


@pytest.mark.parametrize(
    "item",
    [
        "'now'",
        "r'now'",
        '"today"',
        "CASE WHEN ok THEN 'now' END",
        "CASE WHEN ok THEN 'today' WHEN n > 1 THEN 'yesterday' ELSE status END",
        "CASE status WHEN 'today' THEN 1 END",
        "if(ok, 'now', 'later')",
        "if(status = 'now', 1, 0)",
        "status = 'today'",
        "'today' <=> code",
        "status IN ('now', 'today')",
        "status BETWEEN 'now' AND 'today'",
        "upper(status) <> 'TODAY'",
        "date_format(day, 'MM') = 'now'",
        "CAST(day AS string) = 'today'",
        "coalesce(status, NULL, 'now')",
        "coalesce(code, 'now') = 'now'",
        "nullif(status, 'now')",
        "concat('today', ' at ', n)",
        "'today' || day",
        "'to' 'day'",
        "'to' || 'day' = status",
        "status LIKE 'today'",
        "length('today')",
        "CAST('today' AS string)",
        "count(CASE WHEN ok THEN 'now' END) OVER (PARTITION BY status)",
        "count(*) FILTER (WHERE status = 'now') OVER (PARTITION BY if(ok, 'now', status) ORDER BY id)",
        "max(if(ok, 'now', status)) OVER (PARTITION BY id)",
        "ok AND NOT (status = 'today')",
        "tasks.status = 'today'",
    ],
)
def test_a_text_that_is_shown_or_compared_with_texts_is_a_constant(item: str) -> None:
    assert not is_clock(f"SELECT id, {item} AS x FROM tasks")
    assert not is_clock(f"WITH q AS (SELECT id, {item} AS x FROM tasks) SELECT * FROM q")


@pytest.mark.parametrize(
    "item",
    [
        "DATE 'today'",
        "TIMESTAMP 'now'",
        "TIMESTAMP_NTZ 'now'",
        "CAST('now' AS timestamp)",
        "try_cast('today' AS date)",
        "'today'::date",
        "CAST(CASE WHEN ok THEN 'now' END AS timestamp)",
        "CAST(upper('now') AS date)",
        "day = 'today'",
        "'today' < at",
        "wall > 'now'",
        "day IN ('2024-01-01', 'today')",
        "day BETWEEN '2024-01-01' AND 'today'",
        "'today' BETWEEN day AND at",
        "day = CASE WHEN ok THEN 'today' END",
        "CASE WHEN ok THEN 'today' ELSE day END",
        "CASE WHEN ok THEN day WHEN n > 1 THEN 'today' END",
        "CASE day WHEN 'today' THEN 1 END",
        "CASE 'today' WHEN day THEN 1 END",
        "if(ok, 'now', at)",
        "coalesce(day, 'today')",
        "coalesce(status, 'today') > day",
        "nullif('today', day)",
        "nullif(day, 'today')",
        "greatest(day, 'today')",
        "least('now', at)",
        "datediff('today', day)",
        "date_add('today', 1)",
        "year('today')",
        "to_date('today')",
        "date('today')",
        "date_trunc('HOUR', 'now')",
        "array('today', day)",
        "(day, 1) = ('today', 1)",
        "(SELECT 'today') = day",
        "'today' IN (SELECT day FROM tasks)",
        "'today' - day",
        "n = 'today'",
        "lag(day, 1, 'today') OVER (ORDER BY id)",
        "max(day) OVER (PARTITION BY id) = 'today'",
        "decode(status, 'x', day) = 'today'",
        "CAST('today+01:00' AS date)",
        "CAST('to' 'day' AS date)",
        "day = 'to' || 'day'",
        "day = concat('yester', 'day', ' UTC')",
        # Of these the type is not known.
        "info.label = 'today'",
        "info.due = 'today'",
        "dues['x'] = 'today'",
        "dues.x = 'today'",
        "exists(array(status), status -> status = 'today')",
        "from_json(status, 'due date').due = 'today'",
    ],
)
def test_a_text_that_meets_a_date_or_what_is_not_known_may_be_the_clock(item: str) -> None:
    assert is_clock(f"SELECT id, {item} AS x FROM tasks")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("WITH q AS (SELECT id, {} AS s FROM tasks) SELECT id FROM q WHERE s = 'today'", ("status", "day")),
        ("SELECT id, {} AS s FROM tasks UNION ALL SELECT id, 'today' FROM tasks", ("status", "day")),
        ("SELECT id, 'today' AS s FROM tasks UNION ALL SELECT id, {} FROM tasks", ("code", "at")),
        (
            "SELECT id, {} AS s FROM tasks UNION (SELECT id, 'x' FROM tasks EXCEPT SELECT id, 'now' FROM tasks)",
            ("status", "day"),
        ),
        ("SELECT id, 'today' AS s FROM tasks UNION ALL {} SELECT id, status AS s FROM tasks", ("", "BY NAME")),
        ("WITH q AS (SELECT id, 'today' AS s FROM tasks) SELECT id FROM q WHERE s = {}", ("'x'", "DATE '2024-01-01'")),
        ("SELECT id, 'today' AS s, {} AS x FROM tasks", ("upper(s)", "CAST(s AS date)")),
        ("SELECT a.id FROM tasks a JOIN others b ON {} = 'today'", ("b.kind", "b.status")),
        # Of two tables one has a date of that name, so which one is meant has to be known.
        ("SELECT a.id FROM tasks a JOIN others b ON a.id = b.id WHERE {} = 'today'", ("b.kind", "a.status")),
        (
            "SELECT t.id FROM others t JOIN (SELECT id, 'today' AS {} FROM tasks) q USING (id, status)",
            ("kind", "status"),
        ),
        ("SELECT q.s FROM tasks t, (SELECT {} AS s) q", ("'today' || 'x'", "CAST('today' AS date)")),
        ("WITH q AS (SELECT id, 'today' AS s FROM tasks) SELECT id, {} AS x FROM q", ("count(*)", "greatest(*)")),
        (
            "SELECT id FROM (SELECT {} FROM tasks) q WHERE status = 'today'",
            ("id, code AS status", "id, info.due AS status"),
        ),
        ("SELECT id FROM (SELECT {} FROM tasks) q WHERE status = 'today'", ("id, status", "info.*, id, status")),
        ("SELECT id FROM tasks GROUP BY id, CASE WHEN {} THEN 'now' END", ("status = 'today'", "day = 'today'")),
        ("SELECT id FROM tasks {} WHERE status = 'today'", ("t", "LATERAL VIEW explode(array(day)) e AS status")),
        ("SELECT id FROM tasks {} WHERE status = 'today'", ("t", "LATERAL VIEW inline(array(info)) e")),
        # In ANSI mode a text above or below a date becomes one, and the first branch has the names.
        (
            "WITH q AS (SELECT id, status FROM tasks UNION ALL SELECT id, {} FROM tasks) "
            "SELECT id FROM q WHERE status = 'today'",
            ("code", "day"),
        ),
        (
            "WITH q AS ((SELECT id, status FROM tasks) EXCEPT "
            "(SELECT id, code AS x FROM tasks UNION SELECT {} FROM tasks)) "
            "SELECT id FROM q WHERE status = 'today'",
            ("id, CAST(day AS string)", "id, day"),
        ),
        (
            "WITH q AS ({} UNION ALL SELECT id, code FROM tasks) SELECT id FROM q WHERE status = 'today'",
            ("SELECT id, status FROM tasks", "SELECT * FROM (SELECT id, status FROM tasks)"),
        ),
        (
            "SELECT * FROM tasks WHERE status = 'today' UNION ALL SELECT * FROM tasks {}",
            ("", "ORDER BY status = 'now'"),
        ),
        (
            "SELECT id, status FROM tasks WHERE status = 'today' UNION ALL SELECT id, day FROM tasks {}",
            ("", "ORDER BY status"),
        ),
        # Spark names a cast column as that column.
        ("SELECT id FROM (SELECT id, {} FROM tasks) q WHERE status = 'today'", ("status", "CAST(status AS date)")),
        ("SELECT id FROM (SELECT id, {} FROM tasks) q WHERE status = 'today'", ("status", "status::date")),
        (
            "SELECT id, {} AS x FROM (SELECT *, named_struct('a', named_struct('status', day)) AS st FROM tasks) q",
            ("q.status = 'today'", "st.a.status = 'today'"),
        ),
        (
            "SELECT id FROM (SELECT id, {} FROM (SELECT *, struct(struct(day AS d) AS a) AS st FROM tasks) q) r "
            "WHERE status = 'today'",
            ("status", "status, st.a.*"),
        ),
        ("SELECT id FROM cols, (VALUES (DATE '2024-01-01')) v WHERE {} = 'today'", ("cols.name", "v.col1")),
        ("SELECT id, {} AS x FROM tasks", ("count(DISTINCT 'now')", "array_agg(DISTINCT 'now')")),
        ("WITH q{} AS (SELECT id, 'today' AS s FROM tasks) SELECT id FROM q", ("", "(id, day)")),
    ],
)
def test_the_way_of_a_value_is_followed(sql: str, expected: tuple[str, str]) -> None:
    text, other = expected
    assert not is_clock(sql.format(text))
    assert is_clock(sql.format(other))


def test_tables_whose_columns_are_not_known() -> None:
    assert is_clock("SELECT id FROM nowhere WHERE status = 'today'")
    assert not is_clock("SELECT id, CASE WHEN status THEN 'today' END AS x FROM nowhere")
