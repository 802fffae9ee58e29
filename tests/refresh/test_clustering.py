"""cluster_by as a refresh carries it out: the statements, and which changes of it need none of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import Column
from dbt.adapters.icebergmv.maintenance.planning.storage_fit import order_of
from dbt.adapters.icebergmv.maintenance.status.configured.clustering import stored_order
from tests.refresh.refreshes import COUNTED, ROWS, STORAGE, Model, Stage, sell

BY_TOTAL = Model(config={"cluster_by": ("total DESC",)})
FLAT = Model(config={"cluster_by": ("total DESC",), "partition_by": ()})
KEY = "write.distribution-mode"


def orders(said: list[str]) -> list[str]:
    """Return the statements about the order of rows."""
    return [s.split("`.`", 2)[-1] for s in said if s.startswith("ALTER TABLE") and (" WRITE " in s or KEY in s)]


def configured(model: Model, **config: Any) -> Model:
    return replace(model, config={**model.config, **config})


def test_the_table_is_ordered_before_rows_are_written(stage: Stage) -> None:
    _, said = stage.refresh(BY_TOTAL)
    at = next(n for n, s in enumerate(said) if " WRITE " in s)
    assert said[at].endswith("WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY `total` DESC NULLS LAST")
    assert said[at - 1].startswith("CREATE OR REPLACE TABLE")
    assert not [s for s in said[:at] if s.startswith("INSERT")]
    sell("EU")(stage.tables())
    result, said = stage.refresh(BY_TOTAL)
    assert (result.kind, orders(said)) == ("overwrite", [])


def test_without_partitions_each_task_gets_a_range(stage: Stage) -> None:
    _, said = stage.refresh(FLAT)
    assert orders(said) == ["__mv_storage__sales` WRITE ORDERED BY `total` DESC NULLS LAST"]


def test_another_order_is_altered_in_place(stage: Stage) -> None:
    stage.refresh(Model())
    before = stage.tables()[STORAGE[2]].metadata.current_snapshot_id
    result, said = stage.refresh(BY_TOTAL)
    assert (result.kind, result.reason.split("; ")[1:]) == ("none", ["cluster_by is total DESC, and was not set"])
    assert len(orders(said)) == 1
    assert stage.refresh(BY_TOTAL)[1] == []
    other = configured(BY_TOTAL, cluster_by=("region", "total"))
    assert [s.split("BY ")[-1] for s in orders(stage.refresh(other)[1])] == [
        "`region` ASC NULLS FIRST, `total` ASC NULLS FIRST"
    ]
    result, said = stage.refresh(Model())
    assert (result.kind, [s.split("` ", 1)[-1] for s in orders(said)]) == (
        "none",
        ["WRITE UNORDERED", f"UNSET TBLPROPERTIES ('{KEY}')"],
    )
    assert stored_order(stage.tables()[STORAGE[2]]) == ()
    assert stage.tables()[STORAGE[2]].metadata.current_snapshot_id == before


def test_a_table_that_is_made_anew_is_ordered_again(stage: Stage) -> None:
    stage.refresh(BY_TOTAL)
    for model in (configured(BY_TOTAL, partition_by=("total",)), FLAT):
        result, said = stage.refresh(model)
        assert (result.kind, len(orders(said))) == ("full", 1)
    counted = configured(COUNTED, cluster_by=("orders",))
    assert orders(stage.refresh(counted)[1])[0].endswith("ORDERED BY `orders` ASC NULLS FIRST")
    assert orders(stage.refresh(ROWS)[1]) == [f"__mv_storage__sales` UNSET TBLPROPERTIES ('{KEY}')"]
    assert stored_order(stage.tables()[STORAGE[2]]) == ()


def test_a_refresh_that_died_before_it_ordered_the_table_is_made_good(stage: Stage) -> None:
    stage.refresh(BY_TOTAL)
    with stage.tables()[STORAGE[2]].update_sort_order():
        pass
    sell("EU")(stage.tables())
    assert len(orders(stage.refresh(BY_TOTAL)[1])) == 1


@pytest.mark.parametrize("model", [BY_TOTAL, FLAT])
def test_what_the_model_says_of_distribution_stays(stage: Stage, model: Model) -> None:
    told = configured(model, tblproperties={KEY: "none"})
    _, said = stage.refresh(told)
    assert orders(said) == ["__mv_storage__sales` WRITE LOCALLY ORDERED BY `total` DESC NULLS LAST"]
    _, said = stage.refresh(configured(told, cluster_by=()))
    assert orders(said)[-1].endswith(f"SET TBLPROPERTIES ('{KEY}' = 'none')")


def test_what_is_no_column_is_refused_before_anything_is_written(stage: Stage) -> None:
    with pytest.raises(InvalidConfig) as caught:
        stage.refresh(configured(Model(), cluster_by=("totals",)))
    assert str(caught.value) == (
        "Cannot refresh lake.ns.sales: cluster_by is 'totals' and the view has no column totals. It has region, total."
    )
    assert STORAGE[2] not in stage.tables()
    stage.refresh(Model())
    with pytest.raises(InvalidConfig, match="no column totals"):
        stage.refresh(configured(Model(), cluster_by=("totals",)))


def test_nested_columns_and_hidden_ones_are_none_to_order_by(stage: Stage) -> None:
    columns = [Column("xs", "array<int>"), Column("icebergmv_key_x", "int"), Column("n", "int")]
    config = stage.request(Model()).config
    assert [s.column for s in order_of(replace(config, cluster_by=("N",)), columns)] == ["n"]
    with pytest.raises(InvalidConfig, match="cluster_by has xs, which is array<int>"):
        order_of(replace(config, cluster_by=("n", "xs")), columns)


def test_a_view_that_is_a_table_is_ordered_once_it_is_there(stage: Stage) -> None:
    """CREATE … AS SELECT writes rows and state at once, before a table could have an order."""
    _, said = stage.refresh(configured(BY_TOTAL, layout="table"))
    assert [s.split("`lake`.`ns`.")[1] for s in said if " WRITE " in s] == [
        "`sales` WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY `total` DESC NULLS LAST"
    ]
    _, said = stage.refresh(configured(BY_TOTAL, layout="table"))
    assert orders(said) == []


def test_properties_that_are_not_asked_for_any_more_go_with_the_former_columns(stage: Stage) -> None:
    """CREATE OR REPLACE TABLE keeps them."""
    stage.refresh(configured(ROWS, tblproperties={"my.x": "1", "write.spark.fanout.enabled": "true"}))
    _, said = stage.refresh(configured(COUNTED, tblproperties={"my.y": "2"}))
    assert [s for s in said if "UNSET" in s] == [
        "ALTER TABLE `lake`.`ns`.`__mv_storage__sales` UNSET TBLPROPERTIES ('my.x')"
    ]
