"""DuckDB with its extension for Iceberg, in a process of its own that knows neither Spark nor dbt.

The extension comes from the Python package index, in packages that hold DuckDB's own signed binaries; DuckDB checks the
signature. They are fetched once, beside the jars of the test servers. They are for one version of DuckDB, which need
not be the one of the unit tests.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from dbt.adapters.icebergmv.spark.jars import cache_folder

VERSION = "1.5.5"
_EXTENSIONS = ("avro", "httpfs", "iceberg")
_PACKAGES = (f"duckdb=={VERSION}", *(f"duckdb-extension-{name}=={VERSION}" for name in _EXTENSIONS))
_PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
import duckdb
for name in json.loads(sys.argv[2]):
    duckdb.execute(f"LOAD '{sys.argv[1]}/duckdb_extension_{name}/extensions/v{duckdb.__version__}/{name}.duckdb_extension'")
# Nothing else is fetched: what is missing fails.
duckdb.execute("SET autoinstall_known_extensions = false")
for statement in json.loads(sys.argv[3]):
    rows = duckdb.execute(statement).fetchall()
assert not {"pyspark", "dbt", "pyiceberg"} & {module.split(".")[0] for module in sys.modules}
print(json.dumps(rows, default=str))
"""


def duckdb_rows(*statements: str) -> list[list[Any]]:
    """Run statements in one session and return the rows of the last. Skips the test if the packages cannot be had."""
    given = [_PROGRAM, str(_packages()), json.dumps(_EXTENSIONS), json.dumps(statements)]
    answer = subprocess.run(
        [sys.executable, "-I", "-c", *given], capture_output=True, text=True, timeout=120, check=False
    )
    assert answer.returncode == 0, answer.stderr
    rows: list[list[Any]] = json.loads(answer.stdout)
    return rows


def _packages() -> Path:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache_folder() / "duckdb" / f"{VERSION}-{python}"
    if not folder.is_dir():
        _fetch(folder)
    return folder


def _fetch(folder: Path) -> None:
    """Fetch into a scratch folder and rename it, so that other processes see all packages or none."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".fetch-", dir=folder.parent))
    try:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
        answer = subprocess.run(
            [*install, "--target", str(scratch / "packages"), *_PACKAGES],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if answer.returncode:
            pytest.skip(f"DuckDB {VERSION} with its extension for Iceberg cannot be fetched: {answer.stderr[-300:]}")
        if not folder.is_dir():
            (scratch / "packages").rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
