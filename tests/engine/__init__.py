"""Tests of the engine: no dbt, no Spark, no JVM."""
