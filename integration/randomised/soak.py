"""Many histories in a row: `python -m integration.randomised.soak --histories 300 --seed N`."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from integration.randomised import shapes
from integration.randomised.generator import EVERYTHING, Focus, generate
from integration.randomised.history import History
from integration.randomised.machine import run_history
from integration.randomised.mutants import MUTANTS, killed_by
from integration.randomised.operation_mutants import OPERATION_MUTANTS
from integration.randomised.shrink import shrink
from integration.randomised.statistics import Statistics
from integration.randomised.stitching_mutants import STITCHING_MUTANTS
from integration.randomised.subject import WrongResult
from integration.support.catalogs import CATALOGS, METASTORE_WITHOUT_LOCKS
from integration.support.lake import LakeProject
from integration.support.local_files import set_permissions_in_java
from integration.support.served import ServedProject
from integration.support.servers.processes import HOST
from integration.support.servers.spark import SERVERS
from integration.support.spark_settings import NO_CLEANER

SPARK = {
    "spark.sql.shuffle.partitions": "1",
    "spark.default.parallelism": "1",
    "spark.master": "local[2]",
    # Unlike a run of the tests this lasts for hours, so Java's second compiler pays.
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -Xshare:auto -Xmn512m",
    # Every scan broadcasts its table with the whole configuration of Hadoop, and nothing is cleaned up: Java's own
    # serializer took a fifth of the time, and what does not fit in memory is written to disk.
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.driver.memory": "5g",
    **NO_CLEANER,
}


def open_lake(
    folder: Path, schema: str = "randomised", catalog_properties: Mapping[str, str] | None = None
) -> LakeProject:
    """Return a lake in a folder, with Spark running; its catalog is the default one where nothing is said of it."""
    target = {
        "type": "icebergmv",
        "method": "session",
        "catalog": "lake",
        "schema": schema,
        "warehouse": str(folder / "warehouse"),
        "catalog_properties": dict(catalog_properties or {}),
        "threads": 2,
        # What does not fit in memory goes with the folder, also when the process is stopped: hundreds of MB a history.
        "server_side_parameters": {**SPARK, **METASTORE_WITHOUT_LOCKS, "spark.local.dir": str(folder / "spark")},
    }
    lake = LakeProject(folder / "project", target)
    assert lake.dbt("debug", "--quiet").success
    return lake


def open_served_lake(
    started: ExitStack, folder: Path, method: str, catalog_properties: Mapping[str, str] | None = None
) -> LakeProject:
    """Return a lake whose Spark is a server, which runs until `started` is closed."""
    warehouse = str(folder / "warehouse")
    place: dict[str, Any] = (
        {"catalog_properties": dict(catalog_properties)} if catalog_properties else {"warehouse": warehouse}
    )
    settings = catalog_settings("lake", None if catalog_properties else warehouse, catalog_properties or {}, "/")
    conf = {**METASTORE_WITHOUT_LOCKS, "spark.default.parallelism": "1"}
    server = started.enter_context(SERVERS[method](folder / "spark", settings, conf))
    target = {"type": "icebergmv", "method": method, "host": HOST, "port": server.port, "catalog": "lake", "threads": 2}
    lake = ServedProject(folder / "project", {**target, "schema": "randomised", **place})
    assert lake.dbt("debug", "--quiet").success
    return lake


def failure(lake: LakeProject, history: History, error: WrongResult, seconds: float) -> str:
    """Return what there is to say of a wrong result: the seed, and the smallest history that shows it."""
    small, message = shrink(lake, history, error, seconds)
    return f"{error}\n\nsmallest history found ({message}):\n{small.describe()}\n\nICEBERGMV_SEED={history.seed}"


def soak(lake: LakeProject, arguments: argparse.Namespace, focus: Focus) -> int:
    """Run the histories; print failures as they come and the statistics at the end. Return how many failed."""
    statistics, failures, started = Statistics(), 0, time.monotonic()
    for number in range(arguments.start, arguments.start + arguments.histories):
        if arguments.minutes and time.monotonic() - started > 60 * arguments.minutes:
            print(f"out of time; go on with --seed {arguments.seed} --start {number}", flush=True)
            break
        history = generate(f"{arguments.seed}:{number}", focus)
        history = history.as_tables() if arguments.layout == "table" else history
        try:
            run_history(lake, history, statistics)
        except WrongResult as error:
            failures += 1
            print(f"FAILED {history.seed}\n{failure(lake, history, error, arguments.shrink)}\n", flush=True)
        if (number + 1) % 10 == 0:
            print(f"{number + 1} histories, {failures} failed, {time.monotonic() - started:.0f} s", flush=True)
    print(f"\nseed {arguments.seed}\n{statistics.summary()}\n")
    if arguments.reasons:
        for (shape, reason), n in sorted(statistics.reasons.items()):
            print(f"{n:5} {shape}: {reason}")
    full = shapes.FULL_IN_TABLES if arguments.layout == "table" else frozenset()
    expected = (shapes.MUST_BE_INCREMENTAL | shapes.SOMETIMES_INCREMENTAL) - full
    missed = statistics.never_incremental(expected) if focus is EVERYTHING else []
    if missed:
        print(f"never refreshed incrementally: {', '.join(missed)}")
    is_stitched = focus is EVERYTHING and arguments.layout == "view"
    unstitched = statistics.never_stitched(shapes.STITCHED) if is_stitched else []
    if unstitched:
        print(f"never stitched: {', '.join(unstitched)}")
    if statistics.never_applied():
        print(f"changes that were never made: {', '.join(statistics.never_applied())}")
    return failures + len(missed) + len(unstitched)


def kill_mutants(lake: LakeProject) -> int:
    """Let the machine find every wrong planner; return how many it missed."""
    missed = 0
    for mutant in (*MUTANTS, *STITCHING_MUTANTS, *OPERATION_MUTANTS):
        started, found = time.monotonic(), killed_by(lake, mutant)
        missed += found is None
        how = "NOT FOUND" if found is None else f"{found[0]}: {str(found[1])[:140]}"
        print(f"{mutant.name} ({time.monotonic() - started:.0f} s): {how}", flush=True)
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=300)
    parser.add_argument("--seed", default=str(secrets.randbelow(10**9)))
    parser.add_argument("--start", type=int, default=0, help="number of the first history, to go on where one stopped")
    parser.add_argument("--minutes", type=float, default=0, help="start no history after this time (0: no limit)")
    parser.add_argument("--shrink", type=float, default=120, help="seconds to spend on making a failure smaller")
    parser.add_argument("--shapes", nargs="*", help="only views of these shapes")
    parser.add_argument("--procedures", type=float, default=0, help="share of changes that are made by procedures")
    parser.add_argument("--reasons", action="store_true", help="show why refreshes were full")
    parser.add_argument("--mutants", action="store_true", help="first see that every wrong planner is found")
    parser.add_argument("--catalog", choices=sorted(CATALOGS), help="a catalog other than SQLite, which is started")
    parser.add_argument("--method", choices=["session", *SERVERS], default="session", help="the way to Spark")
    parser.add_argument("--layout", choices=["view", "table"], default="view", help="the layout of all views")
    arguments = parser.parse_args()
    focus = Focus(shapes=frozenset(arguments.shapes)) if arguments.shapes else EVERYTHING
    focus = replace(focus, procedures=arguments.procedures) if arguments.procedures else focus
    print(f"seed {arguments.seed}", flush=True)
    set_permissions_in_java()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        other = CATALOGS.get(arguments.catalog)
        place = other and stack.enter_context(other(folder / "server"))
        if arguments.method == "session":
            lake = open_lake(folder, catalog_properties=place)
        else:
            lake = open_served_lake(stack, folder, arguments.method, place)
        missed = kill_mutants(lake) if arguments.mutants else 0
        return 1 if soak(lake, arguments, focus) + missed else 0


if __name__ == "__main__":
    sys.exit(main())
