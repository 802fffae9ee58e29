"""Spark for tiny data: the settings change how long a query takes, never what it gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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


@contextmanager
def as_users_run_it() -> Iterator[None]:
    """Run queries as the product does: with generated code, adaptive execution and several partitions."""
    conf = SparkSession.active().conf
    for key, value in _AS_USERS_RUN_IT.items():
        conf.set(key, value)
    yield
    for key, value in _BRIEF.items():
        conf.set(key, value)
