"""The contract of a materialized view: dbt's own check asks Spark, so it runs only when it could find something."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.icebergmv.maintenance.catalog.reader import ColumnInfo
from dbt.adapters.icebergmv.maintenance.status.configured.declared_columns import Declared, are_declared


def declared_columns(model: Mapping[str, Any]) -> Declared | None:
    """Return the columns of a model's contract with their types, None when no contract is enforced."""
    if not (model["config"].get("contract") or {}).get("enforced"):
        return None
    columns: Mapping[str, Any] = model.get("columns") or {}
    return {str(column["name"]): column.get("data_type") for column in columns.values()}


@dataclass
class ContractCheck:
    """The check of one model in one run: `ask` raises when the SELECT has other columns than are `declared`.

    Spark is asked at most once, and never without a contract.
    """

    declared: Declared | None
    ask: Callable[[], object]
    _asked: bool = False

    def ask_spark(self) -> None:
        """Run dbt's check, before the first statement of a refresh."""
        if self.declared is not None and not self._asked:
            self._asked = True
            self.ask()

    def compare(self, stored: Sequence[ColumnInfo]) -> None:
        """After a run without a statement: the SELECT has the columns of the view; ask Spark if they are in doubt."""
        if self.declared is not None and not are_declared(self.declared, stored):
            self.ask_spark()
