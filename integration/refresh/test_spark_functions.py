"""spark_functions.txt against the Spark that runs."""

from __future__ import annotations

import re

from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import FUNCTIONS
from integration.support.lake import LakeProject

TABLE = "dbt/adapters/icebergmv/maintenance/definition/syntax/spark_functions.txt"


def test_the_table_has_every_function_of_this_spark_and_no_other(lake: LakeProject) -> None:
    version = str(lake.sql("SELECT version()")[0][0]).split(" ", maxsplit=1)[0]
    shown = {row[0] for row in lake.sql("SHOW SYSTEM FUNCTIONS") if re.fullmatch(r"[a-z]\w*", row[0])}
    listed = {f.name for f in FUNCTIONS.values() if not (f.since_4_1 and version.startswith("4.0."))}
    gained = ", ".join(sorted(shown - listed))
    assert not gained, (
        f"Spark {version} has functions that {TABLE} lacks. Add a row with what is known of each: {gained}"
    )
    lost = ", ".join(sorted(listed - shown))
    assert not lost, f"Spark {version} lacks functions that have a row in {TABLE}: {lost}"
