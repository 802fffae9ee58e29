"""Random histories of one view, from inspection to the published view: changes of tables, configuration and storage."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pyarrow as pa
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.table import Table
from pyiceberg.types import StringType

from tests.refresh.refreshes import COUNTED, DAYS, JOINED, ROWS, STORAGE, Model, Stage, employ, reading, sell

MODELS: dict[str, Model] = {
    "by_region": Model(),
    "rows": ROWS,
    "joined": JOINED,
    "days": DAYS,
    "counted": COUNTED,
    "computed": Model(
        "SELECT upper(region) AS region, sum(amount) AS total FROM orders GROUP BY upper(region)",
        (("region", "string"), ("total", "bigint")),
    ),
    "total": Model("SELECT sum(amount) AS total FROM orders", (("total", "bigint"),)),
    "busy": Model(
        "SELECT c, count(*) AS n FROM (SELECT id, count(*) AS c FROM orders GROUP BY id) GROUP BY c",
        (("c", "bigint"), ("n", "bigint")),
    ),
    "ranked": Model(
        "SELECT id, rank() OVER (PARTITION BY day ORDER BY amount) AS r FROM orders",
        (("id", "bigint"), ("r", "bigint")),
    ),
    "random": Model("SELECT region, rand() AS r FROM orders", (("region", "string"), ("r", "double"))),
    "some": Model("SELECT id, region FROM orders LIMIT 5", (("id", "bigint"), ("region", "string"))),
    "stitched": reading("use_stitching"),
    "left": Model(config={"refresh_on_run": False}),
    "clustered": Model(config={"cluster_by": ("total DESC",)}),
    "lagging": Model(config={"target_lag": 7200}),
    "lagging_stitched": reading("use_stitching", target_lag=7200),
    "strict": Model(
        "SELECT max(amount) AS most FROM orders HAVING max(amount) > 1",
        (("most", "bigint"),),
        {"refresh_policy": "incremental_strict"},
    ),
}
CONFIGS: tuple[Mapping[str, Any], ...] = (
    {},
    {"refresh_policy": "incremental"},
    {"refresh_policy": "full"},
    {"incremental": False},
    {"partition_by": ()},
    {"comment": "other words"},
    {"target_lag": 3600},
    {"cluster_by": ()},
)

Tables = Mapping[str, Table]
Act = Callable[[Tables, random.Random], None]


def _sell(tables: Tables, choices: random.Random) -> None:
    sell(*choices.choices(["EU", "US", None], k=choices.randint(1, 3)))(tables)


def _employ(tables: Tables, choices: random.Random) -> None:
    employ(choices.choice(["Ann", "Eve"]))(tables)


def _resell(tables: Tables, choices: random.Random) -> None:
    row = {"id": 1, "day": date(2024, 1, 1), "region": "EU", "amount": choices.randint(1, 99)}
    tables["orders"].overwrite(
        pa.Table.from_pylist([row], schema=schema_to_pyarrow(tables["orders"].schema())), "region = 'EU'"
    )


def _delete(tables: Tables, choices: random.Random) -> None:
    tables["orders"].delete(f"region = '{choices.choice(['EU', 'US', 'nowhere'])}'")


def _nothing(tables: Tables, choices: random.Random) -> None:
    if choices.random() < 0.5:
        sell()(tables)


def _roll_back(tables: Tables, choices: random.Random) -> None:
    orders = tables["orders"]
    snapshot = choices.choice(orders.metadata.snapshots)
    orders.manage_snapshots().set_current_snapshot(snapshot.snapshot_id).commit()


def _add_column(tables: Tables, choices: random.Random) -> None:
    with tables["orders"].update_schema() as update:
        update.add_column(f"more_{len(tables['orders'].schemas())}", StringType())


def _drop_storage(tables: Tables, choices: random.Random) -> None:
    storage = tables.get(STORAGE[2])
    if storage is not None and choices.random() < 0.5:
        storage.catalog.drop_table(storage.name())


ACTS: tuple[Act, ...] = (_sell, _sell, _employ, _resell, _delete, _nothing, _roll_back, _add_column, _drop_storage)


def act(stage: Stage, choices: random.Random) -> None:
    """Change something, or a few things, or nothing; some time passes, or the clock is set back."""
    stage.ahead += timedelta(minutes=choices.choice([0, 20, 50, 50, 90, -30]))
    for _ in range(choices.choice([0, 1, 1, 1, 2])):
        choices.choice(ACTS)(stage.tables(), choices)


def reconfigured(model: Model, choices: random.Random) -> Model:
    """Return the model, at times with another configuration."""
    config = choices.choice(CONFIGS) if choices.random() < 0.3 else {}
    return replace(model, config={**model.config, **config})
