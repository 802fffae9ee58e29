"""Tables of the default catalog are written without a process for each file, and are the same files.

In a process of its own: the one of the tests reads and writes all files so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.spark.local_files import FILE_SYSTEM
from integration.support.local_files import CLASS_PATH

SCRIPT = """
import json, sys
from dbt.adapters.icebergmv.catalog_properties import catalog_settings
from dbt.adapters.icebergmv.spark.session import spark_session
from dbt.adapters.icebergmv.spark.settings import SparkRequest

folder = sys.argv[1]
spark = spark_session(SparkRequest(catalog_settings("lake", f"{folder}/lake", {}, "/"), "s", (), (), folder))
spark.sql("create namespace lake.s")
spark.sql("create table lake.s.t using iceberg as select 1 as a")
spark.range(3).write.parquet(f"{folder}/there/files")
java = spark._jvm
table = java.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, "lake.s.t")
of_table = table.io().newInputFile(table.location() + "/x").getFileSystem()
others = java.org.apache.hadoop.fs.FileSystem.get(
    java.java.net.URI("file:///"), spark._jsparkSession.sessionState().newHadoopConf()
)
print(json.dumps({
    "of_table": of_table.getClass().getName(),
    "others": others.getClass().getName(),
    "behind_a_link": spark.read.parquet(f"{folder}/link").count(),
    "location": table.location(),
}))
"""


pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("local")
    (made / "link").symlink_to(made / "there" / "files")
    return made


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, str | int]:
    """What a Spark of its own says of the files in a folder."""
    environment = {key: value for key, value in os.environ.items() if key != CLASS_PATH}
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    answer: dict[str, str | int] = json.loads(ended.stdout.splitlines()[-1])
    return answer


def test_tables_are_written_without_a_process_for_each_file(found: dict[str, str | int]) -> None:
    assert found["of_table"] == FILE_SYSTEM


def test_everything_else_uses_the_class_of_hadoop(found: dict[str, str | int]) -> None:
    """The other class does not follow a link to a folder that is listed."""
    assert found["others"] != FILE_SYSTEM
    assert found["behind_a_link"] == 3


def test_files_have_the_permissions_and_checksums_that_they_had(found: dict[str, str | int], folder: Path) -> None:
    ours = sorted((Path(str(found["location"])) / "data").glob("*.parquet"))
    theirs = sorted((folder / "there" / "files").glob("*.parquet"))
    assert ours and theirs
    assert {file.stat().st_mode for file in ours} == {file.stat().st_mode for file in theirs}
    assert all((file.parent / f".{file.name}.crc").is_file() for file in (*ours, *theirs))
