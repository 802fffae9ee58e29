"""Reading materialized views from PySpark: `read_materialized_view`.

It works in a classic session and over Spark Connect, needs no dbt, and writes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings, catalog_settings
from dbt.adapters.icebergmv.catalog_readers import reader_for
from dbt.adapters.icebergmv.maintenance.catalog.over_spark.reader import SparkReader
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, NotReadable
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, parse_name
from dbt.adapters.icebergmv.maintenance.stitching.current_rows import current_query

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    view = _parsed(name)

    def run(sql: str) -> Sequence[Sequence[object]]:
        return spark.sql(sql).collect()

    # A Connect session sends its query anew at every action.
    at_once = not type(spark).__module__.startswith("pyspark.sql.connect")
    try:
        query = current_query(Lake(reader_for(_settings(spark, view[0])), run), view, at_once=at_once)
    except CatalogUnavailable:
        # With a cache, what is read through the session would be as old as that.
        if str(spark.conf.get(f"spark.sql.catalog.{view[0]}.cache-enabled", None)).lower() != "false":
            raise
        query = current_query(Lake(SparkReader(view[0], run), run), view, at_once=at_once)
    return spark.sql(query)


def _parsed(name: str) -> TableName:
    try:
        return parse_name(name)
    except ValueError as error:
        raise NotReadable(f"{error}. Name the view as catalog.schema.view.", subject=f"Cannot read {name!r}") from error


def _settings(spark: SparkSession | ConnectSession, catalog: str) -> CatalogSettings:
    """Return the catalog as the session is configured for it.

    SET lists the keys but hides secret values; the configuration itself has them in a classic session. A Connect
    server keeps them, so PyIceberg's own configuration (PYICEBERG_CATALOG__<NAME>__<KEY>) has to have them.
    """
    prefix = f"spark.sql.catalog.{catalog}."
    keys = [str(row[0]) for row in spark.sql("SET").collect()]
    found = {key.removeprefix(prefix): spark.conf.get(key, None) for key in keys if key.startswith(prefix)}
    properties = {key: value for key, value in found.items() if value is not None}
    if not properties:
        raise CatalogUnavailable(
            f"this session has no settings {prefix}*. "
            "Name the view as catalog.schema.view, with a catalog of this session.",
            subject=f"Cannot read the catalog `{catalog}`",
        )
    return catalog_settings(catalog, None, properties, str(Path.cwd()))
