"""Killed between any two steps, or raced by another run: readers see complete rows, and the next run mends the rest."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from integration.support.dying import dies_before
from integration.support.lake import LakeProject
from integration.support.spark_settings import BRIEF_JVM

# Runs dbt in a process of its own that kills itself before a statement.
KILLER = textwrap.dedent(
    """
    import os, signal, sys
    from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager as manager
    from dbt.cli.main import dbtRunner

    before = os.environ["KILL_BEFORE"]
    add_query = manager.add_query

    def watched(self, sql, *arguments, **named):
        if before and sql.split("*/")[-1].strip().startswith(before):
            os.kill(os.getpid(), signal.SIGKILL)
        return add_query(self, sql, *arguments, **named)

    manager.add_query = watched
    sys.exit(0 if dbtRunner().invoke(sys.argv[1:]).success else 1)
    """
)


@dataclass(frozen=True)
class Process:
    """A dbt run in a process of its own, with an output folder of its own."""

    popen: subprocess.Popen[str]
    target: Path

    def wait(self) -> str:
        """Return what it printed."""
        output, _ = self.popen.communicate(timeout=300)
        return output

    def messages(self) -> dict[str, str | None]:
        """Return for every model the message of its failure, None when it succeeded."""
        results = json.loads((self.target / "run_results.json").read_text())["results"]
        return {r["unique_id"].split(".")[-1]: None if r["status"] == "success" else r["message"] for r in results}


def _start(lake: LakeProject, *models: str, kill_before: str = "") -> Process:
    script, target = lake.folder / "killer.py", lake.folder / f"target-{time.time_ns()}"
    script.write_text(KILLER)
    command = [sys.executable, str(script), "run", "--select", *models, "--project-dir", str(lake.folder)]
    command += ["--profiles-dir", str(lake.folder), "--log-path", str(target / "logs"), "--target-path", str(target)]
    popen = subprocess.Popen(
        command,
        env={**os.environ, "JAVA_TOOL_OPTIONS": BRIEF_JVM, "KILL_BEFORE": kill_before},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return Process(popen, target)


def _base(lake: LakeProject, name: str) -> str:
    table = f"lake.{lake.schema}.{name}_base"
    rows = "(date'2024-01-01', 1), (date'2024-01-02', 2), (NULL, 3)"
    lake.sql(f"CREATE TABLE {table} USING iceberg PARTITIONED BY (d) AS SELECT * FROM VALUES {rows} AS v(d, v)")
    lake.model(name, f"select d, sum(v) as v from {table} group by d")
    return table


NEW, BETWEEN_GRAINS = ("killed_create", "killed_table_in_the_way"), "killed_between_grains"
CHANGED = ("killed_overwrite", "killed_delete_and_insert")
REPLACED = "killed_replace"


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
def test_killed_before_any_statement(lake: LakeProject, every: int) -> None:
    """Every model dies before its n-th statement, for every n or every third, and is mended by the next run."""
    playing = [*NEW, *CHANGED, REPLACED]
    for name in playing:
        lake.sql(f"DROP TABLE IF EXISTS lake.{lake.schema}.{name}_base")
    tables = {name: _base(lake, name) for name in playing}
    by_month = f"select d, sum(v) as v from {tables['killed_delete_and_insert']} group by d"
    lake.model("killed_delete_and_insert", by_month, partition_by="months(d)")
    lake.run("--select", *CHANGED, REPLACED)
    lake.assert_equals_definition(*CHANGED, REPLACED)
    # The third is fast_forward of an overwrite.
    for step in itertools.count(every, every):
        for name in playing:
            _prepare(lake, name, tables[name], step)
        before = {name: _rows(lake, name) for name in playing}
        with dies_before(step) as run:
            lake.dbt("run", "--select", *playing)
        died = [name for name in playing if name in lake.failures()]
        published = {name for name in died if any("VIEW" in statement for statement in run[name])}
        for name in died:
            if name not in published and name != "killed_table_in_the_way":
                assert _rows(lake, name) == before[name], (name, run[name])
        responses = lake.run("--select", *playing)
        lake.assert_equals_definition(*playing)
        for name in playing:
            kind = responses[name]["refresh_kind"]
            if name not in died:
                assert kind == "none", name
                assert step > 4, name
            elif name in CHANGED:
                assert kind == ("none" if name in published else "overwrite"), (name, run[name])
        playing = died
        if not playing:
            return


def _prepare(lake: LakeProject, name: str, table: str, step: int) -> None:
    """Give the next run something to do: build the view, follow a change, or build it anew."""
    if name in (*NEW, BETWEEN_GRAINS):
        lake.sql(f"DROP VIEW IF EXISTS {lake.view(name)}")
        lake.sql(f"DROP TABLE IF EXISTS lake.{lake.schema}.__mv_storage__{name} PURGE")
    if name == "killed_table_in_the_way":
        lake.sql(f"CREATE OR REPLACE TABLE {lake.view(name)} USING iceberg AS SELECT 1 AS precious")
    if name in CHANGED:
        lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', 10), (NULL, 10)")
    if name == REPLACED:
        lake.model(name, f"select d, cast(sum(v) as string) as v, {step} as step from {table} group by d")


@pytest.mark.long
def test_killed_while_the_storage_is_partitioned_otherwise(lake: LakeProject) -> None:
    """A first build writes its rows twice where they fill no partitions; the next run mends what is between."""
    name = BETWEEN_GRAINS
    table = _base(lake, name)
    lake.sql(f"INSERT INTO {table} SELECT date'2023-01-01' + cast(id as int), 1 FROM range(101)")
    for step in itertools.count(1):
        _prepare(lake, name, table, step)
        with dies_before(step) as run:
            lake.dbt("run", "--select", name)
        died = name in lake.failures()
        made = run[name].count("CREATE OR REPLACE")  # the storage table, the same table again, the view
        assert died or made == 3
        assert (lake.reader().view(lake.schema, name) is not None) == (made == 3), run[name]
        lake.run("--select", name)
        lake.assert_equals_definition(name)
        if not died:
            return


FAST_FORWARD = pytest.param("CALL `lake`.system.fast_forward(table", marks=pytest.mark.long)


@pytest.mark.parametrize("statement", [FAST_FORWARD, "CREATE OR REPLACE VIEW"])
def test_killed_for_real(lake: LakeProject, statement: str) -> None:
    """SIGKILL before the storage moves, and before the view is published."""
    name = "sigkill_" + statement.split(maxsplit=1)[0].lower()
    table = _base(lake, name)
    lake.run("--select", name)
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', 10), (date'2031-01-01', 1)")
    before = _rows(lake, name)
    process = _start(lake, name, kill_before=statement)
    output = process.wait()
    assert process.popen.returncode == -signal.SIGKILL, output
    assert _rows(lake, name) == before
    assert lake.run("--select", name)[name]["refresh_kind"] == "overwrite"
    lake.assert_equals_definition(name)


def _rows(lake: LakeProject, name: str) -> list[str] | None:
    if lake.reader().view(lake.schema, name) is None and lake.reader().table(lake.schema, name) is None:
        return None
    return sorted(str(r) for r in lake.sql(f"SELECT * FROM {lake.view(name)}"))


@pytest.mark.long
def test_two_runs_at_once(lake: LakeProject) -> None:
    """Two processes refresh one view and build another one for the first time, both at once."""
    table = _base(lake, "raced")
    lake.run("--select", "raced")
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', 10), (date'2030-01-01', 7)")
    _base(lake, "born_twice")
    processes = [_start(lake, "raced", "born_twice") for _ in range(2)]
    outputs = [process.wait() for process in processes]
    found = [process.messages() for process in processes]
    causes = {"raced": ("another refresh moved",), "born_twice": ("another refresh moved", "already exists")}
    for name, expected in causes.items():
        messages = [messages[name] for messages in found]
        assert None in messages, outputs
        assert all(m is None or any(cause in m for cause in expected) for m in messages), messages
    assert lake.run("--select", "raced")["raced"]["refresh_kind"] == "none"
    lake.run("--select", "born_twice")
    lake.assert_equals_definition("raced", "born_twice")


def test_settings_change_after_a_refresh_that_died(lake: LakeProject) -> None:
    """It left main of the storage ahead of a view that is fresh by now: nothing is to be refreshed."""
    name = "left_ahead"
    table = _base(lake, name)
    lake.run("--select", name)
    before, pinned = _rows(lake, name), lake.state(name)["icebergmv.storage-snapshot-id"]
    lake.sql(f"INSERT INTO lake.{lake.schema}.__mv_storage__{name} VALUES (date'2024-01-01', 100)")
    for behavior in ("use_stitching", "use_data_table"):
        lake.model(name, f"select d, sum(v) as v from {table} group by d", stale_read_behavior=behavior)
        response = lake.run("--select", name)[name]
        assert (response["refresh_kind"], response["stale_read_behavior"]) == ("none", behavior)
        assert _rows(lake, name) == before
    assert lake.state(name)["icebergmv.storage-snapshot-id"] == pinned
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-01', 5)")
    assert lake.run("--select", name)[name]["refresh_kind"] == "overwrite"
    lake.assert_equals_definition(name)


@pytest.mark.long
def test_branches_do_not_pile_up(lake: LakeProject) -> None:
    table = _base(lake, "tidy")
    for value in range(13):
        lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', {value})")
        lake.run("--select", "tidy")
    storage = lake.reader().table(lake.schema, "__mv_storage__tidy")
    view = lake.reader().view(lake.schema, "tidy")
    assert storage is not None
    assert view is not None
    assert len(storage.metadata.refs) - 1 == len(view.versions)
    lake.assert_equals_definition("tidy")


@pytest.mark.long
def test_expiring_snapshots_of_the_storage_keeps_what_the_view_reads(lake: LakeProject) -> None:
    table = _base(lake, "expired")
    for value in range(3):
        lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', {value})")
        lake.run("--select", "expired")
    storage = f"{lake.schema}.__mv_storage__expired"
    lake.sql(
        f"CALL lake.system.expire_snapshots(table => '{storage}', older_than => timestamp'2100-01-01 00:00:00', retain_last => 1)"
    )
    lake.sql(f"CALL lake.system.rewrite_data_files(table => '{storage}', options => map('rewrite-all', 'true'))")
    lake.assert_equals_definition("expired")
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-01', 5)")
    assert lake.run("--select", "expired")["expired"]["refresh_kind"] == "overwrite"
    lake.assert_equals_definition("expired")
    assert json.loads(lake.state("expired")["icebergmv.base-tables"])


def test_run_with_nothing_to_do_starts_no_jvm(lake: LakeProject, tmp_path: Path) -> None:
    _base(lake, "quiet")
    lake.run("--select", "quiet")
    _runs_without_a_jvm(lake, "quiet", tmp_path)


@pytest.mark.long
def test_contract_with_nothing_to_do_starts_no_jvm(lake: LakeProject, tmp_path: Path) -> None:
    table = _base(lake, "agreed")
    for types in ({"d": "date", "v": "bigint"}, {"d": "DATE", "v": "long"}):
        lake.properties(_contract("agreed", types))
        lake.run("--select", "agreed")
        _runs_without_a_jvm(lake, "agreed", tmp_path)
    # A contract that no longer fits fails also when nothing is to be done.
    lake.properties(_contract("agreed", {"d": "date", "v": "int"}))
    assert "contract" in lake.fail("--select", "agreed")
    before = _rows(lake, "agreed")
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-01', 5)")
    assert "contract" in lake.fail("--select", "agreed")
    assert _rows(lake, "agreed") == before
    lake.properties({"models": []})
    lake.run("--select", "agreed")
    lake.assert_equals_definition("agreed")


def _contract(name: str, types: dict[str, str]) -> dict[str, Any]:
    columns = [{"name": column, "data_type": kind} for column, kind in types.items()]
    return {"models": [{"name": name, "config": {"contract": {"enforced": True}}, "columns": columns}]}


def _runs_without_a_jvm(lake: LakeProject, name: str, log_folder: Path) -> None:
    """Run dbt where no Java can be found."""
    folders = {"--project-dir": lake.folder, "--profiles-dir": lake.folder, "--log-path": log_folder}
    process = subprocess.run(
        [sys.executable, "-m", "dbt.cli.main", "run", "--select", name]
        + [str(word) for pair in folders.items() for word in pair],
        env={**os.environ, "JAVA_HOME": "/nonexistent", "PATH": str(log_folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout
    assert "none: nothing changed since" in process.stdout
    assert not (log_folder / "spark.log").exists()
