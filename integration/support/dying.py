"""Runs that die before a statement, in this process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager


class Dead(Exception):
    """A process that is gone: nothing it would still do reaches Spark."""


@contextmanager
def dies_before(step: int) -> Iterator[dict[str, list[str]]]:
    """Let the n-th statement of each model and all after it fail, clean-up included, as after a kill.

    Yield what was run, by model.
    """
    add_query, run = IcebergMVConnectionManager.add_query, defaultdict[str, list[str]](list)

    def counted(self: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        kind, _, name = str(self.get_thread_connection().name).rpartition(".")
        if kind.startswith("model"):
            if len(run[name]) + 1 >= step:
                raise Dead("killed")
            run[name].append(" ".join(sql.rsplit("*/", maxsplit=1)[-1].split()[:3]))
        return add_query(self, sql, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IcebergMVConnectionManager, "add_query", counted)
        yield run
