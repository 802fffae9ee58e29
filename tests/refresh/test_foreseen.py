"""What the next refresh of a view will do, as its catalog says it before and after a change."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.planning.foreseen import foresee
from dbt.adapters.icebergmv.maintenance.planning.settle import PlanOptions, Settled
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from tests.refresh.refreshes import Model, Stage, sell


@pytest.mark.parametrize("policy", ["auto", "full"])
def test_from_the_first_build_to_a_change(stage: Stage, policy: str) -> None:
    model = Model(config={"refresh_policy": policy})

    def foreseen() -> tuple[tuple[str, ...], Settled | None]:
        view = inspect(stage.catalog, stage.request(model))
        found = foresee(view, PlanOptions.of_run(view.request.config))
        return found.forecast.kinds, found.settled

    assert foreseen() == (("full",), None)
    stage.refresh(model)
    assert foreseen() == (("none",), None)
    sell("EU")(stage.tables())
    kinds, settled = foreseen()
    assert kinds == (("overwrite",) if policy == "auto" else ("full",))
    assert settled is not None and settled.names == ("region", "total")
