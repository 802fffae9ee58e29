"""Windows in whose order rows tie: one order decides, in every refresh, so changes can be followed through it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest

from dbt.adapters.icebergmv.maintenance.definition import definition
from integration.support.following import except_later
from integration.support.lake import LakeProject

_LATEST = "(select * from (select *, row_number() over (partition by id order by day) as n from {t}) where n = 1)"
VIEWS = {
    "tied_rows": f"select id, region, v from {_LATEST}",
    "tied_count": f"select region, count(*) as n, sum(v) as s from {_LATEST} group by region",
    "tied_join": f"select l.region, sum(f.x) as s, count(*) as n from {{f}} f join {_LATEST} l on l.id = f.id "
    "group by l.region",
    "tied_dimension": f"select f.k, f.x, l.region from {{f}} f left join {_LATEST} l on l.id = f.id",
    "tied_frame": "select id, v, sum(v) over (partition by id order by day rows 1 preceding) as s from {t}",
}
CHANGES = {
    "one row of several that tie goes": ("delete from {t} where id = 5 and v = 0", {}),
    "a row comes that ties": ("insert into {t} values (7, date '2024-01-01', 'north', -1)", {}),
    "a fact comes": ("insert into {f} values (900, 3, 1)", {"tied_rows": "none", "tied_count": "none"}),
    "facts change": ("update {f} set x = x + 1 where k between 3 and 5", {"tied_frame": "none"}),
    "rows that tie change": ("update {t} set region = 'west' where id = 11", {}),
}
"""What happens, and how some views are refreshed; none is in full."""


@pytest.fixture(scope="module")
def tables(lake: LakeProject) -> dict[str, str]:
    names = {letter: f"lake.{lake.schema}.tied_{letter}" for letter in "tf"}
    lake.sql(f"create table {names['t']} (id int, day date, region string, v int) using iceberg")
    lake.sql(
        f"insert into {names['t']} select cast(id % 40 as int), date '2024-01-01', "
        "element_at(array('north', 'south', 'east'), cast(id % 3 as int) + 1), cast(id % 7 as int) from range(400)"
    )
    lake.sql(f"create table {names['f']} (k int, id int, x int) using iceberg")
    lake.sql(f"insert into {names['f']} select cast(id as int), cast(id % 50 as int), 1 from range(200)")
    for view, sql in VIEWS.items():
        lake.model(view, sql.format(**names), stale_read_behavior="use_stitching")
    lake.run("--select", *VIEWS)
    return names


def all_rows(lake: LakeProject) -> dict[str, list[str]]:
    return {name: sorted(map(repr, lake.sql(f"SELECT * FROM {lake.view(name)}"))) for name in VIEWS}


LATER = ("one row of several that tie goes", "a fact comes", "facts change", "rows that tie change")


@pytest.mark.parametrize("change", except_later(CHANGES, LATER))
def test_a_refresh_in_part_gives_what_a_full_one_gives(change: str, lake: LakeProject, tables: dict[str, str]) -> None:
    statement, kinds = CHANGES[change]
    lake.sql(statement.format(**tables))
    stale = all_rows(lake)
    found = {name: response["refresh_kind"] for name, response in lake.run("--select", *VIEWS).items()}
    assert "full" not in found.values()
    assert found.items() >= kinds.items()
    in_part = all_rows(lake)
    assert stale == in_part
    lake.run("--select", *VIEWS, "--full-refresh")
    assert all_rows(lake) == in_part


def test_the_rows_are_those_of_some_order(lake: LakeProject, tables: dict[str, str]) -> None:
    shown = {(r.id, r.region, r.v) for r in lake.sql(f"SELECT * FROM {lake.view('tied_rows')}")}
    possible = {(r.id, r.region, r.v) for r in lake.sql("SELECT id, region, v FROM {t}".format(**tables))}
    assert shown <= possible
    assert len(shown) == len({row[0] for row in possible}) == 40


@contextmanager
def as_written() -> Iterator[None]:
    """Build views as former versions did: by the SELECT as it is written."""
    with patch.object(definition, "tie_breaking", lambda *_: ()):
        yield


def test_rows_of_a_former_version_are_kept_until_they_are_built_anew(lake: LakeProject) -> None:
    table = f"lake.{lake.schema}.tied_before"
    lake.sql(f"create table {table} (id int, day date, region string, v int) using iceberg")
    lake.sql(f"insert into {table} select cast(id % 4 as int), date '2024-01-01', 'r', cast(id as int) from range(40)")
    lake.model("tied_before_count", VIEWS["tied_count"].format(t=table))
    with as_written():
        lake.run("--select", "tied_before_count")
    assert json.loads(lake.state("tied_before_count")["icebergmv.tie-breakers"]) == []
    lake.sql(f"update {table} set v = v + 1 where v = 0")
    assert lake.run("--select", "tied_before_count")["tied_before_count"]["refresh_kind"] == "full"
    assert json.loads(lake.state("tied_before_count")["icebergmv.tie-breakers"]) != []
    lake.sql(f"update {table} set v = v + 1 where v = 1")
    assert lake.run("--select", "tied_before_count")["tied_before_count"]["refresh_kind"] == "merge"
    before = lake.rows("tied_before_count")
    lake.run("--select", "tied_before_count", "--full-refresh")
    assert lake.rows("tied_before_count") == before
