"""Models as the check of a project's configuration sees them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from dbt.artifacts.resources.v1.config import NodeConfig

from dbt.adapters.icebergmv.impl import IcebergMVConfig

OURS = [f.name for f in fields(IcebergMVConfig)]


@dataclass
class Node:
    """What the check sees of a model."""

    name: str
    config: NodeConfig
    database: str = "lake"
    schema: str = "s"
    original_file_path: str = field(init=False)
    identifier: str = field(init=False)

    def __post_init__(self) -> None:
        self.identifier = str(self.config.alias or self.name)
        self.original_file_path = f"models/{self.name}.sql"


def model(name: str, materialized: str = "materialized_view", **config: Any) -> Any:
    return Node(name, NodeConfig.from_dict({"materialized": materialized, **config}))
