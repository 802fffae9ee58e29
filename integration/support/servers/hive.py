"""A Hive metastore on Derby, from the jars in PySpark."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from integration.support.servers.artifacts import SPARK_JARS, dependency, fetched
from integration.support.servers.processes import HOST, answers, free_port, running
from integration.support.spark_settings import BRIEF_JVM

# The metastore's logging asks for it.
_DISRUPTOR = dependency("com.lmax:disruptor:3.4.4", alone=True)
_SITE = {
    "javax.jdo.option.ConnectionURL": "jdbc:derby:;databaseName={folder}/metastore_db;create=true",
    "hive.metastore.warehouse.dir": "{folder}/warehouse",
    "datanucleus.schema.autoCreateAll": "true",
    "hive.metastore.schema.verification": "false",
    "hive.metastore.disallow.incompatible.col.type.changes": "false",
    # The default pool, BoneCP, is not among Spark's jars.
    "datanucleus.connectionPoolingType": "dbcp",
}


@contextmanager
def hive_metastore(folder: Path, settings: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """Run a metastore whose database and warehouse are in `folder`, and give its address.

    `settings` are others than those of the tests.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    entries = "".join(
        f"<property><name>{name}</name><value>{value.format(folder=folder)}</value></property>"
        for name, value in {**_SITE, **settings}.items()
    )
    (folder / "hive-site.xml").write_text(f"<configuration>{entries}</configuration>")
    class_path = os.pathsep.join([str(folder), *map(str, fetched(_DISRUPTOR)), f"{SPARK_JARS}/*"])
    main = "org.apache.hadoop.hive.metastore.HiveMetaStore"
    command = ["java", *BRIEF_JVM.split(), "-cp", class_path, main, "-p", str(port)]
    with running(command, folder / "hive.log", lambda: answers(port)):
        yield f"thrift://{HOST}:{port}"
