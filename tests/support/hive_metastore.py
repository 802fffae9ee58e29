"""A Hive metastore for reading, over the database of a SQL catalog; its entries are as Iceberg writes them."""

from __future__ import annotations

import socketserver
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from hive_metastore.ThriftHiveMetastore import Processor
from hive_metastore.ttypes import MetaException, NoSuchObjectException, Table
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from tests.support.serving import serve

_TYPES = {"TABLE": "ICEBERG", "VIEW": "ICEBERG-VIEW"}


class HiveMetastore:
    """The server. It runs in a thread until it is closed, and answers what a reader asks."""

    def __init__(self, database: Path) -> None:
        self._database = database
        processor = Processor(self)

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                socket = TSocket()
                socket.setHandle(self.request)
                protocol = TBinaryProtocol(TBufferedTransport(socket))
                try:
                    while True:
                        processor.process(protocol, protocol)
                except TTransportException:
                    # The client has hung up.
                    return

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        serve(self._server)

    @property
    def uri(self) -> str:
        """Return the address of the metastore."""
        return f"thrift://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()

    def get_all_databases(self) -> list[str]:
        return [str(row[0]) for row in self._query("select distinct namespace from iceberg_namespace_properties")]

    def get_all_tables(self, db_name: str) -> list[str]:
        return [str(entry.tableName) for entry in self._entries(db_name)] + ["not_of_iceberg"] * (db_name == "ns")

    def get_table(self, dbname: str, tbl_name: str) -> Table:
        for entry in self._entries(dbname):
            if entry.tableName == tbl_name:
                return entry
        raise NoSuchObjectException(f"{dbname}.{tbl_name} table not found")

    def get_table_objects_by_name(self, dbname: str, tbl_names: list[str]) -> list[Table]:
        found = [entry for entry in self._entries(dbname) if entry.tableName in tbl_names]
        return [*found, Table(dbName=dbname, tableName="not_of_iceberg", parameters={})]

    def _entries(self, namespace: str) -> list[Table]:
        rows = self._query(
            "select table_name, metadata_location, coalesce(iceberg_type, 'TABLE') from iceberg_tables "
            "where table_namespace = ?",
            namespace,
        )
        return [
            Table(
                dbName=namespace,
                tableName=name,
                parameters={"table_type": _TYPES[kind], "metadata_location": location},
            )
            for name, location, kind in rows
        ]

    def _query(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        try:
            with closing(sqlite3.connect(self._database, timeout=10)) as connection:
                return connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise MetaException(f"the metastore says no: {error}") from error
