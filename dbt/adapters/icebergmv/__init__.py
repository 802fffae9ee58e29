"""The dbt plugin `icebergmv`: Spark and Apache Iceberg with materialized views; and these by name, for PySpark.

dbt asks this module for `Plugin`, and only then are dbt's own classes and PySpark imported: the engine in
`maintenance` can be used without either.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbt.adapters.base import AdapterPlugin

    from dbt.adapters.icebergmv.by_name import (
        explain_materialized_view,
        maintain_materialized_view,
        materialized_view_status,
        materialized_view_versions,
        refresh_materialized_view,
        rollback_materialized_view,
    )
    from dbt.adapters.icebergmv.reading import read_materialized_view

__all__ = [
    "explain_materialized_view",
    "maintain_materialized_view",
    "materialized_view_status",
    "materialized_view_versions",
    "read_materialized_view",
    "refresh_materialized_view",
    "rollback_materialized_view",
]


def _plugin() -> AdapterPlugin:
    from dbt.adapters.base import AdapterPlugin  # noqa: PLC0415

    from dbt.adapters.icebergmv.credentials import IcebergMVCredentials  # noqa: PLC0415
    from dbt.adapters.icebergmv.impl import IcebergMVAdapter  # noqa: PLC0415
    from dbt.include.icebergmv import PACKAGE_PATH  # noqa: PLC0415

    return AdapterPlugin(
        adapter=IcebergMVAdapter,  # type: ignore[arg-type]
        credentials=IcebergMVCredentials,
        include_path=PACKAGE_PATH,
        dependencies=["spark"],
    )


def __getattr__(name: str) -> Any:
    """Make `Plugin`, or import a function, when it is first asked for. Raises AttributeError for any other name."""
    if name == "Plugin":
        value: Any = _plugin()
    elif name in __all__:
        module = "reading" if name == "read_materialized_view" else "by_name"
        value = getattr(import_module(f"{__name__}.{module}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
