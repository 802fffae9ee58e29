"""The state of a view in its properties: there and back, and every way it can be spoilt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import TableVersion
from dbt.adapters.icebergmv.maintenance.errors import StateUnreadable
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import (
    BaseTableState,
    ExpandedView,
    ViewState,
    is_materialized_view,
    read_state,
    storage_table_of,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.streaks import Streak

STATE = ViewState(
    definition="SELECT d, count(*) AS `c` -- it's\nFROM t WHERE x = '\\\\ ${y} é \U0001f600'",
    definition_hash="abc",
    storage_table=("lake", "a b", "__mv_storage__é`.x"),
    storage_uuid="00000000-0000-0000-0000-000000000001",
    storage_snapshot_id=9_007_199_254_740_993,
    base_tables=(
        BaseTableState(("lake", "n", "t"), ("lake", "n", "t"), TableVersion("u1", 2**62 + 1, 0)),
        BaseTableState(("lake", "n", "mv"), ("lake", "n", "__mv_storage__mv"), TableVersion("u2", None, 3)),
    ),
    refresh_kind="overwrite",
    refresh_reason="t: 2 days changed",
    started_at="2024-01-02T03:04:05.006+00:00",
    refreshed_at="2024-01-02T03:04:06.006+00:00",
    owner="O'Brien",
    settings={"spark.sql.ansi.enabled": "true"},
    config={"partition-by": ["days(ts)"], "tblproperties": {"a": "b"}, "comment": None, "column-comments": {}},
    views=(ExpandedView(("lake", "n", "é`.v"), "u3", 7, "def"),),
    clock={"date": "2024-01-02"},
    full_seconds=12.5,
    full_rows=90_000_000_000,
    streaks={"questions": Streak(120_000, 4.2, 2, 1), "whether": Streak(7, 0.5)},
)
PROPERTIES = STATE.to_properties()
TEXT = st.text(max_size=20)


def test_there_and_back() -> None:
    assert read_state("lake.n.v", PROPERTIES) == STATE
    assert read_state("lake.n.v", replace(STATE, partial="--sample").to_properties()).partial == "--sample"
    # In place of what was recorded before.
    asked_well = replace(STATE, streaks={})
    assert read_state("lake.n.v", {**PROPERTIES, **asked_well.to_properties()}) == asked_well


@given(TEXT, TEXT, TEXT, st.text(min_size=1, max_size=5), st.dictionaries(TEXT, TEXT, max_size=3))
def test_any_text_comes_back(sql: str, reason: str, owner: str, name: str, settings_: dict[str, str]) -> None:
    state = replace(
        STATE,
        definition=sql,
        refresh_reason=reason,
        owner=owner,
        settings=settings_,
        config=settings_,
        storage_table=(name, name, name),
        base_tables=(BaseTableState((name, name, name), (name, name, name), TableVersion(owner, 0, 0)),),
    )
    properties = state.to_properties()
    assert read_state("v", properties) == state
    assert storage_table_of(properties) == (name, name, name)
    assert all(isinstance(v, str) for v in properties.values())


def test_a_state_of_a_former_version_has_neither_views_nor_a_clock() -> None:
    # As written before these were recorded.
    properties = {
        "icebergmv.format-version": "1",
        "icebergmv.definition": "SELECT 1 AS a",
        "icebergmv.definition-hash": "x",
        "icebergmv.storage-table": "lake.n.s",
        "icebergmv.storage-uuid": "u",
        "icebergmv.storage-snapshot-id": "1",
        "icebergmv.base-tables": "[]",
        "icebergmv.refresh-kind": "full",
        "icebergmv.refresh-reason": "first build",
        "icebergmv.started-at": "2024-01-02T03:04:05.006+00:00",
        "icebergmv.refreshed-at": "2024-01-02T03:04:06.006+00:00",
        "icebergmv.owner": "o",
        "icebergmv.settings": "{}",
        "icebergmv.config": "{}",
        "icebergmv.partial": "",
        "icebergmv.checksum": "23fe6f0ebd87a27f",
    }
    state = read_state("v", properties)
    assert (state.views, state.clock) == ((), {})


def test_properties_of_others_do_not_matter() -> None:
    assert read_state("v", {**PROPERTIES, "comment": "x", "icebergmvx": "y"}) == STATE


CHANGES = [(k, c) for k, v in sorted(PROPERTIES.items()) for c in ("x", "", "1", None) if c != v]


@pytest.mark.parametrize(("key", "change"), CHANGES)
def test_every_changed_property_is_noticed(key: str, change: str | None) -> None:
    spoilt = {k: v for k, v in PROPERTIES.items() if k != key}
    if change is not None:
        spoilt[key] = change
    with pytest.raises(StateUnreadable, match=r"lake\.n\.v.*--full-refresh"):
        read_state("lake.n.v", spoilt)


def test_added_and_swapped_properties_are_noticed() -> None:
    with pytest.raises(StateUnreadable):
        read_state("v", {**PROPERTIES, "icebergmv.extra": "1"})
    swapped = {
        **PROPERTIES,
        "icebergmv.started-at": PROPERTIES["icebergmv.refreshed-at"],
        "icebergmv.refreshed-at": PROPERTIES["icebergmv.started-at"],
    }
    with pytest.raises(StateUnreadable, match="changed by hand"):
        read_state("v", swapped)


def test_newer_format_asks_for_an_upgrade() -> None:
    with pytest.raises(StateUnreadable, match=r"written in format 2 .*Upgrade dbt-icebergmv"):
        read_state("v", {**PROPERTIES, "icebergmv.format-version": "2", "icebergmv.future": "x"})


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from(sorted(PROPERTIES)) | st.text(max_size=5), st.text(max_size=10)))
def test_nonsense_is_unreadable_and_nothing_worse(properties: dict[str, str]) -> None:
    with pytest.raises(StateUnreadable):
        read_state("v", properties)


def test_what_is_a_materialized_view() -> None:
    assert is_materialized_view(PROPERTIES)
    assert not is_materialized_view({"comment": "a view", "icebergmv.owner": "x"})


@pytest.mark.parametrize("text", ["", "a.b", "`a.b.c"])
def test_storage_table_that_cannot_be_read_is_none(text: str) -> None:
    assert storage_table_of({"icebergmv.storage-table": text}) is None
    assert storage_table_of({}) is None
