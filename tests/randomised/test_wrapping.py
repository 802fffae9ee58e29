"""Random views with a SELECT around them: without it they give the same rows."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.definition.edits.wrapping import without_wrapping
from tests.randomised.choices import Choices
from tests.randomised.database import Database
from tests.randomised.histories import make_case
from tests.support.shares import one_of

AROUND = ("SELECT * FROM ({}) w", "WITH w AS ({}) SELECT * FROM w")
SEEDS = 50


@pytest.mark.slow
@pytest.mark.parametrize("first", one_of(3, [0, SEEDS, 2 * SEEDS]))
def test_the_rows_stay(first: int, database: Database) -> None:
    changed = 0
    for seed in range(first, first + SEEDS):
        case = make_case(Choices(seed), keys=())
        database.in_zone(case.zone)
        for table, rows in case.start.items():
            database.load(table, rows)
        for around in AROUND:
            wrapped = around.format(case.view.sql)
            inside = without_wrapping(wrapped)
            changed += inside != wrapped
            if not any(clock in wrapped.upper() for clock in ("CURRENT_", "NOW()", "LOCALTIMESTAMP")):
                assert database.rows(inside) == database.rows(wrapped), wrapped
    assert changed > SEEDS
