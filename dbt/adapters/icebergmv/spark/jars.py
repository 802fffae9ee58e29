"""The jars that Spark needs for Iceberg: chosen by Spark's version, fetched once, kept in a cache folder."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.icebergmv.spark.drivers import DRIVERS
from dbt.adapters.icebergmv.spark.errors import JarsUnavailable
from dbt.adapters.icebergmv.spark.release import release_of

_logger = AdapterLogger("IcebergMV")
CACHE_VARIABLE = "DBT_ICEBERGMV_CACHE"
RUNTIME = "iceberg-spark-runtime"
ICEBERG_RUNTIMES = {
    "4.0": f"org.apache.iceberg:{RUNTIME}-4.0_2.13:1.11.0",
    "4.1": f"org.apache.iceberg:{RUNTIME}-4.1_2.13:1.12.0",
}
FETCH_TIMEOUT_SECONDS = 600
_VERSION = re.compile(r"[-:](\d+\.\d+\.\d+)(?:\.jar)?$")


def required_jars(spark_version: str, drivers: Sequence[str], given: Sequence[str]) -> list[str]:
    """Return the jars to start Spark with, as paths and Maven coordinates; `drivers` are keys of DRIVERS.

    A jar given by hand replaces the one we would fetch, so a machine without network needs no cache.
    Raises JarsUnavailable when there is no Iceberg for this Spark.
    """
    jars = list(given)
    runtime = next((jar for jar in given if RUNTIME in jar), None)
    if runtime is None:
        runtime = _runtime(spark_version)
        jars.append(runtime)
    for driver in drivers:
        artifact = DRIVERS[driver].split(":")[1]
        if not any(artifact in jar.rsplit("/", 1)[-1] for jar in given):
            jars.append(DRIVERS[driver].format(iceberg=_version(runtime)))
    return jars


def _runtime(spark_version: str) -> str:
    release = release_of(spark_version)
    if release not in ICEBERG_RUNTIMES:
        known = ", ".join(sorted(ICEBERG_RUNTIMES))
        raise JarsUnavailable(
            f"Cannot choose an Iceberg jar: none is known for Spark {spark_version}. "
            f"Install PySpark {known}, or give a runtime jar in `jars`."
        )
    return ICEBERG_RUNTIMES[release]


def _version(runtime: str) -> str:
    """Return the version of Iceberg in the name of its runtime jar, the newest known if the name has none."""
    found = _VERSION.search(runtime) or _VERSION.search(max(ICEBERG_RUNTIMES.values()))
    return found.group(1) if found else ""


def local_jars(jars: Sequence[str], repositories: str | None = None) -> list[str]:
    """Return paths for all jars; coordinates are fetched once into the cache folder.

    `repositories` is Spark's own comma-separated list for `spark.jars.repositories`.
    Raises JarsUnavailable when a path does not exist or the coordinates cannot be fetched.
    """
    paths = [jar for jar in jars if not is_coordinate(jar)]
    missing = [path for path in paths if "://" not in path and not Path(path).is_file()]
    if missing:
        raise JarsUnavailable(
            f"Cannot start Spark: the jar {missing[0]} does not exist. Correct `jars` in the profile."
        )
    coordinates = sorted(jar for jar in jars if is_coordinate(jar))
    return paths + (_cached(coordinates, repositories) if coordinates else [])


def is_coordinate(jar: str) -> bool:
    """Return whether an entry of `jars` is a Maven coordinate (group:artifact:version), not a path."""
    return jar.count(":") == 2 and "/" not in jar


def cache_folder() -> Path:
    """Return the folder that fetched jars are kept in."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "dbt-icebergmv"


def are_cached(jars: Sequence[str]) -> bool:
    """Return whether all coordinates among some jars were fetched before, together."""
    return _folder_of(sorted(filter(is_coordinate, jars))).is_dir()


def _folder_of(coordinates: Sequence[str]) -> Path:
    key = hashlib.sha256("\n".join(coordinates).encode()).hexdigest()[:16]
    return cache_folder() / "jars" / key


def _cached(coordinates: Sequence[str], repositories: str | None) -> list[str]:
    folder = _folder_of(coordinates)
    if not folder.is_dir():
        _fetch(coordinates, folder, repositories)
    return sorted(str(jar) for jar in folder.glob("*.jar"))


def _fetch(coordinates: Sequence[str], folder: Path, repositories: str | None) -> None:
    """Fetch into a scratch folder and rename it, so that others see all jars or none."""
    _logger.info(f"Fetching jars for Spark, once: {', '.join(coordinates)}")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".fetch-", dir=folder.parent))
    except OSError as error:
        raise _unavailable(coordinates, f"the cache folder cannot be written ({error})") from error
    try:
        run_ivy(coordinates, scratch, repositories)
        try:
            (scratch / "jars").rename(folder)
        except OSError:
            # Another process was faster; its jars are the same.
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def run_ivy(coordinates: Sequence[str], scratch: Path, repositories: str | None) -> None:
    """Let Spark's launcher fetch the coordinates into `scratch`. Raises JarsUnavailable."""
    script = scratch / "nothing.py"
    script.write_text("")
    command = [
        str(_spark_home() / "bin" / "spark-submit"),
        *("--master", "local[1]", "--packages", ",".join(coordinates)),
        *("--conf", f"spark.jars.ivy={scratch}", "--conf", "spark.ui.enabled=false"),
    ]
    if repositories:
        # Not as an argument, which others on the machine can read: it may have a login in it.
        properties = scratch / "ivy.conf"
        properties.write_text("spark.jars.repositories " + repositories.replace("\\", "\\\\") + "\n")
        command += ["--properties-file", str(properties), "--load-spark-defaults"]
    try:
        answer = subprocess.run(  # noqa: S603 - Spark's own script, with coordinates from the profile
            [*command, str(script)],
            capture_output=True,
            text=True,
            timeout=FETCH_TIMEOUT_SECONDS,
            check=False,
            cwd=scratch,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise _unavailable(coordinates, str(error)) from error
    if answer.returncode != 0 or not list((scratch / "jars").glob("*.jar")):
        raise _unavailable(coordinates, _reason(answer.stderr + answer.stdout))


def _spark_home() -> Path:
    """Return the folder of Spark, as PySpark's own gateway finds it: PySpark from a registry holds all of Spark."""
    import pyspark  # noqa: PLC0415 - only where jars are fetched

    return Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)


def _reason(output: str) -> str:
    """Return the line of Ivy's long report that says what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for mark in ("unresolved dependency", "UNRESOLVED DEPENDENCIES", "Server access error", "Exception"):
        for line in lines:
            if mark in line:
                return line.removeprefix(":: ").removeprefix('Exception in thread "main" ')
    return lines[-1] if lines else "no jar arrived"


def _unavailable(coordinates: Sequence[str], cause: str) -> JarsUnavailable:
    return JarsUnavailable(
        f"Cannot fetch {', '.join(coordinates)}: {cause}. Connect this machine to a Maven repository "
        "(`spark.jars.repositories` in `server_side_parameters`), or download the jars and list their paths "
        "under `jars` in the profile."
    )
