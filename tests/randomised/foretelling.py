"""What status says of a refresh, beside what the refresh then does."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from dbt.adapters.icebergmv.maintenance.planning.forecast import Forecast, forecast_of, kinds_of
from dbt.adapters.icebergmv.maintenance.planning.plan import RefreshPlan
from tests.randomised.planners import Planner, Situation


@dataclass
class Foretelling:
    """Notes each refresh whose kind was not foretold; `certain` counts, by kind, those with nothing left open."""

    wrong: list[str] = field(default_factory=list)
    certain: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)

    def watch(self, situation: Situation, plan: RefreshPlan) -> None:
        """Compare a plan with what was foretold of it, also as the second choice of a refresh that cannot merge."""
        found = forecast_of(*situation)
        definition, _, request = situation
        if plan.kind not in kinds_of(definition, request.policy, request.incremental):
            self.wrong.append(f"{definition.sql}\nis never to be a {plan.kind}: {plan.reason}")
        self._compare(situation, found, plan)
        merging = replace(situation.request, merges=True)
        if not situation.request.merges and forecast_of(*situation[:2], merging).plan.kind == "merge":
            self._compare(situation, forecast_of(*situation[:2], merging), plan)
            return
        (self.open if found.questions else self.certain)[plan.kind] += 1

    def _compare(self, situation: Situation, found: Forecast, plan: RefreshPlan) -> None:
        if plan.kind not in found.kinds or (not found.questions and found.kinds != (plan.kind,)):
            said = f"{found.kinds} {found.questions}"
            self.wrong.append(f"{situation.definition.sql}\n{said}\n{plan.kind}: {plan.reason}")

    @property
    def planner(self) -> Planner:
        """Return the right planner, watched."""
        return Planner(watch=self.watch)
