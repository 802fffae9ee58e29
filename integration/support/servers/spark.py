"""Spark servers for tests: processes of their own on loopback, made of the pip PySpark package alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyspark

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings, make_folder
from dbt.adapters.icebergmv.spark.jars import local_jars, required_jars
from dbt.adapters.icebergmv.spark.settings import EXTENSIONS
from integration.support.servers.processes import HOST, answers, free_port, running
from integration.support.spark_settings import BRIEF_JVM, SPARK

MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
THRIFT = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
_HOME = Path(pyspark.__file__).parent
_ENVIRONMENT = {"SPARK_HOME": str(_HOME)}


@dataclass(frozen=True)
class Server:
    """A server that listens."""

    port: int
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """End it without a farewell."""
        self.process.kill()
        self.process.wait(60)


@contextmanager
def connect_server(
    folder: Path,
    catalog: CatalogSettings,
    conf: Mapping[str, str] | None = None,
    port: int | None = None,
    jars: Sequence[Path] = (),
) -> Iterator[Server]:
    """Run a Spark Connect server with the catalog. `conf` wins over what the server is started with.

    `jars` are on its class path, besides those that the catalog needs.
    """
    port = port or free_port()
    own = {"spark.connect.grpc.binding.address": HOST, "spark.connect.grpc.binding.port": str(port)}
    with _server(folder, CONNECT, {**_conf(catalog, jars), **own, **(conf or {})}, (), catalog, port) as process:
        yield Server(port, process)


@contextmanager
def thrift_server(
    folder: Path, catalog: CatalogSettings, conf: Mapping[str, str] | None = None, port: int | None = None
) -> Iterator[Server]:
    """Run a Spark Thrift server with the catalog. `conf` wins over what the server is started with."""
    port = port or free_port()
    own = {
        # The session catalog's own metastore lives in a folder of the test.
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder / 'metastore'};create=true",
        "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
        "spark.hadoop.hive.metastore.schema.verification": "false",
    }
    hive = ("--hiveconf", f"hive.server2.thrift.port={port}", "--hiveconf", f"hive.server2.thrift.bind.host={HOST}")
    with _server(folder, THRIFT, {**_conf(catalog), **own, **(conf or {})}, hive, catalog, port) as process:
        yield Server(port, process)


SERVERS: dict[str, Callable[..., AbstractContextManager[Server]]] = {"connect": connect_server, "thrift": thrift_server}
"""The servers by the `method` of a profile."""


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[str]:
    """Run a standalone cluster of one master and some workers of one core each; yield the master's address."""
    folder.mkdir(parents=True, exist_ok=True)
    spark_class, port = str(_HOME / "bin" / "spark-class"), free_port()
    master = [spark_class, MASTER, "--host", HOST, "--port", str(port), "--webui-port", str(free_port())]
    with ExitStack() as started:
        started.enter_context(running(master, folder / "master.log", lambda: answers(port), _ENVIRONMENT))
        for number in range(workers):
            own = folder / f"worker{number}"
            own.mkdir()
            worker = [spark_class, WORKER, "--host", HOST, "--webui-port", str(free_port()), "--work-dir", str(own)]
            worker += ["--cores", "1", "--memory", "1g", f"spark://{HOST}:{port}"]
            log = own / "worker.log"
            started.enter_context(running(worker, log, partial(_is_registered, log), _ENVIRONMENT))
        yield f"spark://{HOST}:{port}"


def _is_registered(log: Path) -> bool:
    return "Successfully registered with master" in log.read_text()


def _conf(catalog: CatalogSettings, more: Sequence[Path] = ()) -> dict[str, str]:
    jars = [*local_jars(required_jars(pyspark.__version__, catalog.drivers, ())), *map(str, more)]
    return {
        **{key: value for key, value in SPARK.items() if key.startswith("spark.sql.")},
        "spark.driver.extraJavaOptions": BRIEF_JVM,
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.ui.enabled": "false",
        # As in Spark's own folder of jars: a Thrift server does not find all of a jar that `spark.jars` names.
        "spark.driver.extraClassPath": os.pathsep.join(jars),
        "spark.sql.extensions": EXTENSIONS,
        **catalog.spark_conf(),
    }


@contextmanager
def _server(
    folder: Path,
    service: str,
    conf: Mapping[str, str],
    arguments: tuple[str, ...],
    catalog: CatalogSettings,
    port: int,
) -> Iterator[subprocess.Popen[bytes]]:
    folder.mkdir(parents=True, exist_ok=True)
    make_folder(catalog)
    properties = folder / "server.conf"
    properties.write_text("".join(f"{key} {value.replace(chr(92), chr(92) * 2)}\n" for key, value in conf.items()))
    submit = [str(_HOME / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", "2g"]
    command = [*submit, "--properties-file", str(properties), "--class", service, "spark-internal", *arguments]
    with running(command, folder / "server.log", lambda: answers(port), _ENVIRONMENT) as process:
        yield process
