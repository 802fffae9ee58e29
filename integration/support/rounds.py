"""Cases that share one dbt project: base tables, views on them, and rounds of changes with one `dbt run` each.

A run costs seconds and a view in it a fraction of one, so all views of a test module are refreshed together. What a
round did to every view is kept, and one test per view and round judges it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from pyspark.sql import Row

from integration.support.lake import THREADS, LakeProject


@dataclass(frozen=True)
class Table:
    """A base table: names of columns, partition fields, its first rows as SQL (which give the types), and properties."""

    columns: str
    partition: str
    rows: str
    properties: str = ""


@dataclass(frozen=True)
class Step:
    """What a round must do to a view: the kind of refresh, and the rows that the view then has.

    Rows are one text: ` | ` between rows, a space between columns, and `-` for NULL; None where only equality matters.
    `written` is how many rows the refresh writes, `most` the number of partitions of the storage that it writes to at most.
    """

    title: str
    kind: str
    rows: str | None
    written: int | None = None
    most: int | None = None


@dataclass(frozen=True)
class View:
    """A materialized view and its steps: the first is the first build, then one for each round."""

    name: str
    select: str
    steps: Sequence[Step]
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    """Base tables, rounds of changes to them, and the views that read them. `{t}` in SQL is the table t."""

    tables: Mapping[str, Table]
    rounds: Sequence[Sequence[str]]
    views: Sequence[View]


@dataclass(frozen=True)
class Outcome:
    """What a round did to a view."""

    response: Mapping[str, Any]
    rows: Counter[str]
    definition: Counter[str]


Outcomes = Mapping[tuple[str, int], Outcome]


def cases(groups: Sequence[Group], *marks: pytest.MarkDecorator) -> Iterator[Any]:
    """Yield (view, number of the round) with an id that says what is tested, and the marks."""
    for group in groups:
        for view in group.views:
            assert len(view.steps) == len(group.rounds) + 1, view.name
            for number, step in enumerate(view.steps):
                yield pytest.param(view, number, id=f"{view.name}-{step.title.replace(' ', '_')}", marks=marks)


def play(lake: LakeProject, groups: Sequence[Group]) -> Outcomes:
    """Create all tables and views, play all rounds, and return what each did to each view."""
    outcomes: dict[tuple[str, int], Outcome] = {}
    lake.at_once(_create(lake, name, table) for group in groups for name, table in group.tables.items())
    for group in groups:
        for view in group.views:
            lake.model(view.name, _expand(lake, group, view.select), **view.config)
    for number in range(max(len(g.rounds) for g in groups) + 1):
        playing = [g for g in groups if number <= len(g.rounds)]
        if number:
            with ThreadPoolExecutor(THREADS) as pool:
                list(pool.map(lambda group: _change(lake, group, number - 1), playing))  # noqa: B023
        names = [view.name for g in playing for view in g.views]
        responses = lake.run("--select", *names)
        stored = lake.at_once(f"SELECT * FROM {lake.view(name)}" for name in names)
        defined = lake.at_once(lake.definition(name) for name in names)
        for name, rows, definition in zip(names, stored, defined, strict=True):
            outcomes[name, number] = Outcome(responses[name], _bag(rows), _bag(definition))
    return outcomes


def judge(outcomes: Outcomes, view: View, number: int) -> None:
    """The view equals its definition and has the expected rows; the refresh was of the expected kind and size."""
    outcome, step = outcomes[view.name, number], view.steps[number]
    assert outcome.rows == outcome.definition
    if step.rows is not None:
        assert outcome.rows == Counter(step.rows.split(" | ") if step.rows else ())
    kind = outcome.response["refresh_kind"]
    assert kind == step.kind, outcome.response
    if step.written is not None:
        assert outcome.response["rows_affected"] == step.written, outcome.response
    if step.most is not None:
        assert 1 <= outcome.response["stale_partitions"] <= step.most, outcome.response
    if step.kind == "none":
        before = outcomes[view.name, number - 1].response["storage_snapshot_id"]
        assert outcome.response["storage_snapshot_id"] == before, outcome.response


def _create(lake: LakeProject, name: str, table: Table) -> str:
    partition = f"PARTITIONED BY ({table.partition})" if table.partition else ""
    properties = f"TBLPROPERTIES ({table.properties})" if table.properties else ""
    return (
        f"CREATE TABLE lake.{lake.schema}.{name} USING iceberg {partition} {properties} "
        f"AS SELECT * FROM VALUES {table.rows} AS v({table.columns})"
    )


def _change(lake: LakeProject, group: Group, number: int) -> None:
    for statement in group.rounds[number]:
        lake.sql(_expand(lake, group, statement))


def _expand(lake: LakeProject, group: Group, sql: str) -> str:
    """Put the names of the group's tables and views in; other braces are somebody's data."""
    names = "|".join([*group.tables, *(view.name for view in group.views)])
    return re.sub(rf"\{{({names})\}}", rf"lake.{lake.schema}.\1", sql)


def _bag(rows: Sequence[Row]) -> Counter[str]:
    return Counter(" ".join("-" if value is None else str(value) for value in row) for row in rows)
