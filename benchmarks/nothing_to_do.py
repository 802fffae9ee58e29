"""What a run with nothing to do costs: a materialized view beside a model that does nothing at all.

Prints the seconds that dbt itself counts for each model, the difference, and whether a JVM was started.
Usage: python benchmarks/nothing_to_do.py
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 7
GOAL_SECONDS = 0.05

FILES = {
    "dbt_project.yml": "name: idle\nversion: '1.0'\nprofile: idle\n",
    "profiles.yml": (
        "idle: {target: dev, outputs: {dev: {type: icebergmv, method: session, catalog: lake, schema: s, "
        "warehouse: ./warehouse, threads: 1}}}\n"
    ),
    "macros/nothing.sql": (
        "{% materialization nothing, adapter='icebergmv' %}\n"
        "  {% do store_raw_result(name='main', message='nothing', code='nothing', rows_affected='0') %}\n"
        "  {{ return({'relations': []}) }}\n"
        "{% endmaterialization %}\n"
        "{% macro make_base() %}\n"
        "  {% do run_query('create namespace if not exists lake.raw') %}\n"
        "  {% do run_query('create table lake.raw.events (d date, v int) using iceberg partitioned by (d)') %}\n"
        '  {% do run_query("insert into lake.raw.events "\n'
        "    ~ \"select date'2024-01-01' + cast(id as int), 1 from range(84)\") %}\n"
        "{% endmacro %}\n"
    ),
    "models/view.sql": (
        "{{ config(materialized='materialized_view') }} select d, sum(v) as v from lake.raw.events group by d\n"
    ),
    "models/bare.sql": "{{ config(materialized='nothing') }} select 1 as one\n",
}


def main() -> int:
    """Measure and return the exit code: 1 when the goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        for name, text in FILES.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text)
        _dbt(project, "run-operation", "make_base")
        _dbt(project, "run")
        (project / "logs" / "spark.log").unlink()
        samples = [_run(project) for _ in range(RUNS)]
        view = statistics.median(s["view"] for s in samples)
        bare = statistics.median(s["bare"] for s in samples)
        jvm = (project / "logs" / "spark.log").exists()
    print(
        f"materialized view with nothing to do: {view * 1000:.0f} ms; a model that does nothing: {bare * 1000:.0f} ms"
    )
    print(f"difference: {(view - bare) * 1000:.0f} ms (goal < {GOAL_SECONDS * 1000:.0f} ms); a JVM was started: {jvm}")
    return 0 if view - bare < GOAL_SECONDS and not jvm else 1


def _run(project: Path) -> dict[str, float]:
    _dbt(project, "run")
    results = json.loads((project / "target" / "run_results.json").read_text())["results"]
    return {r["unique_id"].split(".")[-1]: float(r["execution_time"]) for r in results}


def _dbt(project: Path, *arguments: str) -> None:
    command = [str(Path(sys.executable).with_name("dbt")), *arguments]
    subprocess.run(
        command,
        cwd=project,
        env={**os.environ, "DBT_PROFILES_DIR": str(project)},
        check=True,
        stdout=subprocess.DEVNULL,
    )


if __name__ == "__main__":
    sys.exit(main())
