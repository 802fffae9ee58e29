"""A file system for the tables of the default catalog that starts no process for each file it writes.

Without Hadoop's native library, which PySpark does not bring, Hadoop's own class for local files runs `chmod` several
times a file, which takes ten times as long as to write it. Iceberg writes at least three files a commit. This class
sets permissions by Java and writes the same files. It is for the catalog alone: where Spark lists a folder behind a
symbolic link, which Iceberg tables need not, only Hadoop's own class finds what is in it.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings
from dbt.adapters.icebergmv.spark.errors import JarsUnavailable
from dbt.adapters.icebergmv.spark.jars import are_cached, local_jars
from dbt.adapters.icebergmv.spark.settings import CATALOG_PREFIX

_logger = AdapterLogger("IcebergMV")
ARTIFACT = "com.globalmentor:hadoop-bare-naked-local-fs:0.1.0"
FILE_SYSTEM = "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem"


def is_wanted(catalog: CatalogSettings, given: Sequence[str], conf: Mapping[str, str]) -> bool:
    """Return whether a catalog is in a local folder, and the user chose neither jars nor a class for local files.

    Where a folder hands its group on (the bit setgid), only `chmod` keeps that of the folders in it.
    """
    if catalog.folder is None or given or "spark.hadoop.fs.file.impl" in conf:
        return False
    folder = Path(catalog.folder)
    return not (folder.exists() and folder.stat().st_mode & stat.S_ISGID)


def jars_with_local_files(jars: Sequence[str], repositories: str | None) -> tuple[list[str], bool]:
    """Return the paths of jars, and whether that of the file system is among them, without which all works as well.

    Jars that were fetched without it are used as they are: there may be no way to fetch more.
    """
    with_it = [*jars, ARTIFACT]
    if are_cached(with_it) or not are_cached(jars):
        try:
            return local_jars(with_it, repositories), True
        except JarsUnavailable as error:
            _logger.info(f"Spark writes local files without {ARTIFACT}, more slowly: {error}")
    return local_jars(jars, repositories), False


def local_files_conf(catalog: CatalogSettings) -> dict[str, str]:
    """Return the settings by which a catalog uses the file system.

    Hadoop keeps one object a scheme for all of the JVM, whose class the first use decides; so it must not keep this.
    """
    prefix = f"{CATALOG_PREFIX}{catalog.name}.hadoop.fs.file.impl"
    return {prefix: FILE_SYSTEM, f"{prefix}.disable.cache": "true"}
