"""Constant texts that are a time of today where Spark makes a timestamp of them."""

from __future__ import annotations

import pytest

from tests.support.rule_tables import TABLES
from tests.support.rule_tables import analysed as analysed_over_tables


@pytest.fixture(autouse=True)
def _table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        TABLES,
        "shops",
        "id int, opens string, at timestamp, wall timestamp_ntz, day date, seats int,"
        " info struct<tier:string,opened:timestamp>, tiers map<string,string>",
    )


@pytest.mark.parametrize(
    "item",
    [
        "TIMESTAMP '06:00:00'",
        "CAST('06:00' AS TIMESTAMP)",
        "try_cast(' 6:00:00.5' AS TIMESTAMP)",
        "'T06:00'::timestamp",
        "timestamp_ltz '6:00 UTC'",
        "to_timestamp('06:00+01:00')",
        "timestamp(r'06:00')",
        "hour('06:00')",
        "date_trunc('HOUR', '06:00')",
        "at >= '06:00'",
        "'23:59:59' < (at)",
        "at BETWEEN '06:00' AND '07:00'",
        "at IN ('06:00')",
        "'06:00' IN (SELECT at FROM shops)",
        "coalesce(at, '06:00')",
        "CASE WHEN seats > 1 THEN at ELSE '06:00' END",
        "at = CASE WHEN seats > 1 THEN '06:00' END",
        "CAST(CASE WHEN seats > 1 THEN '06:00' END AS TIMESTAMP)",
        "array(at, '06:00')",
        "least(at + INTERVAL 1 DAY, '06:00')",
        "(SELECT max(at) FROM shops) > '06:00'",
        "CASE at WHEN '06:00' THEN 1 END",
        "at - '06:00'",
        "at > (SELECT '06:00')",
        "at IN (SELECT '06:00')",
        "(at, 1) IN (('06:00', 1))",
        "struct(at) = struct('06:00')",
        "info.opened > '06:00'",
        "at > 'T10'",
        "at > '6:00 Europe/Paris'",
        "max(at) OVER (PARTITION BY id) > '06:00'",
    ],
)
def test_a_time_of_today(item: str) -> None:
    found = analysed_over_tables(f"SELECT id, {item} AS x FROM shops").always_full
    assert found is not None and "may be read as that time of today" in found


@pytest.mark.parametrize(
    "item",
    [
        "'06:00'",
        "opens >= '06:00'",
        "date_format(at, 'HH:mm') BETWEEN '06:00' AND '07:00'",
        "substr(opens, 1, 5) = '06:00'",
        "concat(day, ' 06:00:00')",
        "CAST(day || ' 06:00:00' AS TIMESTAMP)",
        "coalesce(opens, '06:00')",
        "CASE WHEN hour(at) < 12 THEN '00:00-12:00' WHEN seats > 3 THEN opens ELSE '12:00-24:00' END",
        "at + INTERVAL '10:30' HOUR TO MINUTE",
        "CAST('06:00' AS TIMESTAMP_NTZ)",
        "CAST('06:00' AS DATE)",
        "wall > '06:00'",
        "seats = '10:30'",
        "opens LIKE '06:00%'",
        "replace(opens, '06:00', '07:00')",
        "at >= '2024-01-01 06:00'",
        "TIMESTAMP '2024-01-01 06:00'",
        "opens IN ('06:00', '07:00')",
        "(CASE WHEN seats > 1 THEN '06:00' ELSE opens END) = '06:00'",
        "max(opens) OVER (PARTITION BY id) >= '10:30'",
        "info.tier = 'T1'",
        "tiers['a'] = 'T1'",
        "split(opens, '-')[0] = 'T1'",
        "coalesce(info.tier, 'T1')",
        "decode(opens, 'T1', 1, 2)",
        "array('T1', 'T2')",
        "md5('06:00')",
        "to_timestamp('06:00', 'HH:mm')",
        "at > '3:2 win'",
        "at > 't10'",
    ],
)
def test_a_text_that_stays_one_or_has_a_date(item: str) -> None:
    assert analysed_over_tables(f"SELECT id, {item} AS x FROM shops").always_full is None


def test_a_name_that_a_query_below_gives_is_what_it_names() -> None:
    text = "WITH q AS (SELECT id, {} AS t FROM shops) SELECT id FROM q WHERE t >= '06:00'"
    assert analysed_over_tables(text.format("date_format(at, 'HH:mm')")).always_full is None
    assert analysed_over_tables(text.format("date_trunc('HOUR', at)")).always_full is not None
    assert analysed_over_tables(text.format("at")).always_full is not None
    union = "SELECT id, {} AS t FROM shops UNION ALL SELECT id, '06:00' FROM shops"
    assert analysed_over_tables(union.format("opens")).always_full is None
    assert analysed_over_tables(union.format("at")).always_full is not None
    three = (
        "SELECT id, opens AS t FROM shops UNION ALL SELECT id, {} FROM shops UNION ALL SELECT id, '06:00' FROM shops"
    )
    assert analysed_over_tables(three.format("opens")).always_full is None
    assert analysed_over_tables(three.format("at")).always_full is not None
    params = "WITH p AS (SELECT '06:00' AS t) SELECT id FROM shops, p WHERE {} >= p.t"
    assert analysed_over_tables(params.format("opens")).always_full is None
    assert analysed_over_tables(params.format("at")).always_full is not None
    values = "SELECT id FROM shops, (VALUES ('06:00')) AS p(t) WHERE at >= p.t"
    assert analysed_over_tables(values).always_full is not None
    assert analysed_over_tables("SELECT id, lower(opens) AS opens FROM shops WHERE opens = '06:00'").always_full is None
