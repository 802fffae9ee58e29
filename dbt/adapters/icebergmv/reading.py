"""Reading materialized views from PySpark: `read_materialized_view`.

It works in a classic session and over Spark Connect, needs no dbt, and writes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt.adapters.icebergmv.maintenance.stitching.current_rows import current_query
from dbt.adapters.icebergmv.session_lake import on_lake, parsed_view

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame
    from pyspark.sql.connect.session import SparkSession as ConnectSession


def read_materialized_view(spark: SparkSession | ConnectSession, name: str) -> DataFrame | ConnectDataFrame:
    """Return the rows that a materialized view would hold if it were refreshed now.

    What has not changed is read from the view's storage, the rest is computed from its tables, all at the snapshots of
    this moment. `name` has three parts, in backticks where needed. The catalog is opened with the session's own
    settings; where this process cannot read it, a session that keeps no tables in a cache reads it instead. Raises
    MaintenanceError when the rows cannot be known.
    """
    view = parsed_view(name)
    # A Connect session sends its query anew at every action.
    at_once = not type(spark).__module__.startswith("pyspark.sql.connect")
    return spark.sql(on_lake(spark, view[0], lambda lake: current_query(lake, view, at_once=at_once)))
