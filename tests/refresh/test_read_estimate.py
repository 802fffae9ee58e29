"""The bytes that a plan reads of the base tables, beside the sizes of the files in question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.planning import write
from dbt.adapters.icebergmv.maintenance.planning.cost import read_estimate
from tests.refresh.refreshes import DAYS, ORDERS, ROWS, SCENARIOS, Model, Scenario, Stage, nothing, sell
from tests.support.shares import one_of

Size = Callable[[Table, Table], int]


def of(table: Table, *regions: str | None) -> int:
    """Return the size of the files of some regions, of all if none is named."""
    files = table.inspect.files().to_pylist()
    return sum(f["file_size_in_bytes"] for f in files if not regions or f["partition"]["region"] in regions)


def of_last_append(table: Table) -> int:
    """Return the size of the files that came last."""
    snapshot = table.current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    return int(snapshot.summary["added-files-size"] or 0)


def resell(tables: dict[str, Table]) -> None:
    """Write all orders of one region again, with other amounts."""
    row = {"id": 1, "day": date(2024, 1, 1), "region": "EU", "amount": 99}
    tables["orders"].overwrite(pa.Table.from_pylist([row], schema=schema_to_pyarrow(ORDERS)), "region = 'EU'")


CASES: dict[str, tuple[Scenario, Size]] = {
    "full": (SCENARIOS["first_build"], lambda orders, _: of(orders)),
    "full_again": (SCENARIOS["full"], lambda orders, _: of(orders)),
    "nothing": (SCENARIOS["no_op"], lambda *_: 0),
    "overwrite": (SCENARIOS["overwrite_replace_where"], lambda orders, _: of(orders, "EU", None)),
    "rows": (SCENARIOS["overwrite_delete_insert"], lambda orders, _: of(orders, "EU")),
    "join": (SCENARIOS["overwrite_join"], lambda orders, regions: of(orders, "EU") + of(regions, "EU")),
    "append": (SCENARIOS["append"], lambda orders, _: of_last_append(orders)),
    "merge": (SCENARIOS["merge"], lambda orders, _: of_last_append(orders)),
    "restitch": (SCENARIOS["restitch"], lambda *_: 0),
    "twice": (
        Scenario("", "full", None, nothing, replace(ROWS, sql=f"{ROWS.sql} UNION ALL {ROWS.sql}")),
        lambda orders, _: 2 * of(orders),
    ),
}


@pytest.mark.parametrize("name", one_of(2, CASES))
def test_estimated_bytes(name: str, tmp_path: Path) -> None:
    scenario, size = CASES[name]
    stage = Stage(tmp_path)
    result, _ = stage.play(scenario)
    orders, regions = (stage.catalog.iceberg.load_table(f"ns.{table}") for table in ("orders", "regions"))
    assert result.kind == scenario.kind
    assert result.estimated_bytes == size(orders, regions)
    stage.close()


def test_both_versions_of_rows_that_changed(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    before = of(stage.catalog.iceberg.load_table("ns.orders"), "EU")
    result, _ = stage.play(Scenario("", "merge", DAYS, lambda tables: resell({**tables}), DAYS))
    assert result.kind == "merge"
    assert result.estimated_bytes == before + of(stage.catalog.iceberg.load_table("ns.orders"), "EU")
    stage.close()


def test_few_rows_are_not_gathered_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the model says how rows are distributed, or the table is not partitioned, or more is read."""
    told = Model(config={"tblproperties": {"write.distribution-mode": "hash"}})
    flat = Model(config={"partition_by": ()})
    expected = {"few": (Model(), 1 << 20, True), "told": (told, 1 << 20, False), "flat": (flat, 1 << 20, False)}
    expected["many"] = (Model(), 10, False)
    for name, (model, few, direct) in expected.items():
        monkeypatch.setattr(write, "FEW_BYTES", few)
        (tmp_path / name).mkdir()
        stage = Stage(tmp_path / name)
        _, statements = stage.play(Scenario("", "overwrite", model, sell("EU"), model))
        (insert,) = (s for s in statements if s.startswith("INSERT"))
        assert ("`distribution-mode` = 'none'" in insert) is direct, name
        stage.close()


def test_large_tables_are_not_opened_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_estimate, "COUNTED_FILES", 2)
    stage = Stage(tmp_path)
    result, _ = stage.play(Scenario("", "overwrite", Model(), sell("EU"), Model()))
    assert result.estimated_bytes is None
    stage.close()
