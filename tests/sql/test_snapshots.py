"""Tables at a snapshot, in a text."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.sql.rendering import qualified
from dbt.adapters.icebergmv.maintenance.sql.snapshots import snapshots_named, table_at

T, U = qualified("lake", "ns", "t (1)"), qualified("lake", "ns", "u.")


def test_there_and_back() -> None:
    text = f"SELECT * FROM {table_at(T, 12)} UNION ALL SELECT * FROM {table_at(U, 3)} JOIN {table_at(T, 4)} AS x"
    assert snapshots_named(text) == {3, 4, 12}
    assert snapshots_named(text, T) == {4, 12}
    assert snapshots_named(text, U) == {3}


def test_it_may_begin_a_line() -> None:
    assert snapshots_named("SELECT * FROM t\nVERSION AS OF 5") == {5}


def test_a_table_as_it_is_has_no_snapshot() -> None:
    assert snapshots_named(f"SELECT * FROM {T}") == set()


@pytest.mark.parametrize(
    "text",
    ["version as of 5", "VERSION  AS\nOF 5", "FOR SYSTEM_VERSION AS OF 5", "version as of '5'"],
)
def test_people_write_it_in_other_ways(text: str) -> None:
    assert snapshots_named(f"SELECT * FROM t {text}") == {5}
