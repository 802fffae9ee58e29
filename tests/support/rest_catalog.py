"""A REST catalog for reading, over the database of a SQL catalog. Iceberg spec, "REST Catalog"."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.serving import serve

_NAMESPACE = "/v1/{prefix}/namespaces/{namespace}"
_ENDPOINTS = [
    "GET /v1/{prefix}/namespaces",
    f"GET {_NAMESPACE}",
    f"GET {_NAMESPACE}/tables",
    f"GET {_NAMESPACE}/tables/{{table}}",
    f"GET {_NAMESPACE}/views",
    f"GET {_NAMESPACE}/views/{{view}}",
]
_OF_KIND = "table_namespace = ? and coalesce(iceberg_type, 'TABLE') = ?"
_TYPES = {"tables": "TABLE", "views": "VIEW"}


class Below(Enum):
    """What a server answers when it is asked for the namespaces below another one."""

    LISTED = "listed"
    IGNORED = "the question is taken for one without it"
    REFUSED = "NestedNamespacesNotSupported"
    FORBIDDEN = "ForbiddenException"
    BROKEN = "InternalServerError"


_STATUS = {
    "NamespacePartContainsDot": 400,
    Below.REFUSED.value: 400,
    Below.FORBIDDEN.value: 403,
    Below.BROKEN.value: 500,
}


class RestServer:
    """The server. It runs in a thread until it is closed.

    It answers whoever sends `token` (None: everybody), asks for `warehouse` (None: any), and knows views or not.
    `refuses_dots`: a level of a namespace that has a dot in it is a bad request, else there is none.
    """

    def __init__(
        self,
        database: Path,
        token: str | None = None,
        warehouse: str | None = None,
        has_views: bool = True,
        refuses_dots: bool = False,
    ) -> None:
        self._database = database
        self._token = token
        self._warehouse = warehouse
        self._refuses_dots = refuses_dots
        self.hang_ups = 0
        """How many of the next questions get no answer, but the end of the connection."""
        self.is_busy = False
        """Whether it says that it is to be asked again after a second."""
        self.below = Below.LISTED
        """What it answers when it is asked for the namespaces below another one."""
        self._endpoints = [e for e in _ENDPOINTS if has_views or "/views" not in e]
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        serve(self._server)

    @property
    def uri(self) -> str:
        """Return the address of the catalog."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str) -> dict[str, object] | str:
        """Return the body of the answer to a GET, or the kind of error when there is no such thing."""
        # A level with a dot in its name is another namespace than two levels.
        parts = [unquote(part).replace(".", "%2E") for part in urlsplit(path).path.strip("/").split("/")]
        if self._refuses_dots and any("%2E" in part for part in parts):
            return "NamespacePartContainsDot"
        match [part.replace("\x1f", ".") for part in parts]:
            case ["v1", "config"]:
                wanted = parse_qs(urlsplit(path).query).get("warehouse", [None])[0]
                if self._warehouse not in (None, wanted):
                    return "NotFoundException: Unable to find warehouse"
                return {"defaults": {}, "overrides": {}, "endpoints": self._endpoints}
            case ["v1", "namespaces"]:
                return self._listed(parse_qs(urlsplit(path).query).get("parent", [""])[0])
            case ["v1", "namespaces", namespace, *_] if namespace not in self._namespaces():
                return "NoSuchNamespaceException"
            case ["v1", "namespaces", namespace, kind]:
                found = self._rows(_OF_KIND, namespace, _TYPES[kind])
                return {"identifiers": [{"namespace": namespace.split("."), "name": name} for name, _ in found]}
            case ["v1", "namespaces", namespace, kind, name]:
                return self._loaded(namespace, kind, name)
            case _:
                return "NotFoundException"

    def _listed(self, parent: str) -> dict[str, object] | str:
        if parent and self.below in (Below.REFUSED, Below.FORBIDDEN, Below.BROKEN):
            return self.below.value
        above = [] if self.below is Below.IGNORED else [part for part in parent.split("\x1f") if part]
        names = [n.split(".") for n in self._namespaces()]
        found = [n for n in names if n[:-1] == above]
        return {"namespaces": found} if found or above == [] or above in names else "NoSuchNamespaceException"

    def _loaded(self, namespace: str, kind: str, name: str) -> dict[str, object] | str:
        found = self._rows(f"{_OF_KIND} and table_name = ?", namespace, _TYPES[kind], name)
        if not found:
            return f"NoSuch{_TYPES[kind].title()}Exception"
        location = str(found[0][1])
        content = Path(unquote(urlsplit(location).path)).read_bytes()
        metadata = json.loads(gzip.decompress(content) if ".gz." in location else content)
        return {"metadata-location": location, "metadata": metadata, "config": {}}

    def _namespaces(self) -> list[str]:
        return [str(row[0]) for row in self._query("select distinct namespace from iceberg_namespace_properties")]

    def _rows(self, where: str, *values: str) -> list[tuple[Any, ...]]:
        return self._query(f"select table_name, metadata_location from iceberg_tables where {where}", *values)

    def _query(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self._database, timeout=10)) as connection:
            return connection.execute(query, values).fetchall()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if server.hang_ups:
                    server.hang_ups -= 1
                    self.close_connection = True
                    return
                allowed = server._token is None or self.headers["Authorization"] == f"Bearer {server._token}"
                try:
                    found, status = (server.answer(self.path), 200) if allowed else ("NotAuthorizedException", 401)
                except (OSError, ValueError, sqlite3.Error):
                    found, status = "ServerError", 500
                if server.is_busy:
                    found, status = "ServiceUnavailableException", 503
                if isinstance(found, str):
                    status = _STATUS.get(found, 404) if status == 200 else status
                    found = {"error": {"message": "the server says no", "type": found, "code": status}}
                body = json.dumps(found).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                if server.is_busy:
                    self.send_header("Retry-After", "1")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *values: object) -> None:  # noqa: A002
                return

        return Handler
