"""What people read when a catalog cannot be opened or read: the cause in their words, and the mend."""

from __future__ import annotations

import re
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import OAuthError, RESTError, UnauthorizedError

from dbt.adapters.icebergmv.maintenance.catalog.failures import unavailable
from dbt.adapters.icebergmv.maintenance.catalog.opening import open_catalog
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable
from tests.support.rest_catalog import RestServer
from tests.support.serving import serve

OPEN = "Cannot open the catalog `lake`: "


@pytest.fixture
def database(tmp_path: Path) -> Path:
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=tmp_path.as_uri())
    catalog.create_namespace("ns")
    catalog.close()
    return tmp_path / "catalog.db"


@pytest.fixture
def closed_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture
def web_site() -> Iterator[str]:
    """A server that is no catalog."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<html>Welcome</html>"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *values: object) -> None:  # noqa: A002
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    serve(server)
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def said(**properties: str) -> str:
    with pytest.raises(CatalogUnavailable) as found:
        open_catalog("lake", properties)
    message = str(found.value)
    assert re.fullmatch(r"Cannot [^:]*: [^\n]*\. [A-Z`][^\n]*\.", message), message
    return message


def test_nothing_answers(closed_port: int) -> None:
    uri = f"http://me:s3cret@127.0.0.1:{closed_port}"
    expected = f"{OPEN}nothing answers at `http://127.0.0.1:{closed_port}`. Start the server, or correct `uri`"
    assert said(type="rest", uri=uri).startswith(expected)
    database = said(type="sql", uri=f"postgresql+psycopg2://me:s3cret@127.0.0.1:{closed_port}/lake")
    assert database.startswith(f"{OPEN}nothing answers at `127.0.0.1:{closed_port}/lake`. Start the database")


def test_a_metastore_does_not_answer(closed_port: int, caplog: pytest.LogCaptureFixture) -> None:
    reader = open_catalog("lake", {"type": "hive", "uri": f"thrift://127.0.0.1:{closed_port}"})
    with pytest.raises(CatalogUnavailable, match=f"nothing answers at `thrift://127.0.0.1:{closed_port}`"):
        reader.namespaces()
    assert caplog.records == []


def test_the_server_is_no_catalog(web_site: str) -> None:
    assert said(type="rest", uri=f"http://{web_site}").startswith(f"{OPEN}what answers at `http://{web_site}` is no ")


NO_CATALOG = "is no Iceberg REST catalog. Correct `uri` in `catalog_properties`: it ends before `/v1`."


def test_the_address_goes_too_far(database: Path) -> None:
    server = RestServer(database, warehouse="prod")
    assert said(type="rest", uri=f"{server.uri}/v1", warehouse="prod").endswith(NO_CATALOG)
    server.close()
    # Who asks there for a token is not answered in the words of OAuth.
    error = OAuthError("RESTError 401: Received unexpected JSON Payload: no token, errors: Field required")
    asked = {"type": "rest", "uri": "http://h/v1/", "credential": "me:s3cret"}
    assert str(unavailable("open", "lake", error, asked)).endswith(NO_CATALOG)
    assert "does not accept the login (" in str(unavailable("open", "lake", OAuthError("invalid_client"), asked))


def test_an_address_that_ends_in_v1_hides_no_other_cause(database: Path, closed_port: int, web_site: str) -> None:
    assert "nothing answers at" in said(type="rest", uri=f"http://127.0.0.1:{closed_port}/v1")
    assert "does not speak TLS" in said(type="rest", uri=f"https://{web_site}/v1")
    server = RestServer(database, token="r1ght-token")
    assert "does not accept the login (" in said(type="rest", uri=f"{server.uri}/v1", token="wr0ng-token")
    server.close()


@pytest.mark.parametrize(
    ("verb", "properties"),
    [
        ("open", {"type": "sql", "uri": "postgresql+psycopg2://h/v1"}),
        # It was opened: the address is right.
        ("read", {"type": "rest", "uri": "http://h/v1"}),
    ],
)
def test_an_address_that_rightly_ends_in_v1(verb: str, properties: dict[str, str]) -> None:
    error = Exception("(psycopg2.OperationalError) Connection refused") if verb == "open" else RESTError("gone")
    assert "no Iceberg REST catalog" not in str(unavailable(verb, "lake", error, properties))


def test_the_server_does_not_speak_tls(web_site: str) -> None:
    assert "does not speak TLS. Correct `uri` (http or https)" in said(type="rest", uri=f"https://{web_site}")


def test_the_server_hangs_up() -> None:
    """As one does that speaks TLS alone."""
    listener = socket.create_server(("127.0.0.1", 0))

    def hang_up() -> None:
        connection, _ = listener.accept()
        connection.recv(10)
        connection.close()

    with closing(listener):
        thread = threading.Thread(target=hang_up)
        thread.start()
        message = said(type="rest", uri=f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread.join()
    assert "ends the connection without an answer. Correct `uri`" in message


def test_a_server_that_ends_idle_connections_is_asked_again(database: Path) -> None:
    server = RestServer(database)
    reader = open_catalog("lake", {"type": "rest", "uri": server.uri})
    server.hang_ups = 2
    assert reader.namespaces() == ["ns"]
    server.hang_ups = 3
    with pytest.raises(CatalogUnavailable, match="ends the connection without an answer"):
        reader.namespaces()
    assert server.hang_ups == 0
    server.close()


def test_what_a_busy_server_says_is_said(database: Path) -> None:
    server = RestServer(database)
    reader = open_catalog("lake", {"type": "rest", "uri": server.uri})
    server.is_busy = True
    with pytest.raises(CatalogUnavailable, match="the server says no"):
        reader.namespaces()
    server.close()


@pytest.mark.filterwarnings("ignore:.*OAuth2:DeprecationWarning")
@pytest.mark.parametrize("token", ["wr0ng-token", ""])
def test_the_token_is_wrong(database: Path, token: str) -> None:
    server = RestServer(database, token="r1ght-token")
    given = {"token": token} if token else {}
    message = said(type="rest", uri=server.uri, **given)
    assert message.startswith(f"{OPEN}the server does not accept the login (")
    assert message.endswith("Correct `token`, or `credential` and `scope`, in `catalog_properties`.")
    assert "wr0ng" not in message
    assert open_catalog("lake", {"type": "rest", "uri": server.uri, "token": "r1ght-token"}).namespaces() == ["ns"]
    server.close()


def test_the_warehouse_is_unknown(database: Path) -> None:
    server = RestServer(database, warehouse="prod")
    message = said(type="rest", uri=server.uri, warehouse="prud")
    assert message.startswith(f"{OPEN}the server at `{server.uri}` does not know the warehouse `prud` (")
    assert "does not know a catalog without `warehouse`" in said(type="rest", uri=server.uri)
    assert open_catalog("lake", {"type": "rest", "uri": server.uri, "warehouse": "prod"}).namespaces() == ["ns"]
    server.close()


def test_a_server_without_views(database: Path) -> None:
    server = RestServer(database, has_views=False)
    reader = open_catalog("lake", {"type": "rest", "uri": server.uri})
    assert not reader.has_views
    assert reader.view("ns", "v") is None
    assert reader.entries("ns") == []
    server.close()


def test_the_address_is_missing() -> None:
    assert said(type="rest").startswith(f"{OPEN}`catalog_properties` has no `uri`. Add the address")


@pytest.mark.parametrize(
    ("module", "properties", "package", "extra"),
    [
        ("pyiceberg.catalog.hive", {"type": "hive", "uri": "thrift://127.0.0.1:1"}, "thrift", "hive"),
        ("psycopg2", {"type": "sql", "uri": "postgresql+psycopg2://127.0.0.1:1/d"}, "psycopg2", "postgres"),
    ],
)
def test_a_package_is_missing(
    monkeypatch: pytest.MonkeyPatch, module: str, properties: dict[str, str], package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    expected = f"{OPEN}the Python package {package} is missing. Run `pip install 'dbt-icebergmv[{extra}]'`."
    assert said(**properties) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'FATAL:  password authentication failed for user "me"',
            "the database `h/d` does not accept the login. Correct `jdbc.user`",
        ),
        ('FATAL:  database "d" does not exist', "there is no database `h/d`. Create it"),
        (
            'root certificate file "/me/.postgresql/root.crt" does not exist',
            "the connection to the database `h/d` is not safe enough (",
        ),
        ("SSL error: certificate verify failed", "the connection to the database `h/d` is not safe enough ("),
        ("server closed the connection unexpectedly", "nothing answers at `h/d`. Start the database"),
    ],
)
def test_what_a_database_says(text: str, expected: str) -> None:
    error = Exception(f'(psycopg2.OperationalError) connection to server at "h" failed: {text}\nmore')
    message = str(unavailable("read", "lake", error, {"uri": "postgresql+psycopg2://me:s3cret@h/d"}))
    assert message.startswith(f"Cannot read the catalog `lake`: {expected}")
    assert "s3cret" not in message


def test_what_an_object_store_says() -> None:
    error = OSError("When reading information for key 'a' in bucket 'b': AWS Error ACCESS_DENIED during HeadObject")
    message = str(unavailable("read", "lake", error, {}))
    assert "the object store refuses or does not answer" in message
    assert "Correct `s3.endpoint`" in message


def test_a_login_that_the_server_repeats_is_hidden() -> None:
    error = Exception("no client with the secret s3cret-1 at http://me:pw@h")
    message = str(unavailable("open", "lake", error, {"credential": "me:s3cret-1"}))
    assert "s3cret" not in message
    assert "pw" not in message


@pytest.mark.parametrize("key", ["header.Authorization", "header.x-api-key", "s3.sse.key"])
def test_a_secret_of_any_name_is_hidden(key: str) -> None:
    error = UnauthorizedError("not accepted: Bearer s3cret-1 (s3cret-1)")
    value = "Bearer s3cret-1" if key.endswith("Authorization") else "s3cret-1"
    message = str(unavailable("open", "lake", error, {"type": "rest", "uri": "http://h", key: value}))
    assert "does not accept the login (" in message
    assert "s3cret" not in message
