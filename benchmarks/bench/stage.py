"""The lake of a measurement: base tables, all models, and the way back to the state before a change."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.bench.changes import Change
from benchmarks.bench.contenders import CHANGED_DAYS, PLANS, Contender, model_name, model_sql, models
from benchmarks.bench.measured import Measured
from benchmarks.bench.views import View
from benchmarks.bench.written import current_snapshot, open_tables, snapshots, written
from benchmarks.parts.bags import Difference, differences
from benchmarks.parts.project import dbt, write_project
from benchmarks.parts.scans import last_execution, scanned_since
from benchmarks.parts.tables import CUSTOMERS, FACTS, customers, make_tables

_BRIEF = ("--no-write-json", "--log-level-file", "none")
Model = tuple[View, Contender]


class Stage:
    """Every round begins from the same rows: base tables and models by hand are set back to their first snapshots.

    Materialized views that ran after a change are rebuilt instead, because no snapshot has their whole state.
    """

    def __init__(self, folder: Path, rows: int) -> None:
        self._folder, self._rows = folder, rows
        self._start: dict[str, int] = {}
        self._changed: set[Model] = set()
        files = {f"models/{model_name(*model)}.sql": model_sql(*model) for model in models()}
        write_project(folder, "bench", files)
        os.environ[CHANGED_DAYS] = "false"
        self._dbt("debug", "--connection")
        make_tables(rows, customers(rows))
        self._spark = SparkSession.active()
        self._catalog = open_tables(folder)
        self._start = {name: current_snapshot(self._catalog, name) for name in (FACTS, CUSTOMERS)}

    def build(self, wanted: Iterable[Model]) -> None:
        """Build models for the first time."""
        wanted = list(wanted)
        self._dbt("run", "--select", *(model_name(*model) for model in wanted), *_BRIEF)
        of_tables = (_table(m) for m in wanted if m[1] not in (*PLANS, "rebuild"))
        self._start |= {name: current_snapshot(self._catalog, name) for name in of_tables}

    def reset(self, wanted: Collection[Model]) -> None:
        """Set all tables, and the views that are wanted, back to what they were when they were built."""
        for table, snapshot in self._start.items():
            if current_snapshot(self._catalog, table) != snapshot:
                self._spark.sql(f"call lake.system.set_current_snapshot('{table}', {snapshot})").collect()
        again = [model for model in wanted if model in self._changed]
        if again:
            names = (model_name(*model) for model in again)
            self._dbt("run", "--full-refresh", "--select", *names, *_BRIEF)
        self._changed.difference_update(again)

    def make(self, change: Change) -> None:
        """Make a change, and note for the informed models which days it is in."""
        picked = f"select distinct {change.day()} from {FACTS} where {change.picked(self._rows)}"
        days = [] if change.place is None else [row[0] for row in self._spark.sql(picked).collect()]
        listed = ", ".join(f"date'{day}'" for day in sorted(days))
        os.environ[CHANGED_DAYS] = f"day in ({listed})" if days else "false"
        for statement in change.statements(self._rows):
            self._spark.sql(statement).collect()

    def run(self, model: Model, change: Change) -> Measured:
        """Run a model and return what it took, without a comparison."""
        table = self._storage(model)
        before, execution = snapshots(self._catalog, table), last_execution(self._spark)
        (found,) = self._dbt("run", "--select", model_name(*model), *_BRIEF).results
        if model[1] in PLANS and change.kind != "none":
            self._changed.add(model)
        scanned = scanned_since(self._spark, execution)
        numbers = {} if scanned.silent else {"files_read": scanned.files, "bytes_read": scanned.size}
        response: dict[str, Any] = found.adapter_response
        return Measured(
            seconds=found.execution_time,
            plan=response.get("refresh_kind"),
            reason=response.get("refresh_reason"),
            numbers=numbers | written(before, snapshots(self._catalog, table)),
        )

    def compare(self, view: View, contenders: Collection[Contender]) -> Iterator[tuple[Contender, Difference]]:
        """Yield how the table of each contender differs from the SELECT of the view now."""
        found = differences(view.over(), view.columns, [_table((view, c)) for c in contenders])
        yield from zip(contenders, found, strict=True)

    def _storage(self, model: Model) -> str:
        return f"lake.s.__mv_storage__{model_name(*model)}" if model[1] in PLANS else _table(model)

    def _dbt(self, *arguments: str) -> Any:
        return dbt(self._folder, *arguments)


def _table(model: Model) -> str:
    return f"lake.s.{model_name(*model)}"
