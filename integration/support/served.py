"""A project whose Spark is a server: sessions of its own for a test, as the product opens them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.spark.connect import connect_session
from dbt.adapters.icebergmv.spark.thrift import ThriftHandle
from integration.support.life_cycle import Project


class ServedProject(Project):
    """A project of `method: connect` or `thrift`."""

    def session(self, conf: Mapping[str, str]) -> Spark:
        credentials = self.credentials()
        request = credentials.server_request()
        request = replace(request, settings=(*request.settings, *conf.items()))
        if credentials.method == "connect":
            session = connect_session(request, lambda: None)
            return lambda sql: session.sql(sql).collect()
        handle = ThriftHandle(request, (), lambda: None)

        def run(sql: str) -> Sequence[Sequence[object]]:
            cursor = handle.cursor()
            cursor.execute(sql)
            return cursor.fetchall()

        return run
