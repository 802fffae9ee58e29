"""A REST catalog over the files of a SQLite catalog, for reading alone, that lets a test act between two loads.

A reader loads the tables of one query one after the other. Here a test decides what is committed before each load.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.support.serving import serve

_READS = [
    "GET /v1/{prefix}/namespaces/{namespace}",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "GET /v1/{prefix}/namespaces/{namespace}/views/{view}",
]


class SlowCatalog:
    """The catalog. `before_load` is called with the name of a table each time before the table is looked up.

    `shown` gives, for names in it, the metadata file to show in place of the one in the database.
    """

    def __init__(self, database: Path) -> None:
        self.before_load: Callable[[str], None] = lambda name: None
        self.shown: dict[str, str] = {}
        self._database = database
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        serve(self._server)

    @property
    def settings(self) -> dict[str, str]:
        """Return the Spark configuration of a catalog `lake` for a reader."""
        key = "spark.sql.catalog.lake"
        return {
            key: "org.apache.iceberg.spark.SparkCatalog",
            f"{key}.type": "rest",
            f"{key}.uri": f"http://127.0.0.1:{self._server.server_address[1]}",
            f"{key}.cache-enabled": "false",
        }

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str) -> dict[str, object] | None:
        """Return the body of the answer to a GET; None for what does not exist."""
        parts = [unquote(p) for p in urlsplit(path).path.strip("/").split("/")]
        if parts == ["v1", "config"]:
            return {"defaults": {}, "overrides": {}, "endpoints": _READS}
        namespace = parts[2].replace("\x1f", ".")
        if len(parts) == 3:
            return {"namespace": namespace.split("."), "properties": {}} if self._has(namespace) else None
        kind, name = parts[3], parts[4]
        if kind == "tables" and self._location(namespace, name, "TABLE") is not None:
            self.before_load(name)
        location = self._location(namespace, name, {"tables": "TABLE", "views": "VIEW"}[kind])
        if location is None:
            return None
        location = self.shown.get(name, location)
        content = Path(location.removeprefix("file:")).read_bytes()
        metadata = json.loads(gzip.decompress(content) if ".gz." in location else content)
        return {"metadata-location": location, "metadata": metadata, "config": {}}

    def _location(self, namespace: str, name: str, kind: str) -> str | None:
        rows = self._rows(
            "SELECT metadata_location FROM iceberg_tables WHERE table_namespace = ? AND table_name = ?"
            " AND coalesce(iceberg_type, 'TABLE') = ?",
            (namespace, name, kind),
        )
        return str(rows[0][0]) if rows else None

    def _has(self, namespace: str) -> bool:
        return bool(self._rows("SELECT 1 FROM iceberg_tables WHERE table_namespace = ?", (namespace,)))

    def _rows(self, query: str, values: tuple[str, ...]) -> list[tuple[object, ...]]:
        connection = sqlite3.connect(self._database, timeout=10)
        try:
            return connection.execute(query, values).fetchall()
        finally:
            connection.close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        catalog = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                found = catalog.answer(self.path)
                missing = {"error": {"message": "there is none", "type": "NoSuchTableException", "code": 404}}
                body = json.dumps(missing if found is None else found).encode()
                self.send_response(404 if found is None else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *values: object) -> None:  # noqa: A002
                return

        return Handler
