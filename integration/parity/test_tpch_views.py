"""Views of docs/tpch-views.md on Spark: after each change they equal their SELECT, and refresh as the page says.

`make tpch` runs all of them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from examples.tpch.views_table import PARTITIONS, SCHEMAS, SECTIONS, Behaviour, behaviours, template
from integration.support.lake import LakeProject

SCALE = "0.002"
KEPT = {
    "orders": "where o_orderdate between date '1995-01-01' and date '1995-04-30'",
    "lineitem": "where l_shipdate between date '1995-01-01' and date '1995-04-30'",
}
MERGE_ON_READ = frozenset(["orders", "partsupp", "supplier"])
# One view of every section; all of them take some minutes.
NAMES = [names[0] for names in SECTIONS.values()] if os.environ.get("TPCH_VIEWS") != "all" else None
VIEWS = {view.name: view for view in behaviours() if NAMES is None or view.name in NAMES}


@dataclass(frozen=True)
class Round:
    """Changes of some tables between two runs. `nulls`: tables of which rows in the NULL partition changed."""

    name: str
    changed: frozenset[str]
    statements: tuple[str, ...]
    only_appends: bool = False
    nulls: frozenset[str] = frozenset()


ROUNDS = [
    Round(
        "new rows in every table",
        frozenset(PARTITIONS),
        (
            "insert into region values (5, 'ATLANTIS', 'sunk')",
            "insert into nation values (25, 'SEALAND', 1, 'built'), (26, 'THULE', null, 'lost')",
            "insert into supplier values (9001, 'new', 'there', 7, '1', 10.00, 'new')",
            "insert into customer values (9001, 'new', 'there', 7, '1', 9500.00, 'BUILDING', 'new')",
            "insert into part values (9001, 'new', 'M', 'B', 'T', 1, 'JAR', 9.00, 'new')",
            "insert into partsupp values (9001, 9001, 9000, 1.00, 'new')",
            "insert into orders values (9000001, 9001, 'O', 2000.00, date '1995-02-11', '1-URGENT', 'c', 0, 'brand new'), "
            "(9000003, 3, 'O', 5.00, date '1995-02-11', '5-LOW', 'c', 0, 'the first of its customer')",
            "insert into lineitem values (9000001, 9001, 9001, 1, 3, 30, 0, 0, 'N', 'O', date '1995-03-05', "
            "date '1995-03-01', date '1995-03-09', 'NONE', 'AIR', 'new')",
        ),
        only_appends=True,
    ),
    Round(
        "orders, customers, offers, nations and regions: rows changed, moved, removed, without a key",
        frozenset(["orders", "customer", "partsupp", "nation", "region"]),
        (
            "update orders set o_totalprice = o_totalprice + 1 where o_orderdate = date '1995-03-02'",
            "update orders set o_orderdate = date '1995-04-04' where o_orderdate = date '1995-02-11'",
            "insert into orders values (9000002, 1, 'O', 7.00, null, '2-HIGH', 'c', 0, 'without a day')",
            "update customer set c_nationkey = null where c_nationkey = 7 and c_custkey < 9001",
            "delete from customer where c_custkey = 9001",
            "delete from partsupp where ps_partkey = 9001",
            "update partsupp set ps_supplycost = 1, ps_availqty = 9999 where ps_partkey = 5",
            "update nation set n_regionkey = 2 where n_nationkey = 25",
            "update region set r_name = 'lost' where r_regionkey = 5",
        ),
        nulls=frozenset(["orders", "customer"]),
    ),
    Round(
        "lines, parts and suppliers: rows changed, moved, removed, without a key",
        frozenset(["lineitem", "part", "supplier"]),
        (
            "update lineitem set l_quantity = l_quantity + 1, l_returnflag = 'R' where l_shipdate = date '1995-01-20'",
            "update lineitem set l_shipdate = date '1995-02-11' where l_shipdate = date '1995-03-06'",
            "delete from lineitem where l_shipdate = date '1995-04-10'",
            "update part set p_name = 'renamed' where p_partkey = 5",
            "delete from part where p_partkey = 9001",
            "delete from supplier where s_nationkey = 7",
            "update lineitem set l_shipdate = null where l_orderkey = 9000001 and l_linenumber = 1",
        ),
        nulls=frozenset(["lineitem"]),
    ),
]


@pytest.fixture(scope="module")
def project(lake: LakeProject, tmp_path_factory: pytest.TempPathFactory) -> LakeProject:
    data = tmp_path_factory.mktemp("tpch")
    tool = Path(sys.executable).with_name("tpchgen-cli")
    command = [str(tool), "parquet", "--scale-factor", SCALE, "--output-dir", str(data), "--quiet"]
    subprocess.run(command, check=True, capture_output=True)
    lake.sql("create namespace if not exists lake.tpch")
    for table, columns in SCHEMAS.items():
        _create(lake, table, columns)
        SparkSession.active().read.parquet(str(data / f"{table}.parquet")).createOrReplaceTempView("generated")
        lake.sql(f"insert into lake.tpch.{table} select * from generated {KEPT.get(table, '')}")
    tables = [{"name": table} for table in SCHEMAS]
    lake.properties({"sources": [{"name": "tpch", "database": "lake", "schema": "tpch", "tables": tables}]})
    for name in VIEWS:
        lake.model(name, template(name))
    lake.run()
    return lake


@pytest.mark.parametrize("change", ROUNDS, ids=lambda change: change.name)
@pytest.mark.long
def test_views_refresh_as_the_page_says(project: LakeProject, change: Round) -> None:
    for statement in change.statements:
        project.sql(_in_catalog(statement))
    responses = project.run()
    found = {name: _found(responses[name]) for name in VIEWS}
    expected = {name: _expected(view, change) for name, view in VIEWS.items()}
    assert [(n, f, expected[n]) for n, f in found.items() if not _agree(f, expected[n])] == []
    for name in VIEWS:
        project.assert_equals_definition(name)


def _create(lake: LakeProject, table: str, columns: str) -> None:
    partition = f"partitioned by ({PARTITIONS[table]})" if PARTITIONS[table] else ""
    mode = "merge-on-read" if table in MERGE_ON_READ else "copy-on-write"
    modes = ", ".join(f"'write.{verb}.mode' = '{mode}'" for verb in ("delete", "update", "merge"))
    lake.sql(f"create table lake.tpch.{table} ({columns}) using iceberg {partition} tblproperties ({modes})")


def _in_catalog(statement: str) -> str:
    return re.sub(r"^(insert into|update|delete from) ", r"\1 lake.tpch.", statement)


def _found(response: dict[str, Any]) -> tuple[str, str]:
    return response["refresh_kind"], response["refresh_reason"]


def _expected(view: Behaviour, change: Round) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the kinds of refresh that the page allows, and the reasons of which a full one gives some."""
    if view.every_run is not None:
        return frozenset(["full"]), (view.every_run,)
    uses = [use for use in view.uses if use.table in change.changed]
    if not uses:
        return frozenset(["none"]), ()
    if change.only_appends and all(use.new_rows_alone for use in uses):
        return frozenset(["append"]), ()
    if all(use.is_merged for use in uses):
        # A group of which an extreme went is computed anew; so are all, where that cannot be asked.
        return frozenset(["merge", "none", "overwrite"]), ("groups were not merged",)
    obstacles = tuple(str(use.obstacle) for use in uses if use.is_full)
    if obstacles:
        # A table that can be asked is not, where another one makes the refresh full anyway. Changes of it that reach no
        # row of the view make nothing full.
        kinds = ["none", "full"] if len(uses) == len(obstacles) else ["none", "full", "overwrite"]
        return frozenset(kinds), obstacles + tuple(str(use.obstacle) for use in uses)
    nulls = [use for use in uses if use.only_without_null and use.table in change.nulls]
    if any(not use.answered for use in nulls):
        return frozenset(["full", "none"]), ("which no output column follows",)
    if nulls or any(use.obstacle is not None or (use.if_listed and use.answered) for use in uses):
        return frozenset(["overwrite", "none"]), ("its changed rows reach more than",)
    return frozenset(["overwrite"]), ("Spark cannot say what",) if any(use.if_listed for use in uses) else ()


def _agree(found: tuple[str, str], expected: tuple[frozenset[str], tuple[str, ...]]) -> bool:
    """Return whether the kind is a promised one; a full refresh, promised or possible, must say why."""
    kinds, reasons = expected
    if found[0] == "full":
        return any(reason in found[1] for reason in reasons)
    return found[0] in kinds
