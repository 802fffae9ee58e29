"""A materialized view under test: how it is refreshed through the engine, and what it has to show."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyiceberg.manifest import DataFileContent
from pyiceberg.table import Table as IcebergTable

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader, ViewInfo
from dbt.adapters.icebergmv.maintenance.definition.syntax.parsing import definition_hash
from dbt.adapters.icebergmv.maintenance.lake import Lake, Spark
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult
from dbt.adapters.icebergmv.maintenance.sql.names import show
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import LIVE, stale_read_behavior
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import Layout, ViewConfig
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.status.recorded.table_as_view import found_view
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from integration.randomised.shapes import Shape

Rows = Counter[str]
Cut = tuple[tuple[str, str, int | None, int], ...]
"""Per base table what a refresh read: name, uuid, snapshot id, schema id."""

CATALOG = "lake"
_BEHAVIOR = "icebergmv.stale-read-behavior"
_STORAGE_SNAPSHOT = "icebergmv.storage-snapshot-id"


class Killed(Exception):
    """A process that is gone."""


class WrongResult(AssertionError):
    """The guarantee does not hold. `what` names the invariant, `shape` the view."""

    def __init__(self, what: str, shape: str, text: str) -> None:
        super().__init__(f"{shape}: {what}: {text}")
        self.what, self.shape = what, shape


@dataclass(frozen=True)
class World:
    """The ways to one lake, and the namespace of one history in it."""

    run: Spark
    reader: CatalogReader
    namespace: str
    settings: dict[str, str]
    layout: Layout = "view"

    def spark(self, sql: str) -> list[tuple[object, ...]]:
        return [tuple(row) for row in self.run(sql)]

    def name(self, table: str) -> str:
        return f"{CATALOG}.{self.namespace}.{table}"

    def table(self, name: str) -> IcebergTable | None:
        return self.reader.table(self.namespace, name)

    def view(self, name: str) -> ViewInfo | None:
        """Return what has the name of a materialized view."""
        return found_view(self.reader, (CATALOG, self.namespace, name))

    def rows(self, query: str) -> Rows:
        """Return the rows of a query as a bag; the two zeros of doubles are one value in Spark."""
        return Counter(repr(row).replace("-0.0,", "0.0,").replace("-0.0)", "0.0)") for row in self.spark(query))


class Recorder:
    """Passes statements on to Spark and keeps them; a subclass may interfere before and after each."""

    def __init__(self, spark: Spark) -> None:
        self._spark = spark
        self.statements: list[str] = []

    def __call__(self, sql: str) -> Sequence[Sequence[object]]:
        self.before(len(self.statements) + 1)
        self.statements.append(sql)
        rows = self._spark(sql)
        self.after(len(self.statements))
        return rows

    def before(self, number: int) -> None:
        """Is called before the statement of this number runs."""

    def after(self, number: int) -> None:
        """Is called when it has run."""


class Dying(Recorder):
    """A process that dies at a statement; nothing that it would still do reaches Spark."""

    def __init__(self, spark: Spark, statement: int, after: bool) -> None:
        super().__init__(spark)
        self._statement, self._after, self.dead = statement, after, False

    def before(self, number: int) -> None:
        self.dead = self.dead or (number >= self._statement and not self._after)
        if self.dead:
            raise Killed

    def after(self, number: int) -> None:
        if self._after and number >= self._statement:
            self.dead = True
            raise Killed


class Interrupted(Recorder):
    """A process in which something else happens before one statement."""

    def __init__(self, spark: Spark, statement: int, event: Callable[[], None]) -> None:
        super().__init__(spark)
        self._statement, self._event = statement, event

    def before(self, number: int) -> None:
        if number == self._statement:
            self._event()


@dataclass
class Subject:
    """One view in one history.

    `known` are the rows that the definition gave at cuts that were live once. `changed` are the tables whose rows changed
    since the last refresh, `broken` why a full refresh would be right. `seen` are the rows that the definition gave when
    somebody read the view. `altered`: something else than new snapshots happened to a table since the last refresh.
    `texts`: what the view would hold under each behaviour, as of the last refresh. `rolled_back`: it was since then, and
    how the next refresh goes on.
    """

    world: World
    shape: Shape
    flavour: str
    name: str
    sql: str
    reads: dict[str, str]
    partition_by: tuple[str, ...] | None
    behavior: str = "use_data_table"
    known: dict[Cut, Rows] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    built: bool = False
    seen: dict[Cut, Rows] = field(default_factory=dict)
    altered: bool = False
    texts: dict[str, str] = field(default_factory=dict)
    rolled_back: str | None = None

    @property
    def storage(self) -> str:
        return self.name if self.world.layout == "table" else f"__mv_storage__{self.name}"

    @property
    def request(self) -> RefreshRequest:
        return self.request_for(self.behavior)

    def request_for(self, behavior: str) -> RefreshRequest:
        """Return what a run asks for under a stale_read_behavior."""
        world = self.world
        config = ViewConfig(
            definition_hash=definition_hash(self.sql),
            storage_table=(CATALOG, world.namespace, self.storage),
            partition_by=self.partition_by,
            settings=world.settings,
            refresh_policy="incremental",
            stale_read_behavior=stale_read_behavior(behavior),
            definition_below_rows=0,
            layout=world.layout,
        )
        return RefreshRequest((CATALOG, world.namespace, self.name), self.sql, world.namespace, config, "tester")

    def refresh(self, spark: Spark) -> RefreshResult:
        world = self.world
        inspection = inspect(world.reader, self.request)
        return refresh(Lake(world.reader, spark), inspection, read_plan(inspection))

    def properties(self) -> dict[str, str] | None:
        """Return what is recorded with the published view, None when there is no view."""
        view = self.world.view(self.name)
        return None if view is None else dict(view.properties)

    def recorded_cut(self) -> Cut | None:
        properties = self.properties()
        if properties is None:
            return None
        bases = json.loads(properties["icebergmv.base-tables"])
        return tuple(sorted((b["name"], b["uuid"], b["snapshot-id"], b["schema-id"]) for b in bases))

    def live_cut(self) -> Cut:
        """Return the cut of the tables as they are now, read without the engine."""
        return tuple(sorted({found for name in self.reads.values() for found in self._live(name)}))

    def _live(self, name: str) -> Cut:
        """Return the cut of a table, or of a materialized view: its storage, or what a view that is live reads."""
        world, shown = self.world, show((CATALOG, self.world.namespace, name))
        table = world.table(name)
        if table is not None:
            m = table.metadata
            return ((shown, str(m.table_uuid), m.current_snapshot_id, m.current_schema_id),)
        view = world.reader.view(world.namespace, name)
        storage = world.table(f"__mv_storage__{name}")
        assert view is not None, name
        assert storage is not None, name
        if view.properties[_BEHAVIOR] in LIVE:
            below = [b["name"].rpartition(".")[2] for b in json.loads(view.properties["icebergmv.base-tables"])]
            return tuple(found for table in below for found in self._live(table))
        snapshot = storage.metadata.snapshot_by_id(int(view.properties[_STORAGE_SNAPSHOT]))
        assert snapshot is not None, name
        assert snapshot.schema_id is not None, name
        return ((shown, str(storage.metadata.table_uuid), snapshot.snapshot_id, snapshot.schema_id),)

    def learn(self) -> Cut:
        """Compute what the definition gives on the live tables, and return their cut."""
        cut = self.live_cut()
        if cut not in self.known:
            self.known[cut] = self.definition_rows()
        return cut

    def definition_rows(self) -> Rows:
        """Compute what the definition gives on the live tables; a view below that fails gives the rows that it stores."""
        sql = self.sql
        for name in self.failing_below():
            view = self.world.reader.view(self.world.namespace, name)
            assert view is not None, name
            columns = ", ".join(f"`{c.name}`" for c in view.columns)
            storage, snapshot = self.world.name(f"__mv_storage__{name}"), view.properties[_STORAGE_SNAPSHOT]
            stored = f"(SELECT {columns} FROM {storage} VERSION AS OF {snapshot})"
            sql = sql.replace(self.world.name(name), stored)
        if self.shape.compares_floats:
            table = self.world.name("a")
            sql = sql.replace(table, f"(SELECT * EXCEPT (x), x + 0D AS x FROM {table})")
        return self.world.rows(sql)

    def failing_below(self) -> list[str]:
        """Return the views below whose readers get an error while they are stale."""
        views = {name: self.world.reader.view(self.world.namespace, name) for name in set(self.reads.values())}
        return [n for n, view in views.items() if view is not None and view.properties.get(_BEHAVIOR) == "fail"]

    def check(self, expected: Cut | None = None) -> None:
        """Compare the view with its definition at the recorded cut, which has to be `expected` where that is given."""
        cut = self.recorded_cut()
        if cut is None:
            if expected is not None:
                raise WrongResult("view", self.shape.name, "is absent after a refresh")
            return
        if expected is not None and cut != expected:
            raise WrongResult("cut", self.shape.name, f"recorded {cut}, live {expected}")
        if cut not in self.known:
            raise WrongResult("cut", self.shape.name, f"recorded {cut}, which never was live at a refresh")
        self.compare("rows", self.world.rows(self.stored_query()), self.known[cut])

    def stored_query(self) -> str:
        """Return the SELECT of the rows of the last refresh: the view itself, if that is what it shows."""
        if self.behavior == "use_data_table":
            return f"SELECT * FROM {self.world.name(self.name)}"
        return f"SELECT {self.columns()} FROM {self.world.name(self.storage)} VERSION AS OF {self.storage_snapshot()}"

    def columns(self) -> str:
        """Return the columns of the published view as SQL."""
        view = self.world.view(self.name)
        assert view is not None
        return ", ".join(f"`{c.name}`" for c in view.columns)

    def compare(self, what: str, shown: Rows, wanted: Rows) -> None:
        """Compare two bags of rows. Raises WrongResult."""
        if shown != wanted:
            missing, surplus = list((wanted - shown).elements()), list((shown - wanted).elements())
            raise WrongResult(what, self.shape.name, f"missing {missing[:5]}, surplus {surplus[:5]}; {self.sql}")

    def storage_snapshot(self) -> int | None:
        properties = self.properties()
        return None if properties is None else int(properties[_STORAGE_SNAPSHOT])

    def storage_files(self, snapshot_id: int) -> set[str]:
        """Return the data files of a snapshot of the storage table."""
        table = self.world.table(self.storage)
        snapshot = table.metadata.snapshot_by_id(snapshot_id) if table is not None else None
        assert table is not None
        assert snapshot is not None
        return {
            entry.data_file.file_path
            for manifest in snapshot.manifests(table.io)
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)
            if entry.data_file.content == DataFileContent.DATA
        }
