"""Runs a history on a lake and checks the guarantee after every step."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from zlib import crc32

import pytest

from dbt.adapters.icebergmv.maintenance.errors import RefreshConflict
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.rollback import rollback
from dbt.adapters.icebergmv.maintenance.operations.upkeep import DAY, UpkeepOptions, upkeep
from dbt.adapters.icebergmv.maintenance.operations.versions import versions_of
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import meaning_settings
from integration.randomised import shapes
from integration.randomised.changes import WRITES
from integration.randomised.history import (
    Alter,
    Change,
    Crash,
    History,
    Interleave,
    Look,
    Maintain,
    Read,
    Refresh,
    Rollback,
    Sweep,
)
from integration.randomised.kept import check_kept, check_pinned, kept_rows
from integration.randomised.known_faults import known_fault
from integration.randomised.looks import Looker
from integration.randomised.orphans import sweep
from integration.randomised.refresh_checks import Followed, check_idle, check_untouched
from integration.randomised.statistics import INCREMENTAL, Statistics
from integration.randomised.subject import CATALOG, Cut, Dying, Interrupted, Recorder, Subject, World, WrongResult
from integration.randomised.tables import COLUMN_LIST, transform_of
from integration.randomised.views_above import above, forget_texts_above, leave_traces, note_above
from integration.support.lake import LakeProject
from integration.support.stitched import take_tables_for
from integration.support.storage_sizes import take_storage_for_scattered

_numbers = itertools.count()
_HEAD = re.compile(r"\{head:(\w+)\}")
_METADATA = re.compile(r"\{metadata(?::(\d+))?\}")
_QUESTION = re.compile(r"SELECT DISTINCT .* AS k0")
_AT_ONCE = 2


class Machine:
    """One history in a namespace of its own."""

    def __init__(self, lake: LakeProject, history: History, statistics: Statistics) -> None:
        self.lake, self.history, self.statistics = lake, history, statistics
        generated = _needs_generated_code(history)
        run = lake.session(_conf(generated))
        settings = meaning_settings({str(row[0]): str(row[1]) for row in run("SET")})
        self.suffix = f"h{next(_numbers)}"
        self.world = World(run, lake.reader(), f"{lake.schema}_{self.suffix}", settings, history.layout)
        self.specs = {t.name: [t.partition_by] for t in history.tables}
        self.subjects = [self._subject(i) for i in range(len(history.views))]
        self.followed = Followed(self.subjects, self.specs, history.key_column)
        self.looker = Looker(
            replace(self.world, run=lake.session(_conf(generated, adaptive=True))), statistics, self.specs
        )
        self._dbt_models: set[str] = set()

    def run(self) -> None:
        """Run every step. Raises WrongResult."""
        self.world.spark(f"CREATE NAMESPACE {self.world.name('x').rpartition('.')[0]}")
        try:
            for table in self.history.tables:
                insert = [f"INSERT INTO {{t}} ({COLUMN_LIST}) VALUES {', '.join(table.rows)}"] if table.rows else []
                for statement in [*table.create(), *insert]:
                    self._sql(statement, table.name)
            for step in self.history.steps:
                self._step(step)
            self.statistics.histories += 1
        finally:
            for model in self._dbt_models:
                self.lake.remove_model(model)
            self._remove_files()

    def _subject(self, index: int) -> Subject:
        view = self.history.views[index]
        shape = shapes.BY_NAME[view.shape]
        below = next((v.name for v in self.history.views if v.shape == shapes.OF_THE_VIEW_BELOW), "")
        reads = {name: below if name == "mv" else name for name in sorted(shape.reads)}
        names = {name: self.world.name(real) for name, real in reads.items()}
        sql = shapes.render(shape, self.history.key_column, view.flavour, names)
        return Subject(self.world, shape, view.flavour, view.name, sql, reads, view.partition_by, view.behavior)

    def _step(self, step: object) -> None:
        match step:
            case Change():
                self._change(step)
            case Refresh(dbt=False):
                for level in self._levels():
                    self._at_once(self._refresh, level)
            case Refresh():
                for level in self._levels():
                    self._run_dbt(level)
            case Crash():
                self._crash(step)
            case Interleave():
                self._interleave(step)
            case Look():
                for subject in self._of_shape(step.shape):
                    self.looker.look(subject, step.behavior, step.adaptive)
            case Alter():
                for subject in self._of_shape(step.shape):
                    before = subject.behavior
                    self.looker.alter(subject, step.behavior)
                    leave_traces(subject, self.subjects)
                    note_above(subject, self.subjects, "altered")
                    if subject.behavior != before:
                        forget_texts_above(subject, self.subjects)
            case Maintain():
                built = [s for s in self.subjects if s.built]
                self._at_once(self._maintain, built)
                for subject in built:
                    self.looker.remember(subject, fresh=False)
            case Rollback():
                self._roll_back(step)
            case Sweep():
                self.statistics.events[sweep(self.world)] += 1
                self._at_once(Subject.check, self.subjects)
            case Read():
                self.statistics.events["read"] += 1
                self._at_once(Subject.check, self.subjects)

    def _of_shape(self, shape: str) -> list[Subject]:
        return [s for s in self.subjects if s.shape.name == shape and s.built]

    def _levels(self) -> list[list[Subject]]:
        upper = [s for s in self.subjects if "mv" in s.reads]
        return [level for level in ([s for s in self.subjects if s not in upper], upper) if level]

    def _at_once(self, action: Callable[[Subject], None], subjects: Iterable[Subject]) -> None:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for finished in [pool.submit(action, s) for s in subjects]:
                finished.result()

    def _sql(self, statement: str, table: str) -> None:
        named = statement.replace("{t}", self.world.name(table)).replace("{name}", f"{self.world.namespace}.{table}")
        self.world.spark(_HEAD.sub(lambda found: str(self._head(table, found[1])), named))

    def _head(self, table: str, branch: str) -> int:
        found = self.world.table(table)
        assert found is not None, table
        return found.metadata.refs[branch].snapshot_id

    def _with_metadata(self, change: Change) -> list[str]:
        """Return the statements of a change with the metadata files that they name: so many commits ago, or now."""
        texts = change.texts()
        table = self.world.table(change.table) if any("{metadata" in text for text in texts) else None
        if table is None:
            return texts
        files = [table.metadata_location, *(e.metadata_file for e in reversed(table.metadata.metadata_log))]
        return [_METADATA.sub(lambda found: files[min(int(found[1] or 0), len(files) - 1)], t) for t in texts]

    def _change(self, change: Change) -> None:
        """Make a change. What Spark refuses (a field that is there already, no such snapshot) has not happened."""
        if change.table not in self.specs:
            return
        snapshot = self._snapshot_behind(change)
        if change.back and snapshot is None:
            self.statistics.changes[change.kind, "refused"] += 1
            return
        done = 0
        try:
            for statement in self._with_metadata(change):
                self._sql(statement.replace("{snapshot}", str(snapshot)), change.table)
                done += 1
        except Exception as error:
            self.statistics.changes[change.kind, "refused"] += 1
            self.statistics.reasons["refused: " + change.kind, str(error).splitlines()[0][:160]] += 1
            if not done:
                return
        else:
            self.statistics.changes[change.kind, "applied"] += 1
        if change.partition_by is not None:
            self.specs[change.table].append(change.partition_by)
        for subject in self.subjects:
            if change.table in subject.reads:
                _note(subject, change)
                if change.kind not in WRITES:
                    # A view above one that is live watches its tables too.
                    leave_traces(subject, self.subjects)

    def _snapshot_behind(self, change: Change) -> int | None:
        table = self.world.table(change.table) if change.back else None
        snapshot = table.current_snapshot() if table is not None else None
        for _ in range(change.back):
            parent = snapshot.parent_snapshot_id if snapshot is not None else None
            snapshot = table.metadata.snapshot_by_id(parent) if table is not None and parent is not None else None
        return None if snapshot is None else snapshot.snapshot_id

    def _refresh(self, subject: Subject) -> None:
        expected = subject.learn()
        recorder = Recorder(self.world.spark)
        start = subject.storage_snapshot()
        try:
            result = subject.refresh(recorder)
        except Exception as error:
            raise WrongResult("error", subject.shape.name, f"{error!s:.1500}; {subject.sql}") from error
        self.statistics.statements += len(recorder.statements)
        # Iceberg cannot read a partition column as it was before its type was widened.
        if "cannot be asked" in result.reason and "types" not in subject.broken:
            raise WrongResult("question", subject.shape.name, f"{result.reason}; {subject.sql}")
        if any(_QUESTION.match(statement) for statement in recorder.statements):
            self.statistics.events[f"asked the changed rows, then {result.kind}"] += 1
        subject.check(expected)
        self._settle(subject, result.kind, result.reason)
        check_idle(subject)
        if result.kind in INCREMENTAL and start is not None:
            gone, kept = check_untouched(subject, start, recorder.statements)
            self.statistics.events["storage files kept"] += kept
            self.statistics.events["storage files replaced"] += gone

    def _settle(self, subject: Subject, kind: str, reason: str) -> None:
        """Judge the kind of a refresh, count it, and start from here."""
        shape = subject.shape.name
        if subject.changed and subject.built:
            transforms = [_transform(f) for t in subject.changed - {"mv"} for f in self.specs[t][-1] or ("none",)]
            self.statistics.refreshed(shape, transforms, kind, reason)
        # With NATURAL JOIN, or DISTINCT over `*`, a new column is a new meaning though no row changed.
        new_meaning = "the SELECT looks at all of them" in reason
        if subject.rolled_back is not None:
            self.statistics.events[f"refreshed after a rollback ({subject.rolled_back}): {kind}"] += 1
            subject.rolled_back = None
        if subject.built and not subject.changed and not subject.broken and kind != "none" and not new_meaning:
            raise WrongResult("needless", shape, f"{kind} although no row changed: {reason}")
        if kind == "full" and not new_meaning and self.followed.must_be_incremental(subject):
            raise WrongResult("full", shape, f"{reason}; changed {sorted(subject.changed)}; {subject.sql}")
        if kind != "none":
            for other in above(subject, self.subjects):
                other.changed.add("mv")
                other.broken |= {"full"} if kind == "full" else set()
        subject.changed.clear()
        subject.broken.clear()
        subject.altered = False
        subject.built = True
        self.looker.remember(subject)

    def _crash(self, crash: Crash) -> None:
        subject = self.subjects[crash.view % len(self.subjects)]
        live = subject.learn()
        dying = Dying(self.world.spark, crash.statement, crash.after)
        try:
            result = subject.refresh(dying)
        except Exception as error:
            if not dying.dead:
                raise WrongResult("error", subject.shape.name, f"{error!s:.1500}; {subject.sql}") from error
            self.statistics.events["crash"] += 1
            subject.check()
            self.looker.remember(subject, fresh=False)
            leave_traces(subject, self.subjects)
            note_above(subject, self.subjects, "crashed")
        else:
            subject.check(live)
            self._settle(subject, result.kind, result.reason)
            leave_traces(subject, self.subjects)
            if dying.dead:
                # It was published before, and the error was taken for a lost race.
                note_above(subject, self.subjects, "crashed")

    def _interleave(self, step: Interleave) -> None:
        subject = self.subjects[step.view % len(self.subjects)]
        if subject.recorded_cut() is None:
            return
        subject.learn()
        cuts: list[Cut] = []

        def event() -> None:
            if step.change is not None:
                self._change(step.change)
            cuts.append(subject.learn())
            if step.rival:
                subject.refresh(self.world.spark)
                subject.check()

        interrupted = Interrupted(self.world.spark, step.statement, event)
        try:
            subject.refresh(interrupted)
        except RefreshConflict:
            self.statistics.events["lost race"] += 1
        except Exception as error:
            raise WrongResult("error", subject.shape.name, f"{error!s:.1500}; {subject.sql}") from error
        if cuts:
            self.statistics.events["interleaved"] += 1
        subject.check()
        self.looker.remember(subject, fresh=False)
        leave_traces(subject, self.subjects)
        note_above(subject, self.subjects, "interleaved")

    def _maintain(self, subject: Subject) -> None:
        """Compact what can be, keep nothing that no version reads; the view shows what it showed."""
        name = (CATALOG, self.world.namespace, subject.name)
        start, kept = subject.storage_snapshot(), kept_rows(subject)
        # No version of a table keeps the snapshots that views above have read of it: time does.
        age = DAY if self.world.layout == "table" else 0
        options = UpkeepOptions(older_than=age, min_input_files=2)
        done = upkeep(Lake(self.world.reader, self.world.spark), name, options, datetime.now(timezone.utc))
        if done.error is not None:
            raise WrongResult("maintain", subject.shape.name, done.error)
        compacted = subject.storage_snapshot() != start
        self.statistics.events["compacted" if compacted else done.note or "nothing to compact"] += 1
        if done.data_files_after is not None:
            check_pinned(subject)
        check_kept(subject, kept)
        subject.check()
        if compacted:
            leave_traces(subject, self.subjects)

    def _roll_back(self, step: Rollback) -> None:
        subject = self.subjects[step.view % len(self.subjects)]
        if not subject.built:
            return
        name = (CATALOG, self.world.namespace, subject.name)
        possible = [v for v in versions_of(self.world.reader, name).versions if v.obstacle is None]
        if not possible:
            return
        done = rollback(
            Lake(self.world.reader, self.world.spark), name, possible[(step.back - 1) % len(possible)].version_id
        )
        self.statistics.events[f"rolled back, the next refresh: {done.next_refresh}"] += 1
        if subject.recorded_cut():
            subject.check()
        subject.changed |= set(subject.reads)
        subject.broken.add("rolled back")
        subject.rolled_back = done.next_refresh
        if subject.recorded_cut():
            # Where it is not recorded what rows were computed from, no view can watch that; readers get the rows.
            self.looker.remember(subject, fresh=False)
        leave_traces(subject, self.subjects)
        note_above(subject, self.subjects, "rolled back")

    def _run_dbt(self, level: list[Subject]) -> None:
        for subject in level:
            model = f"{subject.name}_{self.suffix}"
            config: dict[str, object] = {"schema": self.suffix, "alias": subject.name, "refresh_policy": "incremental"}
            config |= {"stale_read_behavior": subject.behavior, "layout": self.world.layout}
            if subject.partition_by is not None:
                config["partition_by"] = list(subject.partition_by)
            self.lake.model(model, subject.sql, **config)
            self._dbt_models.add(model)
        expected = {s.name: s.learn() for s in level}
        try:
            responses = self.lake.run("--select", *(f"{s.name}_{self.suffix}" for s in level))
        except AssertionError as error:
            raise WrongResult("error", level[0].shape.name, str(error)) from error
        self.statistics.events["dbt run"] += 1
        for subject in level:
            response = responses[f"{subject.name}_{self.suffix}"]
            subject.check(expected[subject.name])
            self._settle(subject, response["refresh_kind"], response["refresh_reason"])
            check_idle(subject)

    def _remove_files(self) -> None:
        location = next((t.location() for n in self.specs if (t := self.world.table(n)) is not None), None)
        if location is not None:
            # Views have no data; a view without its metadata would be in the way of what looks at all views.
            for data in Path(location.removeprefix("file:")).parent.glob("*/data"):
                shutil.rmtree(data.parent, ignore_errors=True)


def run_history(lake: LakeProject, history: History, statistics: Statistics | None = None) -> None:
    """Run a history in a fresh namespace. Raises WrongResult.

    It ends early where Iceberg or PyIceberg itself fails, in the ways that are known. In every second history views are
    stitched as over large tables, and in every second one rows are replaced as in storage tables of many files.
    """
    counted = Statistics()
    try:
        with pytest.MonkeyPatch.context() as patched:
            drawn = crc32(history.seed.encode())
            take_tables_for("small" if drawn % 2 else "large", patched)
            if drawn // 2 % 2:
                take_storage_for_scattered(patched)
            Machine(lake, history, counted).run()
    except Exception as error:
        fault = known_fault(error)
        if fault is None:
            raise
        counted.events[f"ended by {fault}"] += 1
    finally:
        if statistics is not None:
            statistics.add(counted)


def _needs_generated_code(history: History) -> bool:
    """Return whether a table has timestamp_ntz as partition values, which Iceberg shows only to generated code."""
    changes = [s.change if isinstance(s, Interleave) else s for s in history.steps]
    specs = [t.partition_by for t in history.tables]
    specs += [c.partition_by for c in changes if isinstance(c, Change) and c.partition_by is not None]
    return any(transform_of(field) == ("identity", "tn") for spec in specs for field in spec)


def _conf(generated: bool, adaptive: bool = False) -> dict[str, str]:
    """Return the settings of a session; to generate code costs more than it gains on a handful of rows."""
    return {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": str(adaptive).lower(),
        "spark.sql.codegen.factoryMode": "FALLBACK" if generated else "NO_CODEGEN",
    }


def _note(subject: Subject, change: Change) -> None:
    """Remember what a change means for the next refresh of a view."""
    if not change.keeps_rows:
        subject.changed.add(change.table)
    subject.altered = subject.altered or change.kind not in WRITES
    if change.breaks is not None and (change.breaks != "columns" or "*" in subject.sql):
        subject.broken.add(change.breaks)


def _transform(field: str) -> str:
    return transform_of(field)[0]
