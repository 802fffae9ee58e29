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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager
from integration.lake import Lake

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


def _run_in_process(lake: Lake, model: str, kill_before: str = "") -> subprocess.Popen[str]:
    script = lake.folder / "killer.py"
    script.write_text(KILLER)
    command = [sys.executable, str(script), "run", "--select", model, "--project-dir", str(lake.folder)]
    command += ["--profiles-dir", str(lake.folder), "--log-path", str(lake.folder / f"logs-{time.time_ns()}")]
    return subprocess.Popen(
        [*command, "--target-path", str(lake.folder / f"target-{time.time_ns()}")],
        env={**os.environ, "KILL_BEFORE": kill_before},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _base(lake: Lake, name: str) -> str:
    table = f"lake.{lake.schema}.{name}_base"
    lake.sql(f"CREATE TABLE {table} (d date, v int) USING iceberg PARTITIONED BY (d)")
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-01', 1), (date'2024-01-02', 2), (NULL, 3)")
    lake.model(name, f"select d, sum(v) as v from {table} group by d")
    return table


class _Dead(Exception):
    """Stands for a process that is gone: nothing it would still do reaches Spark."""


@contextmanager
def _dies_before(step: int) -> Iterator[list[str]]:
    """Let the n-th statement and all after it fail, clean-up included, as after a kill; yield what was run."""
    add_query, run = IcebergMVConnectionManager.add_query, []

    def counted(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        if len(run) + 1 >= step:
            raise _Dead("killed")
        run.append(" ".join(sql.rsplit("*/", maxsplit=1)[-1].split()[:3]))
        return add_query(self, sql, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IcebergMVConnectionManager, "add_query", counted)
        yield run


@pytest.mark.parametrize("scenario", ["create", "overwrite", "delete_and_insert", "replace", "table_in_the_way"])
def test_killed_before_any_statement(lake: Lake, scenario: str) -> None:
    name = f"killed_{scenario}"
    table = _base(lake, name)
    for step in itertools.count(1):
        _prepare(lake, scenario, name, table, step)
        before = _rows(lake, name)
        with _dies_before(step) as run:
            finished = lake.dbt("run", "--select", name).success
        if not finished and not any("VIEW" in s for s in run) and scenario != "table_in_the_way":
            assert _rows(lake, name) == before, run
        kind = lake.run("--select", name)[name]["refresh_kind"]
        lake.assert_equals_definition(name)
        if finished:
            assert kind == "none"
            assert step > 4
            return
        if scenario in ("overwrite", "delete_and_insert"):
            assert kind == ("none" if any("VIEW" in s for s in run) else "overwrite"), run


def _prepare(lake: Lake, scenario: str, name: str, table: str, step: int) -> None:
    """Bring the view to where the scenario starts, and give the next run something to do."""
    select = f"select d, sum(v) as v from {table} group by d"
    config = {"partition_by": "months(d)"} if scenario == "delete_and_insert" else {}
    if scenario in ("create", "table_in_the_way"):
        lake.sql(f"DROP VIEW IF EXISTS {lake.view(name)}")
        lake.sql(f"DROP TABLE IF EXISTS lake.{lake.schema}.__mv_storage__{name} PURGE")
    if scenario == "table_in_the_way":
        lake.sql(f"CREATE OR REPLACE TABLE {lake.view(name)} USING iceberg AS SELECT 1 AS precious")
    if scenario not in ("create", "table_in_the_way"):
        lake.model(name, select, **config)
        lake.run("--select", name)
        lake.assert_equals_definition(name)
    if scenario in ("overwrite", "delete_and_insert"):
        lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', 10), (NULL, 10)")
    if scenario == "replace":
        lake.model(name, f"select d, cast(sum(v) as string) as v, {step} as step from {table} group by d")


@pytest.mark.parametrize("statement", ["CALL `lake`.system.fast_forward(table", "CREATE OR REPLACE VIEW"])
def test_killed_for_real(lake: Lake, statement: str) -> None:
    """SIGKILL before the storage moves, and before the view is published."""
    name = "sigkill_" + statement.split(maxsplit=1)[0].lower()
    table = _base(lake, name)
    lake.run("--select", name)
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', 10), (date'2031-01-01', 1)")
    before = _rows(lake, name)
    process = _run_in_process(lake, name, kill_before=statement)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL, output
    assert _rows(lake, name) == before
    assert lake.run("--select", name)[name]["refresh_kind"] == "overwrite"
    lake.assert_equals_definition(name)


def _rows(lake: Lake, name: str) -> list[str] | None:
    if lake.reader().view(lake.schema, name) is None and lake.reader().table(lake.schema, name) is None:
        return None
    return sorted(str(r) for r in lake.sql(f"SELECT * FROM {lake.view(name)}"))


def test_two_runs_at_once(lake: Lake) -> None:
    table = _base(lake, "raced")
    lake.run("--select", "raced")
    lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', 10), (date'2030-01-01', 7)")
    runs = [_run_in_process(lake, "raced") for _ in range(2)]
    for run in runs:
        output, _ = run.communicate(timeout=300)
        assert run.returncode == 0 or "Another refresh moved" in output, output
    assert any(run.returncode == 0 for run in runs)
    assert lake.run("--select", "raced")["raced"]["refresh_kind"] == "none"
    lake.assert_equals_definition("raced")


def test_first_builds_at_once(lake: Lake) -> None:
    _base(lake, "born_twice")
    runs = [_run_in_process(lake, "born_twice") for _ in range(2)]
    for run in runs:
        output, _ = run.communicate(timeout=300)
        assert run.returncode == 0 or "Another refresh moved" in output or "already exists" in output, output
    assert any(run.returncode == 0 for run in runs)
    lake.run("--select", "born_twice")
    lake.assert_equals_definition("born_twice")


def test_branches_do_not_pile_up(lake: Lake) -> None:
    table = _base(lake, "tidy")
    for value in range(13):
        lake.sql(f"INSERT INTO {table} VALUES (date'2024-01-02', {value})")
        lake.run("--select", "tidy")
    storage = lake.reader().table(lake.schema, "__mv_storage__tidy")
    view = lake.reader().view(lake.schema, "tidy")
    assert storage is not None
    assert view is not None
    assert len(storage.metadata.refs) - 1 == len(view.retained_sql)
    lake.assert_equals_definition("tidy")


def test_expiring_snapshots_of_the_storage_keeps_what_the_view_reads(lake: Lake) -> None:
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


def test_run_with_nothing_to_do_starts_no_jvm(lake: Lake, tmp_path: Path) -> None:
    _base(lake, "quiet")
    lake.run("--select", "quiet")
    process = subprocess.run(
        [
            sys.executable,
            "-m",
            "dbt.cli.main",
            "run",
            "--select",
            "quiet",
            "--project-dir",
            str(lake.folder),
            "--profiles-dir",
            str(lake.folder),
            "--log-path",
            str(tmp_path),
        ],
        env={**os.environ, "JAVA_HOME": "/nonexistent", "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout
    assert "none: nothing changed since" in process.stdout
    assert not (tmp_path / "spark.log").exists()
