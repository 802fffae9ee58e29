"""The engine: keeps materialized views right. Imports neither dbt nor Spark.

In: a SELECT, its configuration, a catalog reader, and a function that runs SQL. Out: what it ran, and a result.
Rooms, each of which imports only from those after it: operations, reports, refresh, stitching, planning, status,
definition, catalog, sql, predicates.
"""
