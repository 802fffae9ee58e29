"""What goes wrong between dbt and a Spark server: nothing half-made is seen, and one message says what to do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from dbt.adapters.factory import reset_adapters
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings, catalog_settings
from dbt.adapters.icebergmv.connections import new_handle
from dbt.adapters.icebergmv.maintenance.lake import Limit
from integration.support.following import in_turn
from integration.support.life_cycle import Project
from integration.support.servers.processes import free_port
from integration.support.servers.spark import SERVERS

TOKEN = "a-t0ken-of-tests"
# A shell that starts the tests in the background has Ctrl-C ignored in all that they start.
_DBT = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from dbt.cli.main import cli; cli()"
SLOW = "select o.id, count(*) as n from {orders} o cross join range(3000000000) group by o.id"


class Lake:
    """A warehouse, and projects that reach it through a server on a port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.warehouse = str(folder / "warehouse")
        self.port = free_port()
        self.names = iter(range(100))

    @property
    def catalog(self) -> CatalogSettings:
        return catalog_settings("lake", self.warehouse, {}, str(self.folder))

    def server(self, method: str, **conf: str) -> Any:
        return SERVERS[method](self.folder / f"server{next(self.names)}", self.catalog, conf=conf, port=self.port)

    def project(self, method: str, **more: Any) -> Project:
        common = {"type": "icebergmv", "catalog": "lake", "schema": "faults", "warehouse": self.warehouse, "threads": 8}
        # A token goes over TLS alone, but for this name.
        target = {**common, "method": method, "host": "localhost", "port": self.port, **more}
        made = Project(self.folder / f"project{next(self.names)}", target)
        made.model("one", "select 1 as a", materialized="table")
        return made


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    yield Lake(tmp_path)
    reset_adapters()  # type: ignore[no-untyped-call]


def with_orders(project: Project) -> str:
    """Make a table of orders and a view of it; return the name of the table."""
    assert project.dbt("debug").success
    orders = project.view("orders")
    project.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.`{project.schema}`")
    project.sql(f"CREATE TABLE {orders} USING iceberg PARTITIONED BY (day) AS SELECT id, id % 3 AS day FROM range(30)")
    project.model("by_day", f"select day, count(*) as n from {orders} group by day", refresh_policy="incremental")
    project.run()
    return orders


def started(project: Project, *arguments: str) -> subprocess.Popen[str]:
    """Start dbt in a process of its own."""
    folders = ["--project-dir", str(project.folder), "--profiles-dir", str(project.folder)]
    command = [sys.executable, "-c", _DBT, *arguments, *folders]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ.copy())


def wait_for_branch(project: Project, name: str) -> None:
    """Wait until a refresh writes: its branch is there."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        table = project.reader().table(project.schema, f"__mv_storage__{name}")
        if table is not None and any(ref.startswith("icebergmv_") for ref in table.metadata.refs):
            return
        time.sleep(0.2)
    raise AssertionError("no refresh began to write")


@pytest.mark.long
@pytest.mark.parametrize("method", SERVERS)
def test_server_that_ends_in_mid_refresh(lake: Lake, method: str) -> None:
    with lake.server(method) as server:
        project = lake.project(method)
        orders = with_orders(project)
        before, said = project.rows("by_day"), project.state("by_day")
        project.sql(f"INSERT INTO {orders} VALUES (100, 0)")
        project.model("slow", SLOW.format(orders=orders))
        running = started(project, "run", "--select", "slow", "by_day")
        wait_for_branch(project, "slow")
        server.kill()
        printed, _ = running.communicate(timeout=240)
        assert running.returncode == 1, printed
        assert "was lost" in printed, printed
        assert "Check the server, then run again; a view shows its last refresh" in " ".join(printed.split()), printed
    assert project.state("by_day")["icebergmv.storage-snapshot-id"] == said["icebergmv.storage-snapshot-id"]
    with lake.server(method):
        project = lake.project(method)
        project.model("by_day", f"select day, count(*) as n from {orders} group by day", refresh_policy="incremental")
        # This process still has a session of the server that ended; whoever finds that out opens another.
        project.dbt("debug")
        assert project.dbt("debug").success
        assert project.rows("by_day") == before
        assert project.run()["by_day"]["refresh_kind"] == "overwrite"
        project.assert_equals_definition("by_day")


@pytest.mark.long
@pytest.mark.parametrize("method", SERVERS)
def test_ctrl_c_ends_the_statement_on_the_server(lake: Lake, method: str) -> None:
    with lake.server(method):
        project = lake.project(method)
        orders = with_orders(project)
        project.model("slow", SLOW.format(orders=orders))
        running = started(project, "run", "--select", "slow")
        wait_for_branch(project, "slow")
        time.sleep(2)
        running.send_signal(signal.SIGINT)
        printed, _ = running.communicate(timeout=60)
        assert running.returncode != 0, printed
        began = time.monotonic()
        # The two cores of the server are free again.
        project.sql(f"SELECT count(*) FROM {orders} a CROSS JOIN {orders} b")
        assert time.monotonic() - began < 20
        assert project.reader().view(project.schema, "slow") is None


@pytest.mark.long
@pytest.mark.parametrize("method", SERVERS)
def test_forty_models_at_once(lake: Lake, method: str) -> None:
    with lake.server(method):
        project = lake.project(method)
        orders = with_orders(project)
        for number in range(40):
            project.model(f"m{number}", f"select day, count(*) + {number} as n from {orders} group by day")
        responses = project.run()
        assert [r["refresh_kind"] for name, r in responses.items() if name.startswith("m")] == ["full"] * 40
        project.sql(f"INSERT INTO {orders} VALUES (100, 0)")
        project.run()
        project.assert_equals_definition("m0", "m39")


@pytest.mark.long
def test_token_of_a_connect_server(lake: Lake) -> None:
    with lake.server("connect", **{"spark.connect.authenticate.token": TOKEN}):
        project = lake.project("connect", token=TOKEN)
        with_orders(project)
        assert TOKEN not in "".join(
            file.read_text(errors="replace")
            for file in project.folder.rglob("*")
            if file.is_file() and file.suffix in {".json", ".log", ".sql"}
        )
        for wrong in ({}, {"token": "another"}):
            message = lake.project("connect", **wrong).fail()
            assert "Cannot use the Spark Connect server" in message
            assert "Check `port`, `token` and `use_ssl` in the profile" in message


@pytest.mark.long
def test_server_without_iceberg(lake: Lake) -> None:
    with lake.server("connect", **{"spark.sql.extensions": ""}):
        message = lake.project("connect").fail()
        assert "its Spark runs without Iceberg's extensions. Start it with `spark.sql.extensions=" in message


@pytest.mark.long
def test_a_catalog_that_dbt_does_not_reach_is_named_at_every_run(lake: Lake) -> None:
    uri = f"http://127.0.0.1:{free_port()}"
    with lake.server("connect"):
        project = lake.project("connect", warehouse=None, catalog_properties={"type": "rest", "uri": uri})
        assert project.dbt("run").success
    log = (project.folder / "logs" / "dbt.log").read_text()
    (said,) = (line for line in log.splitlines() if "is read through Spark, which" in line)
    assert "[info " in said, said
    assert f"nothing answers at `{uri}`" in said
    assert "write `catalog_reader: spark` in the profile" in said


@pytest.mark.parametrize("method", in_turn([*SERVERS], 1))
def test_a_question_is_stopped_while_it_runs(lake: Lake, method: str) -> None:
    """The connection goes on with the next statement."""
    with lake.server(method):
        project = lake.project(method)
        handle = new_handle(project.credentials())

        def count(sql: str) -> Any:
            cursor = handle.cursor()
            cursor.execute(sql)
            return cursor.fetchall()[0][0]

        assert count("SELECT count(*) FROM range(10)") == 10
        started = time.monotonic()
        with handle.stopped_at(Limit(started + 1)), pytest.raises(DbtRuntimeError):
            count("SELECT count(*) FROM range(1000000000000) WHERE id % 7 = 3")
        assert 1 <= time.monotonic() - started < 20
        with handle.stopped_at(Limit(time.monotonic() + 60)):
            assert count("SELECT count(*) FROM range(20)") == 20
        # One of another thread runs at the same time, and is stopped by itself.
        unwanted = Event()

        def endless() -> None:
            with handle.stopped_at(Limit().or_until(unwanted)):
                count("SELECT count(*) FROM range(0, 1000000000000, 1, 1) WHERE id % 7 = 3")

        with ThreadPoolExecutor(1) as beside:
            asked = beside.submit(endless)
            time.sleep(2)
            assert count("SELECT count(*) FROM range(30)") == 30
            assert not asked.done()
            unwanted.set()
            with pytest.raises(DbtRuntimeError):
                asked.result(20)
        assert count("SELECT count(*) FROM range(40)") == 40
        handle.close()


@pytest.mark.long
@pytest.mark.parametrize("method", SERVERS)
def test_a_statement_of_most_keys_reaches_the_server(lake: Lake, method: str) -> None:
    with lake.server(method):
        project = lake.project(method)
        visits = f"lake.{project.schema}.visits_of_many"
        guest = "concat('a guest of number ', id % 200000)"
        assert project.dbt("debug").success
        project.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.{project.schema}")
        project.sql(f"CREATE TABLE {visits} USING iceberg AS SELECT id, {guest} AS guest FROM range(400000)")
        project.model("by_guest", f"select guest, median(id) as middle from {visits} group by guest")
        project.run()
        project.sql(f"INSERT INTO {visits} SELECT id + 400000, {guest} FROM range(39000)")
        found = project.run("--select", "by_guest")["by_guest"]
        project.assert_equals_definition("by_guest")
        assert (found["refresh_kind"], found["rows_affected"]) == ("overwrite", 39_000)
