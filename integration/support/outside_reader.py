"""A reader of the lake that knows nothing of this package: a process with Spark, Iceberg and a catalog's address.

Run as a script with options of its JVM and the jars as arguments. Every line of its input is a request in JSON, every line of its output the
answer; `Outside` is the other end of it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Rows = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Answer:
    """What a request gave: rows, or the text of an error; and the seconds since the epoch around it."""

    rows: Rows | None
    error: str | None
    started: float
    ended: float


class Outside:
    """A reader's process. Requests wait for one another."""

    def __init__(self, jars: Sequence[str], log: Path, java_options: str = "") -> None:
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-I", __file__, java_options, *jars],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
        )

    def open(self, session: str, settings: Mapping[str, str]) -> None:
        """Open a session with a configuration of its own."""
        self._ask(session, "open", settings=dict(settings))

    def sql(self, session: str, statement: str) -> Answer:
        """Run a statement."""
        return self._ask(session, "sql", text=statement)

    def close(self) -> list[str]:
        """End the process. Return the packages of this project and of dbt that it had imported."""
        try:
            return list(map(str, (self._ask("", "modules").rows or ((),))[0]))
        finally:
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process.wait(60)
            self._log.close()

    def _ask(self, session: str, what: str, **more: Any) -> Answer:
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError("the reader was started with pipes")
        self._process.stdin.write(json.dumps({"session": session, "what": what, **more}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"the reader has died; see {self._log.name}")
        found = json.loads(line)
        rows = found["rows"]
        return Answer(
            None if rows is None else tuple(map(tuple, rows)), found["error"], found["started"], found["ended"]
        )


def _serve(java_options: str, jars: Sequence[str]) -> None:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder.master("local[2]").config("spark.jars", ",".join(jars))
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.driver.extraJavaOptions": java_options,
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    }.items():
        builder = builder.config(key, value)
    first = builder.getOrCreate()
    sessions: dict[str, SparkSession] = {}

    def answer(request: dict[str, Any]) -> list[Any]:
        what = request["what"]
        if what == "modules":
            return [sorted(m for m in sys.modules if m.split(".")[0] in ("dbt", "integration"))]
        if what == "open":
            session = sessions[request["session"]] = first.newSession()
            for key, value in request["settings"].items():
                session.conf.set(key, value)
            return []
        return [list(row) for row in sessions[request["session"]].sql(request["text"]).collect()]

    for line in sys.stdin:
        rows, error, started = None, None, time.time()
        try:
            rows = answer(json.loads(line))
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"
        found = {"rows": rows, "error": error, "started": started, "ended": time.time()}
        sys.stdout.write(json.dumps(found, default=str) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2:])
