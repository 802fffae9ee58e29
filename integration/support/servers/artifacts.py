"""Jars of test servers, fetched once by the Ivy that is in PySpark. Spark's own launcher knows no classifiers."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import pyspark

from dbt.adapters.icebergmv.spark.jars import cache_folder

SPARK_JARS = Path(pyspark.__file__).parent / "jars"
_SETTINGS = """
<ivysettings>
  <settings defaultResolver="central"/>
  <caches defaultCacheDir="{cache}"/>
  <resolvers><ibiblio name="central" m2compatible="true"/></resolvers>
</ivysettings>
"""
_MODULE = """
<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="tests" module="server"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>{dependencies}</dependencies>
</ivy-module>
"""


def dependency(coordinate: str, *classifiers: str, alone: bool = False) -> str:
    """Return Ivy's words for `group:artifact:version`: its jar ("" among the classifiers) and those classified.

    `alone`: without what it depends on.
    """
    group, name, version = coordinate.split(":")
    artifacts = "".join(
        f'<artifact name="{name}" type="jar" ext="jar"{f" m:classifier={classifier!r}" if classifier else ""}/>'
        for classifier in classifiers
    )
    conf = "default->master" if alone else "default->master,runtime"
    return f'<dependency org="{group}" name="{name}" rev="{version}" conf="{conf}">{artifacts}</dependency>'


def fetched(*dependencies: str) -> list[Path]:
    """Return the jars of the dependencies and of what they need; they are fetched at the first call."""
    module = _MODULE.format(dependencies="".join(dependencies))
    folder = cache_folder() / "servers" / hashlib.sha256(module.encode()).hexdigest()[:16]
    if not folder.is_dir():
        _fetch(module, folder)
    return sorted(folder.glob("*.jar"))


def _fetch(module: str, folder: Path) -> None:
    """Fetch into a scratch folder and rename it, so that other processes see all jars or none."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".fetch-", dir=folder.parent))
    try:
        (scratch / "settings.xml").write_text(_SETTINGS.format(cache=scratch / "cache"))
        (scratch / "ivy.xml").write_text(module)
        (ivy,) = SPARK_JARS.glob("ivy-*.jar")
        pattern = f"{scratch}/jars/[artifact]-[revision](-[classifier]).[ext]"
        files = ["-settings", f"{scratch}/settings.xml", "-ivy", f"{scratch}/ivy.xml", "-retrieve", pattern]
        answer = subprocess.run(
            ["java", "-jar", str(ivy), "-warn", *files, "-types", "jar", "bundle"],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert answer.returncode == 0, answer.stdout + answer.stderr
        if not folder.is_dir():
            (scratch / "jars").rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
