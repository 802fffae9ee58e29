"""`incremental_strict`: which full refreshes are errors, and when the error comes."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import ViewInfo
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.errors import RefreshRefused
from dbt.adapters.icebergmv.maintenance.planning.plan import Full, NoOp, Overwrite, RefreshPlan
from dbt.adapters.icebergmv.maintenance.planning.policy import enforce
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import RefreshRequest
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import (
    ConfigurationChanges,
    RefreshPolicy,
    ViewConfig,
)
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, LostView, NewView
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables
from tests.support.bases import analysed, base_status, change, status
from tests.support.stub_catalog import StubCatalog

TRACKED = analysed("SELECT CAST(ts AS date) AS k, count(*) AS c FROM t GROUP BY 1")
ADDS_UP = analysed("SELECT id FROM t")
NOT_FOLLOWED = "no output column follows a column of any base table"
UNTRACKED = analysed("SELECT median(id) AS c FROM t")
MERGED = analysed("SELECT count(*) AS c FROM t")
BELOW = analysed("SELECT n, count(*) AS c FROM (SELECT v, count(*) AS n FROM t GROUP BY v) q GROUP BY n")
NOT_BELOW = analysed("SELECT count(*) AS c FROM (SELECT count(*) AS n FROM t GROUP BY v) q WHERE n > 1")
IN_SOME_USE = analysed(
    "WITH c AS (SELECT region, v, id FROM t) SELECT region, sum(v) AS s FROM c GROUP BY region "
    "UNION ALL SELECT concat('all', max(region)), sum(v) FROM c WHERE id = 5"
)
VOLATILE = analysed("SELECT CAST(ts AS date) AS k, rand() AS x FROM t")
ORDERED = analysed("SELECT DISTINCT region, first(id) AS x FROM t GROUP BY region")
STORAGE = ("lake", "ns", "s")
FULL = Full("t was replaced")


def view(
    definition: ViewDefinition,
    policy: RefreshPolicy = "incremental_strict",
    built: bool = True,
    rebuild: str | None = None,
    partial: str | None = None,
) -> Inspection:
    """Return a view that was refreshed before, or one that is to be built."""
    config = ViewConfig("h", STORAGE, refresh_policy=policy)
    request = RefreshRequest(("lake", "ns", "v"), definition.sql, "ns", config, "me", rebuild, partial)
    catalog = StubCatalog()
    known = (request, definition, BaseTables(catalog), status(base_status(change())), (), None)
    if not built:
        return NewView(*known)
    state = ViewState("", "h", STORAGE, "u", 1, (), "full", "", "2024-01-01", "2024-01-01", "me")
    info = ViewInfo("ns", "v", "u", "", (), {}, None)
    return LostView(*known, info, state, ConfigurationChanges(), "its storage table was dropped")


def refused(inspection: Inspection, plan: RefreshPlan = FULL) -> str | None:
    try:
        enforce(inspection, plan)
    except RefreshRefused as error:
        return str(error)
    return None


def test_a_full_refresh_that_nobody_asked_for() -> None:
    assert refused(view(TRACKED)) == (
        "refresh_policy is incremental_strict and only a full refresh is right: t was replaced. "
        "Set refresh_policy to auto, or run with --full-refresh."
    )


@pytest.mark.parametrize("policy", ["auto", "incremental", "full"])
def test_other_policies_refuse_nothing(policy: RefreshPolicy) -> None:
    assert refused(view(TRACKED, policy)) is None


@pytest.mark.parametrize("plan", [NoOp(""), Overwrite("", ())])
def test_other_plans_are_allowed(plan: RefreshPlan) -> None:
    assert refused(view(TRACKED), plan) is None


@pytest.mark.parametrize("definition", [TRACKED, ADDS_UP, UNTRACKED, VOLATILE, ORDERED])
def test_a_run_that_was_asked_to_rebuild(definition: ViewDefinition) -> None:
    """`--full-refresh` is what the error advises, so it is never an error."""
    for built in (True, False):
        assert refused(view(definition, built=built, rebuild="--full-refresh")) is None
        assert refused(view(definition, built=built, partial="--empty")) is None


@pytest.mark.parametrize(
    ("definition", "reason"),
    [
        (TRACKED, None),
        (ADDS_UP, None),
        (MERGED, None),
        (BELOW, None),
        (IN_SOME_USE, None),
        (NOT_BELOW, f"{NOT_FOLLOWED} through GROUP BY without a key of it in the SELECT list"),
        (UNTRACKED, f"{NOT_FOLLOWED} through an aggregate over all rows"),
        (VOLATILE, "rand() gives a new value at every run"),
        (ORDERED, "first() depends on the order in which rows are read"),
    ],
)
def test_a_first_build(definition: ViewDefinition, reason: str | None) -> None:
    """The error comes when the view is built, not at the first change some night later."""
    found = refused(view(definition, built=False), Full("first build"))
    assert (found or "").partition("right: ")[2].partition(". Set")[0] == (reason or "")
