"""The dbt plugin `icebergmv`: Spark and Apache Iceberg with materialized views."""

from dbt.adapters.base import AdapterPlugin

from dbt.adapters.icebergmv.connections import IcebergMVConnectionManager
from dbt.adapters.icebergmv.credentials import IcebergMVCredentials
from dbt.adapters.icebergmv.impl import IcebergMVAdapter
from dbt.include import icebergmv

Plugin = AdapterPlugin(
    adapter=IcebergMVAdapter,  # type: ignore[arg-type]
    credentials=IcebergMVCredentials,
    include_path=icebergmv.PACKAGE_PATH,
    dependencies=["spark"],
)

__all__ = ["IcebergMVAdapter", "IcebergMVConnectionManager", "IcebergMVCredentials", "Plugin"]
