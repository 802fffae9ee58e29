"""A gate before a REST catalog, as companies have it: OAuth2, one warehouse under a prefix, credentials vended."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests

from integration.support.servers.processes import HOST
from tests.support.serving import serve

WAREHOUSE = "prod"
SCOPE = "PRINCIPAL_ROLE:ALL"
CLIENT = "analyst"
SECRET = "s3cret-of-the-client"
TOKEN = "t0ken-of-the-server"
DELEGATION = "X-Iceberg-Access-Delegation"
_TABLE = re.compile(r"/v1/namespaces/[^/]+/tables(/[^/]+)?$")
_VIEWS = re.compile(r"/views")


@dataclass
class Gate:
    """The gate: where it is, what it is before, and what it has refused. `vended` goes to who asks for credentials."""

    behind: str
    vended: Mapping[str, str]
    has_views: bool = True
    uri: str = ""
    refused: list[str] = field(default_factory=list)

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Return status and body of the answer to a request."""
        url = urlsplit(path)
        if url.path == "/v1/oauth/tokens":
            return self._token(parse_qs(body.decode()), headers.get("authorization", ""))
        if headers.get("authorization") != f"Bearer {TOKEN}":
            return self._error(401, "NotAuthorizedException", f"{method} {url.path} without the token")
        if url.path == "/v1/config":
            return self._config(parse_qs(url.query))
        if not path.startswith(f"/v1/{WAREHOUSE}/"):
            return self._error(400, "BadRequestException", f"{method} {url.path} without the prefix")
        return self._forwarded(method, path.replace(f"/v1/{WAREHOUSE}/", "/v1/", 1), headers, body)

    def _token(self, form: Mapping[str, list[str]], login: str) -> tuple[int, bytes]:
        """Answer a login in the form, or in a header: RFC 6749, 2.3.1."""
        sent = {key: values[0] for key, values in form.items()}
        if login.startswith("Basic "):
            client, _, secret = b64decode(login.removeprefix("Basic ")).decode().partition(":")
            sent |= {"client_id": client, "client_secret": secret}
        if (sent.get("client_id"), sent.get("client_secret"), sent.get("scope")) != (CLIENT, SECRET, SCOPE):
            self.refused.append("login")
            return 401, json.dumps({"error": "invalid_client", "error_description": "no such client"}).encode()
        granted = {"access_token": TOKEN, "token_type": "bearer", "expires_in": 3600}
        return 200, json.dumps(
            {**granted, "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}
        ).encode()

    def _config(self, query: Mapping[str, list[str]]) -> tuple[int, bytes]:
        if query.get("warehouse") != [WAREHOUSE]:
            return self._error(404, "NotFoundException", f"Unable to find warehouse {query.get('warehouse')}")
        config = requests.get(f"{self.behind}/v1/config", timeout=30).json()
        if not self.has_views:
            config["endpoints"] = [line for line in config["endpoints"] if not _VIEWS.search(line)]
        config["overrides"] = {**config.get("overrides", {}), "prefix": WAREHOUSE}
        return 200, json.dumps(config).encode()

    def _forwarded(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        answer = requests.request(
            method, f"{self.behind}{path}", data=body, headers={"Content-Type": "application/json"}, timeout=60
        )
        content = answer.content
        if answer.ok and self.vended and _TABLE.match(urlsplit(path).path) and headers.get(DELEGATION.lower()):
            loaded: dict[str, Any] = answer.json() if content else {}
            if "metadata" in loaded:
                loaded["config"] = {**loaded.get("config", {}), **self.vended}
                content = json.dumps(loaded).encode()
        return answer.status_code, content

    def _error(self, status: int, kind: str, message: str) -> tuple[int, bytes]:
        self.refused.append(message)
        return status, json.dumps({"error": {"message": message, "type": kind, "code": status}}).encode()


@contextmanager
def gate(behind: str, vended: Mapping[str, str] | None = None, has_views: bool = True) -> Iterator[Gate]:
    """Run a gate before the catalog at `behind`."""
    made = Gate(behind, vended or {}, has_views)
    server = ThreadingHTTPServer((HOST, 0), _handler(made))
    made.uri = f"http://{HOST}:{server.server_address[1]}"
    serve(server)
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()


def _handler(made: Gate) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {key.lower(): value for key, value in self.headers.items()}
            status, content = made.answer(self.command, self.path, headers, body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if status != 204:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_POST = do_DELETE = do_HEAD = do_GET  # noqa: N815 - names of the standard library

        def log_message(self, format: str, *values: object) -> None:  # noqa: A002
            return

    return Handler
