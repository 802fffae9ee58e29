"""Local files without a process for each of their permissions.

The product has this for the tables of its default catalog alone; tests have it for all files and all catalogs.
"""

from __future__ import annotations

import os
from pathlib import Path

from dbt.adapters.icebergmv.spark.local_files import ARTIFACT, FILE_SYSTEM
from integration.support.servers.artifacts import dependency, fetched

_CORE_SITE = f"""<configuration>
  <property><name>fs.file.impl</name><value>{FILE_SYSTEM}</value></property>
</configuration>
"""
# Spark's launcher adds it to the class path of every JVM, and Hadoop reads `core-site.xml` from there.
CLASS_PATH = "SPARK_DIST_CLASSPATH"


def set_permissions_in_java() -> None:
    """Let every Spark that this process or its children start write local files without other processes."""
    if CLASS_PATH in os.environ:
        return
    (jar,) = fetched(dependency(ARTIFACT, alone=True))
    _write_once(jar.parent / "core-site.xml")
    os.environ[CLASS_PATH] = os.pathsep.join([str(jar), str(jar.parent)])


def _write_once(file: Path) -> None:
    if not file.exists():
        scratch = file.with_suffix(f".{os.getpid()}")
        scratch.write_text(_CORE_SITE)
        scratch.replace(file)
