"""The analysis finds every step of the registry in a SELECT, by the SQL that the step itself gives."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.predicates.date_functions import DATE_FUNCTIONS, STEPS
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import KeyFunction, Monotone
from tests.support.bases import analysed

COLUMNS = {"date": "d", "timestamp_ntz": "ts"}


def functions_of(expression: str) -> list[KeyFunction]:
    """Return how the expression tracks columns of a base table, in a session in UTC."""
    definition = analysed(f"SELECT {expression} AS k FROM t")
    return [track.function for column in definition.columns or () for track in column.tracks]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_every_step_is_found(step: Monotone) -> None:
    assert functions_of(step.sql.format(COLUMNS[step.argument_type])) == [(step,)]


@pytest.mark.parametrize("step", DATE_FUNCTIONS, ids=lambda step: step.name)
def test_a_function_of_a_date_takes_a_timestamp_and_an_expression(step: Monotone) -> None:
    ((cast, found),) = functions_of(step.sql.format("ts"))
    assert (cast.name, found) == ("cast as date", step)
    ((truncated, found),) = functions_of(step.sql.format("(trunc(d, 'MM'))"))
    assert (truncated.name, found) == ("trunc to month", step)
