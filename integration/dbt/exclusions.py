"""The classes of dbt's test suite that do not run here, and why. A test holds this list and the suite together."""

from __future__ import annotations

_COMMON = "It is the common part of other classes and has no models of its own."
_UNENFORCED = "Iceberg enforces no constraint, so no row can break one."
_POSTGRES_TEXT = "It compares the text of CREATE VIEW with that of PostgreSQL. BaseEphemeral runs ephemeral models."

EXCLUDED_SUITES: dict[str, str] = {
    "functions": "An Iceberg catalog keeps no functions: Spark refuses CREATE FUNCTION in it.",
    "grants": "Spark has no GRANT for an Iceberg catalog; integration/dbt/test_grants.py has what happens instead.",
}
EXCLUDED: dict[str, str] = {
    "BaseArrayUtils": _COMMON,
    "BaseCachingTest": _COMMON,
    "BaseClonePossible": "Iceberg has no shallow clone; a clone is a view, which BaseCloneNotPossible tests.",
    "BaseConstraintsColumnsEqual": _COMMON,
    "BaseConstraintsRollback": _UNENFORCED,
    "BaseContractSqlHeader": _COMMON,
    "BaseCurrentTimestamp": _COMMON,
    "BaseCurrentTimestampAware": "PySpark gives instants without a zone, which BaseCurrentTimestampNaive tests.",
    "BaseDataTypeMacro": _COMMON,
    "BaseEphemeralMulti": _POSTGRES_TEXT,
    "BaseEphemeralNested": _POSTGRES_TEXT,
    "BaseEscapeSingleQuotesQuote": "Spark escapes a quote by a backslash, which BaseEscapeSingleQuotesBackslash tests.",
    "BaseIncrementalConstraintsRollback": _UNENFORCED,
    "BaseIncrementalContractSqlHeader": "Spark takes one statement at a time, so none can be before CREATE TABLE.",
    "BasePySparkTests": "Koalas is Databricks' own; BasePythonModelTests and our own model return Spark's and pandas.",
    "BaseSeedWithWrongDelimiter": "Columns of a seed are always quoted, so a header with commas is the name of one column.",
    "BaseSnapshotDbtValidToCurrent": "It takes rows by their place in a table without ORDER BY. "
    "BaseSnapshotNewRecordDbtValidToCurrent tests the setting.",
    "BaseTableContractSqlHeader": "Spark takes one statement at a time, so none can be before CREATE TABLE.",
    "BaseTestEmptySeedFlag": "`dbt seed` has no `--empty` in dbt Core 1.11.",
    "BaseUtils": _COMMON,
    "CatalogRelationTypes": "Its names are those of an information schema; here they are dbt's own: table, view, "
    "materialized_view. BaseDocsGenerate tests them.",
}
