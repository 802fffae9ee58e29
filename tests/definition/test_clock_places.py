"""Where a text reads the clock: the steps, with the place of each condition."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.clock.clock_places import ClockText, clock_text
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import ParsedSql, parse


def places(sql: str) -> ClockText | None:
    parsed = parse(sql)
    assert isinstance(parsed, ParsedSql)
    return clock_text(parsed)


def steps(sql: str) -> list[tuple[list[str], bool]]:
    """Return the texts of the conditions of each step, and whether rows are told by what they say."""
    found = places(sql)
    assert found is not None
    return [([sql[c.start : c.end] for c in step.conditions], step.shows) for step in found.steps]


@pytest.mark.parametrize(
    ("item", "condition", "shows"),
    [
        ("CASE WHEN d >= current_date - 30 THEN v END AS c", "d >= current_date - 30", True),
        ("sum(CASE WHEN d >= current_date - 30 THEN v END) AS c", "d >= current_date - 30", False),
        ("sum(CASE WHEN v > 1 AND NOT d<current_date THEN v END) AS c", "d<current_date", False),
        ("count(*) FILTER (WHERE date_sub(now(), 7) <= t.d) AS c", "date_sub(now(), 7) <= t.d", False),
        ("count_if((d + 1) > current_date() OR v = 1) AS c", "(d + 1) > current_date()", False),
        ("max(v) OVER (PARTITION BY d > current_date, v) AS c", "d > current_date", True),
        ("max(v) OVER (PARTITION BY IF(d > current_date, 1, 0)) AS c", "d > current_date", True),
        ("sum(IF(d > current_date, 1, 0)) OVER (PARTITION BY v) AS c", "d > current_date", False),
        ("row_number() OVER (PARTITION BY v ORDER BY d > current_date, id) AS c", "d > current_date", False),
        (
            "d NOT BETWEEN current_date - 1 AND current_date AS c",
            "d NOT BETWEEN current_date - 1 AND current_date",
            True,
        ),
        ("d IN (current_date, current_date - 1) AS c", "d IN (current_date, current_date - 1)", True),
        ("d <=> current_date AS c", "d <=> current_date", True),
        ("d > current_date AS c, t.d AS d", "d > current_date", True),
        ("current_date BETWEEN d AND CAST(ts AS date) AS c", "current_date BETWEEN d AND CAST(ts AS date)", True),
        ("year(d) = year(current_date) AS c", "year(d) = year(current_date)", True),
        ("coalesce(d, current_date) > ts AS c", "coalesce(d, current_date) > ts", True),
    ],
)
def test_a_condition_in_a_list(item: str, condition: str, shows: bool) -> None:
    assert steps(f"SELECT v, {item} FROM t") == [([condition], shows)]


def test_terms_are_steps_of_their_own_and_a_list_is_one() -> None:
    assert steps(
        "SELECT d > current_date AS later, count_if(d < current_date) AS n FROM t JOIN u ON u.d < now() "
        "WHERE t.v > 0 AND t.d = curdate() GROUP BY d > current_date"
    ) == [
        (["d > current_date", "d < current_date", "d > current_date"], True),
        (["u.d < now()"], False),
        (["t.d = curdate()"], False),
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT current_date AS today FROM t",
        "SELECT max(d) < current_date AS c FROM t",
        "SELECT current_date > date'2024-01-01' AS c FROM t",
        "SELECT d + 1 AS n, n > current_date AS c FROM t",
        "SELECT exists(array(1, 2), x -> x > id + day(current_date)) AS c FROM t",
        "SELECT d FROM t ORDER BY d > current_date",
        "SELECT d FROM t GROUP BY d HAVING d > current_date",
        "SELECT d FROM t GROUP BY d HAVING (d > current_date)",
        "SELECT d FROM t ORDER BY (d > current_date)",
        "SELECT d > (SELECT max(d) FROM u) - day(current_date) AS c FROM t",
        "SELECT d > current_date AS c, now() AS at FROM t",
        "SELECT d FROM t WHERE d > current_date OR id IN (SELECT id FROM u)",
    ],
)
def test_a_clock_elsewhere_has_no_step(sql: str) -> None:
    assert places(sql) is None


@pytest.mark.parametrize(
    ("condition", "is_plain"),
    [
        ("d > date_sub(current_date, 30)", True),
        ("d BETWEEN date_sub(current_date, 7) AND current_date + 1", True),
        ("d NOT BETWEEN current_date - 1 AND current_date", True),
        ("d IN (current_date, current_date - interval 1 day)", True),
        ("d <=> current_date", True),
        ("d > date_trunc('month', current_date)", True),
        ("d BETWEEN date'2024-01-01' AND current_date", False),
        ("d BETWEEN current_date AND CAST(NULL AS date)", False),
        ("d BETWEEN current_date AND nullif(date'2024-01-01', date'2024-01-01')", False),
        ("d IN (current_date, NULL)", False),
        ("d BETWEEN date_trunc('none', current_date) AND current_date", False),
        ("v > year(current_date) + id", False),
        ("d BETWEEN date(ts) AND current_date", False),
        ("current_date BETWEEN d AND date(ts)", False),
        ("d > coalesce(date(ts), current_date)", False),
        ("d > nullif(current_date, date(ts))", False),
    ],
)
def test_a_plain_condition_is_null_at_every_date_or_at_none(condition: str, is_plain: bool) -> None:
    found = places(f"SELECT {condition} AS c FROM t")
    assert found is not None
    assert [c.is_plain for step in found.steps for c in step.conditions] == [is_plain]
