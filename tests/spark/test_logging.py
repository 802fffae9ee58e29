"""What Spark logs goes where `log4j2.properties` says."""

from __future__ import annotations

from pathlib import Path

from dbt.adapters.icebergmv.spark.session import LOGGING


def test_spark_finds_how_to_log() -> None:
    # With a file that is not there, Spark says nothing of it and logs as it likes.
    assert "appender.stderr.target = SYSTEM_ERR" in Path(LOGGING).read_text()
