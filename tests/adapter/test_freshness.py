"""When a relation was changed last, as its snapshots say."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.table.snapshots import Operation, Summary
from pyiceberg.types import LongType, NestedField

from dbt.adapters.icebergmv.freshness import last_modified
from dbt.adapters.icebergmv.maintenance.catalog.opening import open_catalog
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from tests.refresh.refreshes import TABLE, VIEW, Stage, sell

SCHEMA = Schema(NestedField(1, "id", LongType()))


class Compacted:
    """A reader of tables whose snapshots after the first are said to be compactions."""

    def __init__(self, reader: CatalogReader, kept: int) -> None:
        self.reader, self.kept = reader, kept
        self.name = reader.name

    def table(self, namespace: str, name: str) -> Any:
        table: Any = self.reader.table(namespace, name)
        compaction = Summary(operation=Operation.REPLACE)
        first, *later = table.metadata.snapshots
        snapshots = [first, *(snapshot.model_copy(update={"summary": compaction}) for snapshot in later)]
        table.metadata = table.metadata.model_copy(update={"snapshots": snapshots[-self.kept :]})
        return table


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[tuple[SqlCatalog, CatalogReader]]:
    uri = f"sqlite:///{tmp_path}/catalog.db"
    catalog = SqlCatalog("lake", uri=uri, warehouse=tmp_path.as_uri())
    catalog.create_namespace("ns")
    catalog.create_table(("ns", "t"), SCHEMA)
    yield catalog, open_catalog("lake", {"type": "sql", "uri": uri})
    catalog.close()


def written(catalog: SqlCatalog, times: int) -> list[datetime]:
    """Append to the table; return the times of its snapshots."""
    table = catalog.load_table(("ns", "t"))
    for number in range(times):
        table.append(pa.table({"id": pa.array([number], pa.int64())}))
    return [datetime.fromtimestamp(s.timestamp_ms / 1000, timezone.utc) for s in table.metadata.snapshots]


def test_a_table_that_was_never_written_has_no_time(lake: tuple[SqlCatalog, CatalogReader]) -> None:
    assert last_modified(lake[1], "ns", "t") is None


def test_the_newest_snapshot_counts(lake: tuple[SqlCatalog, CatalogReader]) -> None:
    catalog, reader = lake
    times = written(catalog, 3)
    assert last_modified(reader, "ns", "t") == times[-1]


@pytest.mark.parametrize(("kept", "expected"), [(3, 0), (2, 1)])
def test_compaction_does_not_count(lake: tuple[SqlCatalog, CatalogReader], kept: int, expected: int) -> None:
    catalog, reader = lake
    times = written(catalog, 3)
    compacted: Any = Compacted(reader, kept)
    assert last_modified(compacted, "ns", "t") == times[expected]


def test_what_is_absent_is_an_error(lake: tuple[SqlCatalog, CatalogReader]) -> None:
    with pytest.raises(InvalidConfig, match=r"Cannot find the freshness of lake\.ns\.u: there is no table"):
        last_modified(lake[1], "ns", "u")


def test_a_view_that_is_a_table_is_as_of_its_refresh(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.refresh(TABLE)
    refreshed = last_modified(stage.catalog, *VIEW[1:])
    sell()(stage.tables())
    snapshots = len(stage.tables()[VIEW[2]].metadata.snapshots)
    assert stage.refresh(TABLE)[0].kind == "none"
    assert len(stage.tables()[VIEW[2]].metadata.snapshots) == snapshots + 1
    assert last_modified(stage.catalog, *VIEW[1:]) == refreshed, "a snapshot without rows records ids that moved"
    table = stage.tables()[VIEW[2]]
    table.append(table.scan().to_arrow())
    assert last_modified(stage.catalog, *VIEW[1:]) != refreshed, "others have written rows"
    stage.close()
