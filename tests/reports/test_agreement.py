"""Random histories: what status says of the next refresh, and whether the view is fresh, is what the refresh then does.

Spark computes nothing and answers at random, so every answer that a question can have is met.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError
from dbt.adapters.icebergmv.maintenance.reports.one_run import status
from dbt.adapters.icebergmv.maintenance.reports.view_status import Configured
from tests.randomised.soak import fresh_seed
from tests.refresh.guessing_spark import GuessingSpark
from tests.refresh.refreshes import Model, Stage
from tests.reports.histories import MODELS, act, reconfigured


def compare(stage: Stage, model: Model, choices: random.Random, seen: Counter[str]) -> str | None:
    """Look, refresh, and return how what was said differs from what was done."""
    (said,) = status(stage.catalog, [Configured(stage.request(model))], stage.now())
    spark = GuessingSpark(stage.catalog, model.columns, choices=choices)
    try:
        result, _ = stage.refresh(model, spark)
    except MaintenanceError as error:
        is_said = said.state == "error" or (said.next is not None and "error" in said.next.kinds)
        return None if is_said else f"{error} was not said: {said}"
    if said.next is None or result.kind not in said.next.kinds:
        return f"{result.kind} ({result.reason}) was done: {said}"
    if said.next.held_by is not None:
        seen[f"held by {said.next.held_by}"] += 1
        if spark.asked or spark.said or result.base_tables:
            return f"a view that is left alone was looked at: {said.next}"
    if not said.next.questions:
        seen[f"certain {result.kind}"] += 1
        if spark.asked or result.reason.split(";")[0] != said.next.reason.split(";")[0]:
            return f"{result.kind} ({result.reason}) after {len(spark.asked)} questions: {said.next}"
    else:
        seen[f"open {result.kind}"] += 1
    if said.state == "fresh" and result.kind not in ("none", "restitch"):
        return f"{result.kind} of a fresh view"
    return None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Delete operation did not match any records")
def test_status_says_what_the_next_refresh_does(tmp_path: Path) -> None:
    seed = int(os.environ.get("RANDOMISED_SEED") or fresh_seed())
    seen: Counter[str] = Counter()
    for number, (name, model) in enumerate(MODELS.items()):
        choices = random.Random(seed + number)
        (tmp_path / name).mkdir()
        stage = Stage(tmp_path / name)
        for step in range(6):
            found = compare(stage, reconfigured(model, choices), choices, seen)
            assert found is None, f"RANDOMISED_SEED={seed}, {name}, step {step}: {found}"
            act(stage, choices)
        stage.close()
    print(seen)
    assert {"certain none", "certain overwrite", "certain full", "held by target_lag"} <= seen.keys()
    assert sum(n for what, n in seen.items() if what.startswith("certain")) > seen.total() / 2
