"""The dbt plugin `icebergmv`: Spark and Apache Iceberg with materialized views.

dbt asks this module for `Plugin`, and only then are dbt's own classes and PySpark imported: the engine in
`maintenance` can be used without either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbt.adapters.base import AdapterPlugin


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


def __getattr__(name: str) -> AdapterPlugin:
    """Make `Plugin` when dbt first asks for it. Raises AttributeError for any other name."""
    if name != "Plugin":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    plugin = _plugin()
    globals()[name] = plugin
    return plugin
