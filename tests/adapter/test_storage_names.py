"""No two models write one storage table, and no name of one is another one for Spark."""

from __future__ import annotations

from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.storage_names import configured_storage, refuse_variables
from dbt.adapters.icebergmv.view_settings import check_settings
from tests.support.view_models import OURS, model


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, ("lake", "s", "__mv_storage__orders")),
        ({"storage_table_prefix": "mv_"}, ("lake", "s", "mv_orders")),
        ({"storage_schema": "below"}, ("lake", "below", "__mv_storage__orders")),
    ],
)
def test_name_of_a_storage_table(config: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert configured_storage(config, ("lake", "s", "orders")) == expected


@pytest.mark.parametrize(
    "other",
    [
        model("mv_orders", "table"),
        model("MV_Orders", "view"),
        model("other", "incremental", alias="mv_orders"),
        model("a_seed", "seed", alias="mv_orders"),
    ],
)
def test_a_name_that_another_model_uses_is_refused(other: Any) -> None:
    with pytest.raises(DbtRuntimeError) as caught:
        check_settings([other, model("orders", storage_table_prefix="mv_")], OURS)
    assert f"its storage table lake.s.mv_orders has a name that {other.name} uses too. Set" in str(caught.value.msg)


@pytest.mark.parametrize(
    "other",
    [
        model("mv_orders", "ephemeral"),
        model("mv_order", "table"),
        model("orders_too", storage_table_prefix="mv_"),
        model("mv_orders", "table", alias="another"),
    ],
)
def test_other_names_are_let_alone(other: Any) -> None:
    check_settings([other, model("orders", storage_table_prefix="mv_")], OURS)


def test_a_view_that_is_a_table_itself_has_no_storage_table() -> None:
    check_settings([model("mv_orders", "table"), model("orders", storage_table_prefix="mv_", layout="table")], OURS)


@pytest.mark.parametrize("name", [("lake", "${USER}_dev", "orders"), ("lake", "s", "pay${env}")])
def test_what_spark_replaces_is_no_name(name: tuple[str, str, str]) -> None:
    with pytest.raises(InvalidConfig, match="which Spark replaces in every statement"):
        refuse_variables(("lake", "s", "fine$"), name)


def test_two_views_of_one_storage_table_are_refused() -> None:
    one, other = (model(name, alias="r", storage_schema="stores") for name in ("r1", "r2"))
    other.schema = "x"
    with pytest.raises(DbtRuntimeError) as caught:
        check_settings([one, other], OURS)
    assert "its storage table lake.stores.__mv_storage__r has a name that r1 uses too. Set" in str(caught.value.msg)
