"""The classes of dbt's test suite that do not run here, and why. A test holds this list and the suite together."""

from __future__ import annotations

_COMMON = "It is the common part of other classes and has no models of its own."
_UNENFORCED = "Iceberg enforces no constraint, so no row can break one."

EXCLUDED: dict[str, str] = {
    "BaseArrayUtils": _COMMON,
    "BaseClonePossible": "Iceberg has no shallow clone; a clone is a view, which BaseCloneNotPossible tests.",
    "BaseConstraintsColumnsEqual": _COMMON,
    "BaseConstraintsRollback": _UNENFORCED,
    "BaseContractSqlHeader": _COMMON,
    "BaseCurrentTimestamp": _COMMON,
    "BaseCurrentTimestampAware": "PySpark gives instants without a zone, which BaseCurrentTimestampNaive tests.",
    "BaseDataTypeMacro": _COMMON,
    "BaseEscapeSingleQuotesQuote": "Spark escapes a quote by a backslash, which BaseEscapeSingleQuotesBackslash tests.",
    "BaseIncrementalConstraintsRollback": _UNENFORCED,
    "BaseIncrementalContractSqlHeader": "Spark takes one statement at a time, so none can be before CREATE TABLE.",
    "BasePySparkTests": "Koalas is Databricks' own; BasePythonModelTests and our own model return Spark's and pandas.",
    "BaseTableContractSqlHeader": "Spark takes one statement at a time, so none can be before CREATE TABLE.",
    "BaseTestEmptySeedFlag": "`dbt seed` has no `--empty` in dbt Core 1.11.",
    "BaseUtils": _COMMON,
}
