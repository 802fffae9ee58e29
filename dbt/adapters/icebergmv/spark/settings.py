"""The Spark configuration of a profile: our defaults, the catalog, then the user's own settings, which win."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings
from dbt.adapters.icebergmv.maintenance.catalog.secrets import is_secret

EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
DEFAULT_CATALOG = "spark.sql.defaultCatalog"
CATALOG_PREFIX = "spark.sql.catalog."
WHICH_CATALOG = ("type", "catalog-impl", "uri", "warehouse")
"""What makes two catalogs of one name the same."""
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
# Read once, when the JVM starts; a running context cannot change them.
STATIC_SQL_KEYS = frozenset({"spark.sql.extensions", "spark.sql.catalogImplementation", "spark.sql.warehouse.dir"})


@dataclass(frozen=True)
class SparkRequest:
    """What a profile asks of Spark."""

    catalog: CatalogSettings
    schema: str
    parameters: tuple[tuple[str, str], ...]
    jars: tuple[str, ...]
    log_folder: str

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two requests the same session."""
        return (self.schema, *sorted(self.catalog.spark_conf().items()), *sorted(self.parameters))


def spark_conf(catalog: CatalogSettings, schema: str, user: Mapping[str, str], scratch: str) -> dict[str, str]:
    """Return the whole configuration of a Spark that this process starts, on its own machine or on a cluster.

    `scratch` is a folder that lives as long as the process; what Spark would otherwise leave in the current
    directory goes there.
    """
    cores, master = os.cpu_count() or 1, user.get("spark.master", "local[*]")
    defaults = {
        "spark.app.name": "dbt-icebergmv",
        "spark.master": master,
        "spark.driver.memory": "4g",
        # The workers of a cluster have to reach the driver.
        **({**_LOOPBACK, **_few_tasks(cores)} if master.startswith("local") else {}),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(max(4, cores)),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": f"{scratch}/spark-warehouse",
        "spark.sql.extensions": EXTENSIONS,
        **catalog.spark_conf(),
    }
    conf = {**defaults, **session_conf(catalog.name, schema, user), **user}
    conf["spark.sql.extensions"] = _with_iceberg(conf["spark.sql.extensions"])
    return conf


def _few_tasks(cores: int) -> dict[str, str]:
    """Return the setting that lets one task read many small files.

    Of small scans Iceberg makes tasks of 16 MiB, and counts a file as 4 MiB at least, as if it had to be opened over a
    network: a task for every four files. On one machine the tasks then take longer than the files. Of so large ones a
    scan of 128 MiB, which is Iceberg's own size of a task, still has one for every core.
    """
    return {"spark.sql.iceberg.read.split-size": str(max(16, 128 // cores) * 2**20)}


def session_conf(catalog: str, schema: str, user: Mapping[str, str]) -> dict[str, str]:
    """Return what every session of a profile is set to, wherever its Spark runs; `user` are the profile's own settings.

    A server keeps its own static settings and its own catalog; a session there is given these alone.
    """
    defaults = {
        # dbt-spark switches ANSI mode off so that Spark 3 and 4 agree; its macros are written for that.
        "spark.sql.ansi.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        # insert_overwrite replaces only the partitions it has rows for. Set here once, because a SET in one
        # model would be seen by every thread.
        "spark.sql.sources.partitionOverwriteMode": "dynamic",
        DEFAULT_CATALOG: catalog,
        f"spark.sql.catalog.{catalog}.default-namespace": schema,
        # Cached tables would hide what another process committed between two statements.
        **{f"spark.sql.catalog.{name}.cache-enabled": "false" for name in (catalog, *_iceberg_catalogs(user))},
    }
    return {**defaults, **runtime_conf(user)}


def _iceberg_catalogs(user: Mapping[str, str]) -> list[str]:
    """Return the names of the Iceberg catalogs that settings describe by their class."""
    return [
        key.removeprefix(CATALOG_PREFIX)
        for key, value in user.items()
        if key.startswith(CATALOG_PREFIX) and value.startswith("org.apache.iceberg.spark.")
    ]


def setting_text(value: object) -> str:
    """Return a value of YAML as Spark and Iceberg want it: true and false must not become Python's True and False."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def launch_conf(conf: Mapping[str, str]) -> dict[str, str]:
    """Return the part that the JVM needs on its command line, where other users of the machine can read it.

    SQL and Hadoop settings follow through the gateway, and so does whatever sounds secret. A repository, which may have
    a login in its address, is needed there for `spark.jars.packages` alone: other jars are fetched before.
    """
    later = ["spark.sql.", "spark.hadoop.", "spark.executor."]
    if "spark.jars.packages" not in conf:
        later.append("spark.jars.repositories")
    return {key: value for key, value in conf.items() if not key.startswith(tuple(later)) and not is_secret(key)}


def runtime_conf(conf: Mapping[str, str]) -> dict[str, str]:
    """Return the part that a session inside an already running Spark can take."""
    return {key: value for key, value in conf.items() if key.startswith("spark.sql.") and key not in STATIC_SQL_KEYS}


def _with_iceberg(extensions: str) -> str:
    names = [name.strip() for name in extensions.split(",") if name.strip()]
    return ",".join(names if EXTENSIONS in names else [EXTENSIONS, *names])
