"""A file system for the tables of the default catalog that starts no process for each file it writes.

Without Hadoop's native library, which PySpark does not bring, Hadoop's own class for local files runs `chmod` several
times a file, which takes ten times as long as to write it. Iceberg writes at least three files a commit. This class
sets permissions by Java and writes the same files. It is for the catalog alone: where Spark lists a folder behind a
symbolic link, which Iceberg tables need not, only Hadoop's own class finds what is in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings
from dbt.adapters.icebergmv.spark.settings import CATALOG_PREFIX

ARTIFACT = "com.globalmentor:hadoop-bare-naked-local-fs:0.1.0"
FILE_SYSTEM = "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem"


def is_wanted(catalog: CatalogSettings, given: Sequence[str]) -> bool:
    """Return whether a catalog is in a local folder, and no jar is given by hand, as where no other can be fetched."""
    return catalog.folder is not None and not given


def local_files_conf(catalog: CatalogSettings) -> dict[str, str]:
    """Return the settings by which a catalog uses the file system.

    Hadoop keeps one object a scheme for all of the JVM, whose class the first use decides; so it must not keep this.
    """
    prefix = f"{CATALOG_PREFIX}{catalog.name}.hadoop.fs.file.impl"
    return {prefix: FILE_SYSTEM, f"{prefix}.disable.cache": "true"}
