"""Every step of the registry is what Spark makes of the SQL that readers get."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.predicates.date_functions import STEPS
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_DAY, days_from_civil
from integration.support.lake import LakeProject

YEARS = (1, 1582, 1600, 1900, 1968, 1969, 1970, 2023, 2024, 2100, 9999)
DAYS = [days_from_civil(y, m) + d for y in YEARS for m in (1, 2, 3, 4, 7, 10, 12) for d in (0, 1, 14, 27)]
MICROS = [d * MICROS_PER_DAY + m for d in DAYS for m in (0, 1, 999, 3_599_999_999, 86_399_999_999)]
VALUES = {
    "date": (DAYS, "date_from_unix_date(i)"),
    "timestamp_ntz": (MICROS, "CAST(timestamp_micros(i) AS timestamp_ntz)"),
}
NUMBERS = {"date": "unix_date({})", "timestamp_ntz": "unix_micros(CAST({} AS timestamp))", "int": "{}"}


@pytest.mark.parametrize("argument_type", VALUES)
def test_steps_are_what_spark_computes(argument_type: str, lake: LakeProject) -> None:
    steps = [step for step in STEPS if step.argument_type == argument_type]
    values, argument = VALUES[argument_type]
    numbers = ", ".join(NUMBERS[step.result_type].format(step.sql.format("x")) for step in steps)
    listed = ", ".join(map(str, values))
    assert lake.sql("SELECT current_timezone()")[0][0] in ("UTC", "Etc/UTC")
    rows = lake.sql(f"SELECT i, {numbers} FROM (SELECT i, {argument} AS x FROM explode(array({listed})) AS t(i))")
    assert len(rows) == len(values)
    for value, *found in rows:
        assert dict(zip(steps, found, strict=True)) == {step: step.apply(value) for step in steps}


def test_every_type_of_argument_has_values() -> None:
    assert {step.argument_type for step in STEPS} == set(VALUES)
