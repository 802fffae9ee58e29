"""Local files without a process for each of their permissions.

Without its native library, which PySpark does not have, Hadoop starts `chmod` four times for each file that it writes.
"""

from __future__ import annotations

import os
from pathlib import Path

from integration.support.servers.artifacts import dependency, fetched

LIBRARY = "com.globalmentor:hadoop-bare-naked-local-fs:0.1.0"
"""Hadoop's local file system with these steps by Java's own API."""
_CORE_SITE = """<configuration>
  <property><name>fs.file.impl</name><value>com.globalmentor.apache.hadoop.fs.BareLocalFileSystem</value></property>
</configuration>
"""
# Spark's launcher adds it to the class path of every JVM, and Hadoop reads `core-site.xml` from there.
_CLASS_PATH = "SPARK_DIST_CLASSPATH"


def set_permissions_in_java() -> None:
    """Let every Spark that this process or its children start write local files without other processes."""
    if _CLASS_PATH in os.environ:
        return
    (jar,) = fetched(dependency(LIBRARY, alone=True))
    _write_once(jar.parent / "core-site.xml")
    os.environ[_CLASS_PATH] = os.pathsep.join([str(jar), str(jar.parent)])


def _write_once(file: Path) -> None:
    if not file.exists():
        scratch = file.with_suffix(f".{os.getpid()}")
        scratch.write_text(_CORE_SITE)
        scratch.replace(file)
