"""One Spark per process, started by the first statement that needs it, and one session per profile."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import pyspark
from dbt.adapters.events.logging import AdapterLogger
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from dbt.adapters.icebergmv.catalog_properties import SPARK_CATALOG_CLASS, CatalogSettings, make_folder
from dbt.adapters.icebergmv.spark.errors import SparkUnavailable, spark_errors, spark_message
from dbt.adapters.icebergmv.spark.jars import local_jars, required_jars
from dbt.adapters.icebergmv.spark.java import require_java, utf8_locale
from dbt.adapters.icebergmv.spark.local_files import is_wanted, jars_with_local_files, local_files_conf
from dbt.adapters.icebergmv.spark.settings import (
    CATALOG_PREFIX,
    WHICH_CATALOG,
    SparkRequest,
    launch_conf,
    runtime_conf,
    session_conf,
    spark_conf,
)
from dbt.adapters.icebergmv.spark.shared import SharedSessions

_logger = AdapterLogger("IcebergMV")
LOG_FILE = "spark.log"
LOG_TAIL_LINES = 15
LOGGING = Path(__file__).with_name("log4j2.properties")
# A JVM that ran out of memory may answer no more; ended, it gives an error that dbt can show.
_JAVA_OPTIONS = f"-Dlog4j2.configurationFile={LOGGING.as_uri()} -XX:+ExitOnOutOfMemoryError"


def spark_session(request: SparkRequest) -> SparkSession:
    """Return the session for this request, starting Spark when none runs in this process.

    All threads share it. Raises SparkUnavailable.
    """
    return _sessions.get(request.key, lambda: _opened(request))


def _opened(request: SparkRequest) -> SparkSession:
    _make_folder(request.catalog)
    # Not getActiveSession: it is the session of the calling JVM thread, and none in a worker thread of dbt.
    return _reused(request) if SparkContext._active_spark_context else _started(request)


def _make_folder(catalog: CatalogSettings) -> None:
    try:
        make_folder(catalog)
    except OSError as error:
        raise SparkUnavailable(
            f"Cannot start Spark: the folder of the catalog `{catalog.name}` cannot be made ({error}). "
            "Give another `warehouse` in the profile."
        ) from error


def _is_alive(session: SparkSession) -> bool:
    return session.sparkContext._jsc is not None and session.sparkContext is SparkContext._active_spark_context


_sessions = SharedSessions(_is_alive)


def _started(request: SparkRequest) -> SparkSession:
    if os.environ.get("SPARK_REMOTE"):
        raise SparkUnavailable(
            "Cannot start Spark: SPARK_REMOTE is set, so PySpark would connect to a server, "
            "but `method: session` runs Spark inside the dbt process. Unset SPARK_REMOTE."
        )
    require_java()
    scratch = tempfile.mkdtemp(prefix="dbt-icebergmv-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    conf = spark_conf(request.catalog, request.schema, dict(request.parameters), scratch)
    needed = required_jars(pyspark.__version__, request.catalog.drivers, request.jars)
    repositories = conf.get("spark.jars.repositories")
    if is_wanted(request.catalog, request.jars, conf):
        jars, is_there = jars_with_local_files(needed, repositories)
        conf = {**(local_files_conf(request.catalog) if is_there else {}), **conf}
    else:
        jars = local_jars(needed, repositories)
    conf["spark.jars"] = ",".join([*jars, *filter(None, [conf.get("spark.jars")])])
    conf["spark.driver.extraJavaOptions"] = " ".join(
        [_JAVA_OPTIONS, conf.get("spark.driver.extraJavaOptions", "")]
    ).strip()
    _logger.info(f"Spark starts in this process ({conf['spark.master']})")
    # A JVM whose context failed to start, for a setting say, can be asked again.
    gateway = SparkContext._gateway or _gateway(launch_conf(conf), Path(request.log_folder))
    session = _session(gateway, conf, request.log_folder)
    # PySpark writes one long JSON record to the console for every failed query; dbt reports the error itself.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    return session


def _session(gateway: Any, conf: dict[str, str], log_folder: str) -> SparkSession:
    try:
        context = SparkContext(gateway=gateway, conf=SparkConf(loadDefaults=False).setAll(list(conf.items())))
        session = SparkSession(context)
        # Spark gives up on a master in a thread of its own, so the context may stop just after it was made.
        session.sql("SELECT 1").schema  # noqa: B018
        return session
    except spark_errors() as error:
        if SparkContext._active_spark_context is not None:
            SparkContext._active_spark_context.stop()
        # What follows the first line is where the context was created and stopped.
        cause = spark_message(error).split("\n", 1)[0].rstrip(".")
        raise SparkUnavailable(
            f"Cannot start Spark with `spark.master: {conf['spark.master']}`: {cause}. "
            f"Check that the master accepts applications; {LOG_FILE} in {log_folder} says more."
        ) from error


def _gateway(conf: dict[str, str], log_folder: Path) -> Any:
    """Start the JVM with all of its output in the log file, and return PySpark's way to talk to it."""
    log = _open_log(log_folder)
    start = log.tell()
    try:
        with utf8_locale():
            return launch_gateway(
                SparkConf(loadDefaults=False).setAll(list(conf.items())),
                popen_kwargs={"stdout": log, "stderr": log},
            )
    except Exception as error:
        # PySpark raises its own errors, py4j's and OSError, by what stopped the JVM.
        log.flush()
        raise SparkUnavailable(
            f"Cannot start Spark: {error}. The end of {log.name}:\n{_tail(Path(log.name), start)}"
        ) from error


def _open_log(folder: Path) -> IO[bytes]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        log = (folder / LOG_FILE).open("ab")
    except OSError:
        log = (Path(tempfile.gettempdir()) / f"dbt-icebergmv-{os.getpid()}-{LOG_FILE}").open("ab")
    log.seek(0, os.SEEK_END)
    return log


def _tail(file: Path, start: int) -> str:
    with file.open("rb") as log:
        log.seek(start)
        lines = log.read().decode(errors="replace").splitlines()
    return "\n".join(lines[-LOG_TAIL_LINES:])


def _reused(request: SparkRequest) -> SparkSession:
    """Use the Spark that runs already (a notebook, a test): its own session if that has our catalog, else a new one."""
    active = SparkSession.builder.getOrCreate()
    if not active.sparkContext._jvm.org.apache.spark.util.Utils.classIsLoadable(SPARK_CATALOG_CLASS):  # type: ignore[union-attr]
        raise SparkUnavailable(
            "Cannot use the Spark session that runs in this process: it was started without the Iceberg jar. "
            "Start it with an iceberg-spark-runtime jar in `spark.jars`, or stop it before calling dbt."
        )
    settings = session_conf(request.catalog.name, request.schema, dict(request.parameters))
    # Names without a schema are dbt's own business: it writes all of them in full.
    settings.pop(f"spark.sql.catalog.{request.catalog.name}.default-namespace")
    wanted = {**settings, **request.catalog.spark_conf()}
    if all(active.conf.get(key, None) == value for key, value in wanted.items()):
        return active
    session = active.newSession()
    own = runtime_conf(spark_conf(request.catalog, request.schema, dict(request.parameters), ""))
    _forget_other_catalogs(session, request.catalog, own)
    for key, value in own.items():
        session.conf.set(key, value)
    return session


def _forget_other_catalogs(session: SparkSession, own: CatalogSettings, wanted: Mapping[str, str]) -> None:
    """Unset what Spark was started with for other catalogs of the same names: a server must not get another's login."""
    given = session.conf.getAll
    for name in {key.removeprefix(CATALOG_PREFIX).split(".")[0] for key in wanted if key.startswith(CATALOG_PREFIX)}:
        prefix = f"{CATALOG_PREFIX}{name}."
        # A catalog that only Spark reads may be described in part; Spark was started with the rest.
        is_whole = name == own.name and bool(own.pyiceberg)
        identity = [prefix + key for key in WHICH_CATALOG if is_whole or prefix + key in wanted]
        if any(given.get(key) != wanted.get(key) for key in identity):
            for key in [key for key in given if key.startswith(prefix)]:
                session.conf.unset(key)
