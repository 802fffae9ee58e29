"""Which settings of a session are recorded with a view, and which of them the analysis of SQL does not understand."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.status.session.session_settings import meaning_settings, not_understood

VALUES = [
    "spark.sql.jsonGenerator.ignoreNullFields",
    "spark.sql.json.enablePartialResults",
    "spark.sql.chunkBase64String.enabled",
    "spark.sql.icu.caseMappings.enabled",
    "spark.sql.columnNameOfCorruptRecord",
    "spark.sql.variant.allowDuplicateKeys",
    "spark.sql.avro.datetimeRebaseModeInRead",
    "spark.sql.execution.pythonUDF.arrow.enabled",
    "spark.sql.session.timeZone",
    "spark.sql.ansi.enabled",
]
MEANING = [
    "spark.sql.caseSensitive",
    "spark.sql.preserveCharVarcharTypeInfo",
    "spark.sql.charAsVarchar",
    "spark.sql.collation.objectLevel.enabled",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.analyzer.preferColumnOverLcaInArrayIndex",
    "spark.sql.lateralColumnAlias.enableImplicitResolution",
]
OTHERS = [
    "spark.sql.shuffle.partitions",
    "spark.sql.adaptive.enabled",
    "spark.sql.iceberg.read.split-size",
    "spark.sql.codegen.wholeStage",
    "spark.app.name",
]


@pytest.mark.parametrize("key", [*VALUES, *MEANING])
def test_settings_that_change_rows_are_recorded(key: str) -> None:
    assert meaning_settings({key: "x", **dict.fromkeys(OTHERS, "y")}) == {key: "x"}


@pytest.mark.parametrize("key", VALUES)
def test_values_of_functions_are_no_matter_of_the_analysis(key: str) -> None:
    assert not_understood({key: "x"}) is None


@pytest.mark.parametrize("key", MEANING)
def test_what_names_and_types_mean_is(key: str) -> None:
    assert not_understood({key: "x", "spark.sql.ansi.enabled": "true"}) == key
