"""A SELECT that names a column which its tables do not have: reports say that Spark will refuse it, most likely."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt.adapters.icebergmv.maintenance.reports.explanation import explain
from dbt.adapters.icebergmv.maintenance.reports.explanation_text import explanation_text
from dbt.adapters.icebergmv.maintenance.reports.one_run import status
from dbt.adapters.icebergmv.maintenance.reports.status_text import status_text
from dbt.adapters.icebergmv.maintenance.reports.view_status import Configured
from tests.refresh.refreshes import Model, Stage

WORDS = "asked when it runs: whether Spark accepts {}\n"


@pytest.mark.parametrize("column", ["amout", "o.amout"])
@pytest.mark.parametrize("is_built", [False, True])
def test_the_next_run_fails_or_is_full(stage: Stage, column: str, is_built: bool) -> None:
    if is_built:
        stage.refresh(Model())
    misspelt = replace(Model(), sql=f"SELECT o.region, sum({column}) AS total FROM orders o GROUP BY o.region")
    view = Configured(stage.request(misspelt))
    (found,) = status(stage.catalog, [view])
    assert found.next is not None
    assert found.next.kinds == ("error", "full")
    assert WORDS.format(column) in status_text([found])
    assert "(is amount meant?)" in status_text([found])
    assert "the next run: error or full: asked when it runs" in explanation_text(explain(stage.catalog, view))


def test_a_right_one_is_full_as_ever(stage: Stage) -> None:
    (found,) = status(stage.catalog, [Configured(stage.request(Model()))])
    assert found.next is not None
    assert (found.next.kinds, found.next.questions) == (("full",), ())
