"""The machine and the versions that a measurement depends on; nothing that names the machine or its folders."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from typing import Any

from pyspark.sql import SparkSession

_PACKAGES = ("dbt-icebergmv", "dbt-core", "dbt-spark", "pyspark", "pyiceberg")


def machine() -> dict[str, Any]:
    """Return cores, memory and versions; Spark must run."""
    jvm: Any = SparkSession.active()._jvm
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "spark_memory": SparkSession.active().conf.get("spark.driver.memory"),
        "architecture": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "java": str(jvm.System.getProperty("java.version")),
        "iceberg": str(jvm.org.apache.iceberg.IcebergBuild.version()),
        **{package: version(package) for package in _PACKAGES},
    }
