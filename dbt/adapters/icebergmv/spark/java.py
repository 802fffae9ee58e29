"""Finding Java before Spark needs it, so that one sentence reports its absence."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dbt.adapters.icebergmv.spark.errors import JavaUnusable

OLDEST = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_MEND = (
    f"Install Java {OLDEST} or newer (for example Eclipse Temurin), and put it on the PATH or point JAVA_HOME at it."
)


def require_java() -> None:
    """Return when Spark will find a Java that it can run on; raise JavaUnusable otherwise."""
    command = _java_command()
    try:
        answer = subprocess.run(  # noqa: S603 - the command is the user's own Java
            [command, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise JavaUnusable(f"Cannot start Spark: running {command} failed ({error}). {_MEND}") from error
    version = java_version(answer.stderr + answer.stdout)
    if version is None:
        raise JavaUnusable(f"Cannot start Spark: {command} does not show its version. {_MEND}")
    if version < OLDEST:
        raise JavaUnusable(f"Cannot start Spark: {command} is Java {version}, and Iceberg needs {OLDEST}. {_MEND}")


def java_version(text: str) -> int | None:
    """Return the major version in what `java -version` prints (8 for "1.8.0"), None when it is not there."""
    found = _VERSION.search(text)
    return int(found.group(1)) if found else None


@contextmanager
def utf8_locale() -> Iterator[None]:
    """Let a JVM that is started inside see a UTF-8 locale.

    Java takes the encoding of file names from the locale: under `C`, as in most containers, it cannot open a
    folder with an accent in its name.
    """
    current = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    if sys.platform != "linux" or "utf" in current.lower():
        yield
        return
    before = os.environ.get("LC_ALL")
    os.environ["LC_ALL"] = "C.UTF-8"
    try:
        yield
    finally:
        if before is None:
            del os.environ["LC_ALL"]
        else:
            os.environ["LC_ALL"] = before


def _java_command() -> str:
    """Return the Java that Spark's own start script would take: JAVA_HOME before PATH."""
    home = os.environ.get("JAVA_HOME")
    if home:
        command = Path(home) / "bin" / "java"
        if not command.exists():
            raise JavaUnusable(f"Cannot start Spark: JAVA_HOME is {home}, but there is no bin/java in it. {_MEND}")
        return str(command)
    found = shutil.which("java")
    if found is None:
        raise JavaUnusable(f"Cannot start Spark: Java is not installed. {_MEND}")
    return found
