"""Spark for tiny data: the settings change how long a query takes, never what it gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from pyspark.sql import SparkSession

BRIEF_JVM = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote -XX:ReservedCodeCacheSize=128m"
)
"""Options of a JVM that lives for minutes: its second compiler, parallel collector and verifier do not pay for it."""

NO_CLEANER = {"spark.cleaner.referenceTracking": "false"}
"""Each broadcast that Spark cleans up is looked for among all blocks, which took a third of the time of such a JVM."""

# On a handful of rows Spark spends its time on generating code and compiling it.
_BRIEF = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
_BY_PATH = ("spark.sql.catalog.default_iceberg", "spark.sql.catalog.default_rewrite_catalog")
_AS_USERS_RUN_IT = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "4",
}
SPARK = {
    "spark.master": "local[2]",
    "spark.default.parallelism": "1",
    "spark.driver.extraJavaOptions": f"{BRIEF_JVM} -Xmn512m",
    **NO_CLEANER,
    **_BRIEF,
}


def settings_of_the_session() -> dict[str, str]:
    """Return the settings of the active session, without those that Iceberg makes for tables that are read by path."""
    return {key: value for key, value in SparkSession.active().conf.getAll.items() if not key.startswith(_BY_PATH)}


@contextmanager
def with_settings(settings: Mapping[str, str], session: SparkSession | None = None) -> Iterator[None]:
    """Run with other settings of a session, the active one if none is given; afterwards they are as before.

    dbt would leave a session whose settings are not those of its profile, and so would not share one with the test.
    """
    conf = (session or SparkSession.active()).conf
    before: dict[str, str | None] = {key: conf.get(key, None) for key in settings}
    for key, value in settings.items():
        conf.set(key, value)
    try:
        yield
    finally:
        for key, former in before.items():
            if former is None:
                conf.unset(key)
            else:
                conf.set(key, former)


def as_users_run_it() -> AbstractContextManager[None]:
    """Run queries as the product does: with generated code, adaptive execution and several partitions."""
    return with_settings(_AS_USERS_RUN_IT)
