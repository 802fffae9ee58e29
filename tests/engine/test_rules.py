"""The completeness rules, on the pairs in rules.txt: which output column tracks which base column, and what cuts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.definition.definition import (
    ViewDefinition,
    analyse,
    definition_hash,
    single_statement,
)
from dbt.adapters.icebergmv.maintenance.definition.rules.tracked_relation import Occurrence
from dbt.adapters.icebergmv.maintenance.definition.table_references import TableReference
from dbt.adapters.icebergmv.maintenance.errors import InvalidDefinition

TABLES = {
    "t": (
        "id bigint, ts timestamp, n timestamp_ntz, d date, region string, v int, "
        "s struct<month:string,d:date>, xs array<int>"
    ),
    "u": "id bigint, w int, d date",
    "odd": "month string, ts timestamp, d date",
}


def columns_of(reference: TableReference) -> tuple[ColumnInfo, ...] | None:
    if reference.name not in TABLES:
        return None
    pairs = (column.split(" ", 1) for column in TABLES[reference.name].split(", "))
    return tuple(ColumnInfo(name, type_, None) for name, type_ in pairs)


def analysed(sql: str, utc: bool = True) -> ViewDefinition:
    return analyse(sql, "ns", columns_of, utc)


def shown(definition: ViewDefinition) -> str:
    """Return the tracks, the obstacles and the reasons as rules.txt writes them."""
    tracks = [
        f"{name} <- {t.column}#{place(t.occurrence)}" + "".join(f" > {step.name}" for step in t.function)
        for occurrence in sorted(definition.occurrences)
        for name, found in sorted(definition.tracks_of(occurrence).items())
        for t in sorted(found, key=lambda t: (t.column, len(t.function)))
    ]
    obstacles = [f"#{place(o)}: {words}" for o, words in sorted(definition.obstacles.items())]
    always, changed = definition.always_full, definition.full_when_changed
    reasons = [f"full: {always}"] if always else [f"when changed: {changed}"] if changed else []
    return "; ".join([*tracks, *obstacles, *reasons]) or "nothing"


def place(occurrence: Occurrence) -> str:
    """Return the number of the reference, with a stroke for every repeated use of a CTE around it."""
    return f"{occurrence.index}" + "'" * len(occurrence.uses)


def fixtures(section: str) -> Iterator[object]:
    lines = (Path(__file__).parent / "rules.txt").read_text(encoding="utf-8").splitlines()
    current, sql = "", None
    for line in lines:
        if line.startswith("# "):
            current = line[2:]
        elif line.startswith("    "):
            assert sql is not None
            if current == section:
                yield pytest.param(sql, line.strip(), id=sql)
        elif line and not line.startswith("--"):
            sql = line.replace("\\n", "\n")


@pytest.mark.parametrize(("sql", "expected"), fixtures("tracks"))
def test_tracks(sql: str, expected: str) -> None:
    assert shown(analysed(sql)) == expected


@pytest.mark.parametrize(("sql", "expected"), fixtures("other time zone"))
def test_tracks_in_another_time_zone(sql: str, expected: str) -> None:
    assert shown(analysed(sql, utc=False)) == expected


@pytest.mark.parametrize(("sql", "expected"), fixtures("refusals"))
def test_refusals(sql: str, expected: str) -> None:
    assert shown(analysed(sql)) == expected


@pytest.mark.parametrize(("sql", "expected"), fixtures("invalid"))
def test_invalid(sql: str, expected: str) -> None:
    with pytest.raises(InvalidDefinition) as caught:
        analysed(sql)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "rewritable"),
    [
        ("SELECT t.d FROM ns.t", {0}),
        ("SELECT ns.t.d FROM ns.t", set()),
        ("SELECT ns.t.s.d FROM ns.t", set()),
        ("SELECT d FROM t WHERE v > (SELECT max(ns.u.w) FROM ns.u)", set()),
    ],
)
def test_names_with_a_schema_cannot_become_subqueries(sql: str, rewritable: set[int]) -> None:
    assert analysed(sql).rewritable == rewritable


def test_hash_ignores_white_space_and_comments_only() -> None:
    same = ["SELECT a FROM t", "select  a\nfrom t -- x", "/* y */ SELECT a FROM t"]
    assert definition_hash(same[0]) == definition_hash(same[2])
    others = [
        "SELECT b FROM t",
        "SELECT 'a' FROM t",
        "SELECT a FROM t WHERE x = 'a  b'",
        "SELECT a FROM t WHERE x = 'a b'",
    ]
    assert len({definition_hash(sql) for sql in [same[0], *others]}) == 5


@pytest.mark.parametrize(
    ("sql", "expected"),
    [(" SELECT 1 ; ; \n", "SELECT 1"), ("SELECT ';'", "SELECT ';'"), ("SELECT 1; -- end", "SELECT 1")],
)
def test_single_statement(sql: str, expected: str) -> None:
    assert single_statement(sql) == expected
