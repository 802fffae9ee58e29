"""What people read, as files: judge a difference, then set UPDATE_GOLDEN=1 and run the test again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from dbt.adapters.icebergmv.maintenance.reports.explanation import explain, without_status
from dbt.adapters.icebergmv.maintenance.reports.explanation_text import explanation_text, project_text
from dbt.adapters.icebergmv.maintenance.reports.one_run import status
from dbt.adapters.icebergmv.maintenance.reports.status_text import status_text
from dbt.adapters.icebergmv.maintenance.reports.view_status import Configured, Recorded, ViewStatus
from tests.refresh.refreshes import DAYS, JOINED, ROWS, STORAGE, VIEW, Model, Stage, reading, sell, stable

GOLDEN = Path(__file__).parent / "golden"
UPDATE = "UPDATE_GOLDEN"
LIMITED = Model("SELECT max(id) AS most, rand() AS r FROM (SELECT id FROM orders LIMIT 5)", ())
BROKEN = Model("SELECT id + 1 FROM orders", ())
_SIZE = re.compile(r"\b[0-9]+(\.[0-9])? k?B\b")


def found(stage: Stage, model: Model, name: str, hours: int = 2) -> ViewStatus:
    """Return the status of the stage's view some hours from now, under another name."""
    now = datetime.now(timezone.utc) + timedelta(hours=hours)
    (one,) = status(stage.catalog, [Configured(stage.request(model))], now)
    return replace(one, name=f"lake.analytics.{name}")


def statuses(stage: Stage) -> str:
    """Return a status of each sort in one table."""
    rows = [found(stage, Model(), "never_built")]
    stage.refresh(Model())
    rows.append(found(stage, Model(), "orders_by_region"))
    sell("EU")(stage.tables())
    rows.append(found(stage, Model(), "orders_by_region_later", 26))
    rows.append(found(stage, Model("SELECT region, max(id) AS m FROM orders GROUP BY region"), "changed_select"))
    rows.append(found(stage, BROKEN, "broken"))
    gone, problem = status(
        stage.catalog,
        [Recorded(VIEW, note="no model of this project has its name"), Recorded(VIEW, problem="no macro `nope`")],
        datetime.now(timezone.utc) + timedelta(minutes=5),
    )
    rows += [replace(gone, name="lake.analytics.gone"), replace(problem, name="lake.analytics.no_macro")]
    for name, model in {"days": DAYS, "rows": ROWS}.items():
        stage.refresh(model)
        sell("EU", None)(stage.tables())
        rows.append(found(stage, model, name))
    windowed = reading("use_view_query", staleness_window=3 * 3600)
    stage.refresh(windowed)
    rows += [found(stage, windowed, "within_its_window"), found(stage, windowed, "past_its_window", 4)]
    lagging = Model(config={"target_lag": 3 * 3600})
    stage.refresh(lagging)
    rows.append(found(stage, lagging, "fresh_within_its_lag"))
    sell("EU")(stage.tables())
    rows += [found(stage, lagging, "within_its_lag"), found(stage, lagging, "past_its_lag", 4)]
    stage.catalog.iceberg.drop_table(f"ns.{STORAGE[2]}")
    rows.append(found(stage, windowed, "lost"))
    return status_text(rows)


def explained(model: Model, *, stale: bool = True) -> Callable[[Stage], str]:
    """Return a report that explains a model after it was refreshed and, if `stale`, its table changed."""

    def report(stage: Stage) -> str:
        stage.refresh(model)
        if stale:
            sell("EU")(stage.tables())
        later = datetime.now(timezone.utc) + timedelta(hours=2)
        return explanation_text(explain(stage.catalog, Configured(stage.request(model)), later))

    return report


def would_be(stage: Stage) -> str:
    """Explain a model that is no materialized view."""
    explanation = without_status(explain(stage.catalog, Configured(stage.request(LIMITED))))
    return explanation_text(explanation, "table")


def project(stage: Stage) -> str:
    """Explain a project: a line for each model."""
    models = {"by_region": Model(), "days": DAYS, "joined": JOINED, "limited": LIMITED, "unnamed": BROKEN}
    lines = []
    for name, model in models.items():
        one = explain(stage.catalog, Configured(stage.request(model)))
        lines.append((replace(one, name=f"lake.ns.{name}"), "table" if name == "limited" else "materialized_view"))
    return project_text(lines)


REPORTS: dict[str, Callable[[Stage], str]] = {
    "status": statuses,
    "no_views": lambda stage: status_text([]),
    "explain_overwrite": explained(Model()),
    "explain_fresh": explained(Model(), stale=False),
    "explain_join": explained(JOINED),
    "explain_merge": explained(DAYS),
    "explain_what_it_would_be": would_be,
    "explain_project": project,
}


@pytest.mark.parametrize("name", REPORTS)
def test_reports(name: str, tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    text = _SIZE.sub("N kB", stable(REPORTS[name](stage), stage)) + "\n"
    stage.close()
    file = GOLDEN / f"{name}.txt"
    if os.environ.get(UPDATE):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_every_file_is_of_a_report() -> None:
    assert {file.stem for file in GOLDEN.glob("*.txt")} == set(REPORTS)
