"""The engine: definition -> status -> plan -> SQL -> commit. Imports neither dbt nor Spark."""
