"""What readers get between refreshes, by each `stale_read_behavior` and by `read_materialized_view`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.refresh.publish import view_text
from dbt.adapters.icebergmv.maintenance.refresh.state_after import moved
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import stale_read_behavior
from dbt.adapters.icebergmv.maintenance.status.inspection import NewView, RefreshedView, inspect
from dbt.adapters.icebergmv.maintenance.status.tables.view_expansion import redefined
from dbt.adapters.icebergmv.maintenance.stitching.current_rows import current_query
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from integration.randomised.history import BEHAVIORS, LITERAL
from integration.randomised.statistics import Statistics
from integration.randomised.subject import CATALOG, Cut, Recorder, Rows, Subject, World, WrongResult
from integration.support.stitched import relations_of

_GONE = re.compile(r"[Cc]annot find snapshot|FIELD_NOT_FOUND|`partition`\.`\w+` cannot be resolved")
_COUNTED = 3
"""How a view was read is asked after every third stitched read: that takes as long as the read."""
_STALE = re.compile(r"is stale: its base tables have changed since its last refresh at 20")


class Looker:
    """Reads the views of one history. `specs` are the partitionings that every table has had."""

    def __init__(self, adaptive: World, statistics: Statistics, specs: Mapping[str, list[tuple[str, ...]]]) -> None:
        self.adaptive, self.statistics, self.specs = adaptive, statistics, specs
        self._stitched = 0

    def remember(self, subject: Subject, fresh: bool = True) -> None:
        """Keep what the view would hold under each behaviour; under its own a fresh one must hold just that."""
        inspection = inspect(subject.world.reader, subject.request)
        if isinstance(inspection, NewView):
            return
        assert isinstance(inspection, RefreshedView)
        if fresh:
            # A view that shows its storage alone does not keep track of metadata files; the others do.
            inspection = replace(inspection, state=moved(inspection))
        if redefined(inspection.views, inspection.state) is not None:
            # What the view reads is not what its last refresh read, so no text can be made of both.
            subject.texts = {}
            return
        subject.texts = {behavior: _text(inspection, behavior) for behavior in BEHAVIORS}
        if subject.world.layout == "table":
            return
        if fresh and inspection.found.sql.strip() != subject.texts[subject.behavior].strip():
            raise WrongResult("text", subject.shape.name, f"is {inspection.found.sql}")

    def alter(self, subject: Subject, behavior: str) -> None:
        """Give a fresh view another behaviour, which must not refresh it."""
        if subject.recorded_cut() != subject.live_cut():
            return
        start, subject.behavior = subject.storage_snapshot(), behavior
        recorder = Recorder(subject.world.spark)
        result = subject.refresh(recorder)
        if result.kind != "none" or subject.storage_snapshot() != start:
            raise WrongResult("alter", subject.shape.name, f"{result.kind} ({result.reason}): {recorder.statements}")
        self.statistics.events[f"altered to {behavior}"] += 1
        subject.altered = False
        self.remember(subject)
        subject.check()

    def look(self, subject: Subject, behavior: str, adaptive: bool) -> None:
        """Read the view by a behaviour and compare with what it promises. Raises WrongResult."""
        world = self.adaptive if adaptive else subject.world
        if behavior == LITERAL:
            self._literal(subject, world)
            return
        if behavior not in subject.texts:
            self.statistics.looks[behavior, "the view below is another one"] += 1
            return
        text = subject.texts[behavior]
        query = f"SELECT * FROM {world.name(subject.name)}" if behavior == subject.behavior else text
        if behavior == "use_data_table":
            subject.compare(behavior, world.rows(query), self._recorded_rows(subject))
            self.statistics.looks[behavior, "read"] += 1
        elif behavior == "fail":
            self._fail(subject, world, query)
        else:
            self._live(subject, world, behavior, query)

    def _live(self, subject: Subject, world: World, behavior: str, query: str) -> None:
        way = _way(subject.texts[behavior])
        wanted = self._wanted(subject, behavior)
        if wanted is None:
            return
        if subject.altered and "SELECT *" in subject.sql:
            # A view has the columns of its last refresh, whatever `*` has come to mean.
            wanted = subject.world.rows(f"SELECT {subject.columns()} FROM (\n{subject.sql}\n)")
        try:
            shown = world.rows(query)
        except Exception as error:
            text = str(error)  # The first line says little over a server.
            if _STALE.search(text) and subject.failing_below():
                self.statistics.looks[behavior, "the view below fails"] += 1
                return
            if behavior == "use_stitching" and _GONE.search(text) and self._is_gone(subject):
                self.statistics.looks[behavior, "snapshot is gone"] += 1
                return
            raise WrongResult("error", subject.shape.name, f"{behavior}: {error!s:.1500}; {query}") from error
        subject.compare(behavior, shown, wanted)
        self.statistics.looks[behavior, way] += 1
        if behavior == "use_stitching":
            self._stitched += 1
            if way != "stitched" or self._stitched % _COUNTED == 1:
                self._count(subject, world, way)

    def _count(self, subject: Subject, world: World, way: str) -> None:
        """Count how a stitched view was really read, and refuse a needless fallback."""
        shape = subject.shape.name
        if way != "stitched":
            inspection = inspect(world.reader, subject.request)
            assert isinstance(inspection, RefreshedView)
            reason = read_plan(_behaving(inspection, "use_stitching")).reason
            self.statistics.looks[f"stitched {shape}", way] += 1
            self.statistics.reasons[f"not stitched: {shape}", str(reason)] += 1
            return
        head = relations_of(subject.texts["use_stitching"])
        gates = " OR ".join(f"(SELECT moved FROM {name}) IS NULL" for name in _named(head, "gate"))
        counts = ", ".join(f"(SELECT count(*) FROM {name})" for name in ["icebergmv_whole", *_named(head, "changed")])
        ((everything, whole, *files),) = world.spark(f"{head}\nSELECT {gates}, {counts}")
        how = "whole" if whole else "stitched" if any(files) else "fresh"
        self.statistics.looks[f"stitched {shape}", how] += 1
        if everything and self._is_plain(subject) and _follows_all(head):
            raise WrongResult("not stitched", shape, f"changed {sorted(subject.changed)}; {subject.sql}")

    def _is_plain(self, subject: Subject) -> bool:
        """Return whether nothing happened but writes to base tables."""
        return not subject.altered and not subject.broken and subject.changed <= set(self.specs)

    def _literal(self, subject: Subject, world: World) -> None:
        wanted = self._wanted(subject, LITERAL)
        if wanted is None:
            return
        view = (CATALOG, world.namespace, subject.name)
        try:
            shown = world.rows(current_query(Lake(world.reader, world.spark), view))
        except Exception as error:
            if _STALE.search(str(error)) and subject.failing_below():
                self.statistics.looks[LITERAL, "the view below fails"] += 1
                return
            raise WrongResult("error", subject.shape.name, f"{LITERAL}: {error!s:.1500}; {subject.sql}") from error
        subject.compare(LITERAL, shown, wanted)
        self.statistics.looks[LITERAL, "read"] += 1

    def _fail(self, subject: Subject, world: World, query: str) -> None:
        """A view of another cut must fail; one whose tables have only new metadata may."""
        recorded, live = subject.recorded_cut(), subject.live_cut()
        try:
            shown = world.rows(query)
        except Exception as error:
            if not _STALE.search(str(error)):
                raise WrongResult("error", subject.shape.name, f"fail: {error!s:.1500}; {query}") from error
            if recorded == live and not subject.altered:
                raise WrongResult("fail", subject.shape.name, "raises, though its tables have not moved") from error
            self.statistics.looks["fail", "raised" if recorded != live else "raised for new metadata"] += 1
            return
        if _snapshots(recorded) != _snapshots(live):
            raise WrongResult("fail", subject.shape.name, f"shows rows of {recorded}, live is {live}")
        subject.compare("fail", shown, self._recorded_rows(subject))
        self.statistics.looks["fail", "read"] += 1

    def _wanted(self, subject: Subject, behavior: str) -> Rows | None:
        """Return what the definition gives; None where a stitched view in it cannot be read, as its table is gone."""
        try:
            return live_rows(subject)
        except Exception as error:
            # Its type says less than its text, over a server.
            is_above = any(subject.world.view(name) is not None for name in subject.reads.values())
            if not (is_above and _GONE.search(str(error)) and self._is_gone(subject)):
                raise
            self.statistics.looks[behavior, "a table of the view below is gone"] += 1
            return None

    def _recorded_rows(self, subject: Subject) -> Rows:
        cut = subject.recorded_cut()
        if cut not in subject.known:
            raise WrongResult("cut", subject.shape.name, f"recorded {cut}, which never was live at a refresh")
        return subject.known[cut]

    def _is_gone(self, subject: Subject) -> bool:
        """Return whether some table no longer has the snapshot that the view read."""
        recorded = {name: snapshot for name, _, snapshot, _ in subject.recorded_cut() or ()}
        for shown, snapshot in recorded.items():
            table = subject.world.table(shown.rpartition(".")[2].strip("`"))
            if table is not None and snapshot is not None and table.metadata.snapshot_by_id(snapshot) is None:
                return True
        return False


def live_rows(subject: Subject) -> Rows:
    """Return what the definition gives on the live tables."""
    cut = subject.live_cut()
    known = subject.known.get(cut) or subject.seen.get(cut)
    if known is None:
        known = subject.seen[cut] = subject.definition_rows()
    return known


def _behaving(inspection: RefreshedView, behavior: str) -> RefreshedView:
    config = replace(inspection.request.config, stale_read_behavior=stale_read_behavior(behavior))
    return replace(inspection, request=replace(inspection.request, config=config))


def _text(inspection: RefreshedView, behavior: str) -> str:
    view = _behaving(inspection, behavior)
    return view_text(view, read_plan(view), view.state, view.stored).query


def _way(text: str) -> str:
    if "icebergmv_keys_0" in text:
        return "stitched"
    return "view query" if "icebergmv_gate" in text else "definition"


def _named(head: str, kind: str) -> list[str]:
    return re.findall(rf"^(?:WITH )?(icebergmv_{kind}_\d+) AS", head, re.MULTILINE)


def _follows_all(text: str) -> bool:
    """Return whether the partitions of every table give keys."""
    return len(_named(text, "log")) == len(_named(text, "changed"))


def _snapshots(cut: Cut | None) -> dict[str, int | None]:
    return {name: snapshot for name, _, snapshot, _ in cut or ()}
