"""Spark reads the texts as the tests of the parser say: with a condition, or with an alias in its place."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from integration.support.lake import LakeProject
from tests.support.condition_texts import ALIASES, CONDITIONS


@pytest.mark.parametrize(("texts", "is_condition"), [(ALIASES, False), (CONDITIONS, True)])
def test_conditions_as_spark_parses_them(lake: LakeProject, texts: list[str], is_condition: bool) -> None:
    lake.sql("SELECT 1")
    parser = SparkSession.active()._jsparkSession.sessionState().sqlParser()
    plans = {sql: str(parser.parsePlan(sql).toString()) for sql in texts}
    found = {sql: "Filter" in plan or "Having" in plan for sql, plan in plans.items()}
    assert found == dict.fromkeys(texts, is_condition), plans
