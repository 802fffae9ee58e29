"""cluster_by on real Spark: how the rows of the files are ordered, and that nothing else changes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq
import pytest

from integration.support.lake import LakeProject

# A writer looks at the size of its file every 1,000 rows.
SMALL_FILES = {"write.target-file-size-bytes": "1024"}
ROWS = "select id, k from {0}.src"
PARTS = "select p, k, count(*) as n from {0}.src group by p, k"


@dataclass(frozen=True)
class File:
    """A data file: its partition, and the values of a column in the order of its rows."""

    partition: Any
    values: list[int]


@pytest.fixture(scope="module")
def base(lake: LakeProject) -> str:
    """A table with the same values of k in all of its files and partitions, and three views over it."""
    schema = f"lake.{lake.schema}"
    lake.sql(
        f"create table {schema}.src using iceberg partitioned by (p) as select id, cast(id % 3 as int) as p, "
        "cast(abs(hash(id)) % 100000 as int) as k from range(0, 12000, 1, 4)"
    )
    flat = {"partition_by": [], "tblproperties": SMALL_FILES}
    lake.model("loose", ROWS.format(schema), **flat)
    lake.model("flat", ROWS.format(schema), cluster_by="k", **flat)
    lake.model("parts", PARTS.format(schema), cluster_by=["K desc"], tblproperties=SMALL_FILES)
    lake.run("-s", "loose", "flat", "parts")
    return schema


def files(lake: LakeProject, name: str, column: str = "k") -> list[File]:
    """Return the files that a view reads, with the values of one column."""
    storage, snapshot = (lake.state(name)[f"icebergmv.storage-{what}"] for what in ("table", "snapshot-id"))
    found = lake.sql(f"select file_path from {storage}.files where content = 0")
    assert lake.sql(f"select snapshot_id from {storage}.refs where name = 'main'")[0][0] == int(snapshot)
    paths = [unquote(urlparse(row[0]).path) for row in found]
    tables = [pq.read_table(path, partitioning=None) for path in paths]
    return [File(t["p"][0].as_py() if "p" in t.column_names else None, t[column].to_pylist()) for t in tables]


def overlaps(found: list[File]) -> int:
    """Return how many pairs of files, side by side in the order of their least values, share values by their bounds."""
    by_partition = defaultdict(list)
    for file in found:
        by_partition[file.partition].append((min(file.values), max(file.values)))
    return sum(
        high > low
        for bounds in by_partition.values()
        for (_, high), (low, _) in zip(sorted(bounds), sorted(bounds)[1:], strict=False)
    )


@pytest.mark.long
def test_the_files_share_no_values(lake: LakeProject, base: str) -> None:
    flat, parts, loose = files(lake, "flat"), files(lake, "parts"), files(lake, "loose")
    assert min(len(flat), len(parts), len(loose)) >= 4
    assert (overlaps(flat), overlaps(parts)) == (0, 0)
    assert overlaps(loose) == len(loose) - 1, "without cluster_by each file has all values"
    assert all(f.values == sorted(f.values) for f in flat)
    assert all(f.values == sorted(f.values, reverse=True) for f in parts)
    lake.assert_equals_definition("flat", "parts", "loose")


def test_refreshes_of_each_kind_keep_the_order_and_the_result(lake: LakeProject, base: str) -> None:
    lake.sql(f"insert into {base}.src select id, 1, cast(abs(hash(id)) % 100000 as int) from range(20000, 22000, 1, 4)")
    found = lake.run("-s", "flat", "parts")
    assert [found[name]["refresh_kind"] for name in ("flat", "parts")] == ["append", "overwrite"]
    assert all(f.values == sorted(f.values) for f in files(lake, "flat"))
    assert all(f.values == sorted(f.values, reverse=True) for f in files(lake, "parts"))
    lake.assert_equals_definition("flat", "parts")
    lake.sql(f"delete from {base}.src where id % 7 = 0")
    lake.run("-s", "flat", "parts")
    lake.assert_equals_definition("flat", "parts")
    assert all(f.values == sorted(f.values, reverse=True) for f in files(lake, "parts"))


@pytest.mark.long
def test_another_order_holds_for_the_rows_that_come(lake: LakeProject, base: str) -> None:
    lake.model("moved", ROWS.format(base), cluster_by="k", partition_by=[], tblproperties=SMALL_FILES)
    lake.run("-s", "moved")
    before = lake.state("moved")["icebergmv.storage-snapshot-id"]
    lake.model("moved", ROWS.format(base), cluster_by="id desc", partition_by=[], tblproperties=SMALL_FILES)
    found = lake.run("-s", "moved")["moved"]
    assert (found["refresh_kind"], found["rows_affected"]) == ("none", 0)
    assert "; cluster_by is " in found["refresh_reason"]
    assert lake.state("moved")["icebergmv.storage-snapshot-id"] == before
    lake.sql(f"insert into {base}.src select id, 1, 5 from range(30000, 32000, 1, 4)")
    assert lake.run("-s", "moved")["moved"]["refresh_kind"] == "append"
    ids = files(lake, "moved", "id")
    assert {f.values == sorted(f.values, reverse=True) for f in ids if min(f.values) >= 30000} == {True}
    assert not all(f.values == sorted(f.values, reverse=True) for f in ids)
    lake.run("-s", "moved", "--full-refresh")
    ids = files(lake, "moved", "id")
    assert all(f.values == sorted(f.values, reverse=True) for f in ids)
    assert overlaps(ids) == 0
    # A SELECT without the column, and an order that is taken away.
    lake.model(
        "moved", f"select k, count(*) as n from {base}.src group by k", cluster_by="n", tblproperties=SMALL_FILES
    )
    lake.run("-s", "moved")
    lake.model("moved", f"select k, count(*) as n from {base}.src group by k", tblproperties=SMALL_FILES)
    assert "; cluster_by is not set, and was n" in lake.run("-s", "moved")["moved"]["refresh_reason"]
    table = lake.reader().table(lake.schema, "__mv_storage__moved")
    assert table is not None
    assert (len(table.sort_order().fields), "write.distribution-mode" in table.properties) == (0, False)
    lake.sql(f"delete from {base}.src where id % 5 = 0")
    lake.run("-s", "moved")
    lake.assert_equals_definition("moved")


@pytest.mark.parametrize(
    ("cluster_by", "words"),
    [
        ("q", "cluster_by is 'q' and the view has no column q. It has id, k"),
        ("xs", "cluster_by has xs, which is array"),
    ],
)
def test_what_rows_cannot_be_ordered_by_is_refused(lake: LakeProject, base: str, cluster_by: str, words: str) -> None:
    sql = ROWS.format(base) if cluster_by == "q" else f"select array(k) as xs from {base}.src"
    lake.model("refused", sql, cluster_by=cluster_by)
    message = lake.fail("-s", "refused")
    lake.remove_model("refused")
    assert words in message
    assert f"Cannot refresh lake.{lake.schema}.refused" in message
    assert "__mv_storage__refused" not in {entry.name for entry in lake.reader().entries(lake.schema)}
