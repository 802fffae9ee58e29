"""The release of Spark that computes rows: its functions may give other values in the next one."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


def release_of(spark_version: str) -> str:
    """Return the release that a version belongs to: 4.0 for 4.0.1."""
    return ".".join(spark_version.split(".")[:2])


@cache
def installed_release() -> str:
    """Return the release of the Spark that runs in this process. Importing PySpark takes long, so its package is asked.

    Returns "" where it is not known: PySpark was not installed as a package.
    """
    try:
        return release_of(version("pyspark"))
    except PackageNotFoundError:
        return ""
