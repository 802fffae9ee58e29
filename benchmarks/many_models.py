"""What a materialized view costs in a run of many: 200 views over 5 sources, one day of one source changed.

Prints what an untouched view adds to a model that does nothing at all, in a run of four threads; and what it costs to
find out what changed for the views over the changed source. With --against, another source tree is measured too, turn
by turn.
Usage: python -m benchmarks.many_models [--against <folder of another tree>] [--project <folder to keep and use again>]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

VIEWS, SOURCES, THREADS, TURNS = 200, 5, 4, 3
HISTORY, HOURS = 200, 24
"""Snapshots that a source keeps, and those of the day that changed."""
GOAL_SECONDS = 0.02
HERE = Path(__file__).parents[1]

PROFILE = (
    "many: {target: dev, outputs: {dev: {type: icebergmv, method: session, catalog: lake, schema: s, "
    f"warehouse: ./warehouse, threads: {THREADS}}}}}}}\n"
)
MACROS = """
{% materialization nothing, adapter='icebergmv' %}
  {% do store_raw_result(name='main', message='nothing', code='nothing', rows_affected='0') %}
  {{ return({'relations': []}) }}
{% endmaterialization %}
{% macro make_sources() %}
  {% do run_query('create namespace if not exists lake.raw') %}
  {% for n in range(5) %}
    {% do run_query('create table lake.raw.s' ~ n ~ ' (d date, k int, v int) using iceberg partitioned by (d)') %}
    {% for part in range(20) %}
      {% do run_query("insert into lake.raw.s" ~ n ~ " select date'2024-01-01' + cast(id + " ~ part * 10
        ~ " as int), cast(id as int), 1 from range(10)") %}
    {% endfor %}
  {% endfor %}
{% endmacro %}
"""
# Commits by hand: what a table looks like that is written every hour.
COMMITS = """
import datetime as dt, sys
import pyarrow as pa
from pyiceberg.catalog import load_catalog
from dbt.adapters.icebergmv.catalog_properties import catalog_settings
folder, sources, commits = sys.argv[1], range(*map(int, sys.argv[2:4])), int(sys.argv[4])
catalog = load_catalog('lake', **catalog_settings('lake', folder + '/warehouse', {}, folder).pyiceberg)
schema = pa.schema([('d', pa.date32()), ('k', pa.int32()), ('v', pa.int32())])
for source in sources:
    table = catalog.load_table(('raw', 's%d' % source))
    for n in range(commits):
        table.append(pa.Table.from_pylist([{'d': dt.date(2024, 3, 1), 'k': n, 'v': 7}], schema))
"""
# Run with the tree to measure on the path: inspects every view over the changed source, twice, without dbt.
INSPECT = """
import json, sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from dbt.adapters.icebergmv.maintenance.catalog.opening import open_catalog
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect_recorded
folder = str(Path(sys.argv[1]))
reader = open_catalog('lake', catalog_settings('lake', folder + '/warehouse', {}, folder).pyiceberg)
names = [('lake', 's', 'v%d' % i) for i in range(0, 200, 5)]
inspect_recorded(reader, ('lake', 's', 'v1'))
start = time.perf_counter()
found = [inspect_recorded(reader, name) for name in names]
seconds = (time.perf_counter() - start) / len(names)
assert all(f.status.base_tables[0].change.status == 'stale' for f in found)
print(json.dumps(seconds))
"""


def main() -> int:
    """Measure and return the exit code: 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, help="another source tree")
    parser.add_argument("--project", type=Path, help="folder of the project, kept for the next measurement")
    options = parser.parse_args()
    trees = {"this tree": HERE, **({"the other tree": options.against} if options.against else {})}
    with tempfile.TemporaryDirectory() as scratch:
        project = options.project or Path(scratch)
        if not (project / "built").exists():
            _build(project)
        samples: dict[str, list[dict[str, float]]] = {name: [] for name in trees}
        for _ in range(TURNS):
            for name, tree in trees.items():
                samples[name].append(_turn(project, tree))
    for name, found in samples.items():
        _report(name, found)
    return 0 if _added(samples["this tree"]) < GOAL_SECONDS else 1


def _added(samples: list[dict[str, float]]) -> float:
    return statistics.median(s["views"] - s["nothing"] for s in samples)


def _report(name: str, samples: list[dict[str, float]]) -> None:
    middle = {key: statistics.median(s[key] for s in samples) * 1000 for key in samples[0]}
    print(
        f"{name}: an untouched view {middle['views']:.1f} ms of the run, a model that does nothing "
        f"{middle['nothing']:.1f} ms: {_added(samples) * 1000:.1f} ms more (goal < {GOAL_SECONDS * 1000:.0f} ms); "
        f"dbt's time of a view {middle['view time']:.0f} ms, of nothing {middle['nothing time']:.0f} ms; "
        f"to find out what changed {middle['inspect']:.1f} ms a view"
    )


def _turn(project: Path, tree: Path) -> dict[str, float]:
    views, view_time = _run(project, tree, "tag:untouched")
    nothing, nothing_time = _run(project, tree, "tag:nothing")
    return {
        "views": views,
        "nothing": nothing,
        "view time": view_time,
        "nothing time": nothing_time,
        "inspect": float(_python(tree, project, "-c", INSPECT, str(project.absolute()))),
    }


def _run(project: Path, tree: Path, select: str) -> tuple[float, float]:
    """Return the seconds of the run for each model, and the median of what dbt counts for a model."""
    _dbt(project, tree, "run", "--select", select)
    results = json.loads((project / "target" / "run_results.json").read_text())["results"]
    steps = [t for r in results for t in r["timing"] if t["name"] == "execute"]
    assert len(results) == VIEWS - VIEWS // SOURCES
    began, ended = (_seconds(f(t[key] for t in steps)) for f, key in ((min, "started_at"), (max, "completed_at")))
    return (ended - began) / len(results), statistics.median(float(r["execution_time"]) for r in results)


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


def _build(project: Path) -> None:
    files = {
        "dbt_project.yml": "name: many\nversion: '1.0'\nprofile: many\n",
        "profiles.yml": PROFILE,
        "macros/all.sql": MACROS,
    }
    for n in range(VIEWS):
        touched = "touched" if n % SOURCES == 0 else "untouched"
        config = f"materialized='materialized_view', tags=['{touched}']"
        files[f"models/v{n}.sql"] = (
            f"{{{{ config({config}) }}}} select d, k % {n + 2} as g, count(*) as n, sum(v) as v\n"
            f"from lake.raw.s{n % SOURCES} where k >= 0 group by d, k % {n + 2}\n"
        )
    for n in range(VIEWS - VIEWS // SOURCES):
        files[f"models/nothing{n}.sql"] = "{{ config(materialized='nothing', tags=['nothing']) }} select 1 as one\n"
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    _dbt(project, HERE, "run-operation", "make_sources")
    folder = str(project.absolute())
    _python(HERE, project, "-c", COMMITS, folder, "0", str(SOURCES), str(HISTORY))
    _dbt(project, HERE, "run")
    _python(HERE, project, "-c", COMMITS, folder, "0", "1", str(HOURS))
    (project / "built").touch()


def _dbt(project: Path, tree: Path, *arguments: str) -> None:
    _python(tree, project, "-m", "dbt.cli.main", "--no-version-check", "--no-send-anonymous-usage-stats", *arguments)


def _python(tree: Path, project: Path, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env={**os.environ, "DBT_PROFILES_DIR": ".", "PYTHONPATH": str(tree.absolute())},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
