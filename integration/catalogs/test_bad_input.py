"""What a person reads when the catalog cannot be used. Nothing is half made, and Spark is not even started."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.factory import reset_adapters
from pyiceberg.catalog.sql import SqlCatalog

from integration.support.lake import LakeProject
from integration.support.servers.gate import CLIENT, SCOPE, SECRET, TOKEN, Gate, gate
from tests.support.rest_catalog import RestServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a catalog with the empty namespace `ns`."""
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=tmp_path.as_uri())
    catalog.create_namespace("ns")
    catalog.close()
    made = RestServer(tmp_path / "catalog.db")
    yield made.uri
    made.close()
    reset_adapters()


@pytest.fixture
def guarded(server: str) -> Iterator[Gate]:
    with gate(server) as made:
        yield made


def project(folder: Path, properties: Mapping[str, Any]) -> LakeProject:
    place = {"type": "icebergmv", "catalog": "lake", "schema": "ns", "threads": 1}
    target = {**place, "catalog_properties": dict(properties)}
    made = LakeProject(folder / "project", target)
    made.model("v", "select 1 as a", layout="view")
    return made


def refused(made: LakeProject) -> str:
    message = made.fail()
    assert not (made.folder / "logs" / "spark.log").exists()
    log = "".join(file.read_text() for file in made.folder.rglob("*.log"))
    assert not any(secret in message + log for secret in (SECRET, TOKEN, "wr0ng"))
    return message


def properties(made: Gate, **changes: str) -> dict[str, str]:
    given = {"type": "rest", "uri": made.uri, "warehouse": "prod", "credential": f"{CLIENT}:{SECRET}", "scope": SCOPE}
    return {key: value for key, value in {**given, **changes}.items() if value}


LOGIN = "does not accept the login ("


@pytest.mark.parametrize(
    ("changes", "cause", "mend"),
    [
        ({"credential": f"{CLIENT}:wr0ng-secret"}, LOGIN, "Correct `token`, or `credential` and `scope`"),
        ({"scope": "nothing"}, LOGIN, "Correct `token`, or `credential` and `scope`"),
        ({"credential": "", "token": "wr0ng-token"}, LOGIN, "Correct `token`, or `credential` and `scope`"),
        ({"credential": ""}, LOGIN, "Correct `token`, or `credential` and `scope`"),
        ({"warehouse": "prud"}, "does not know the warehouse `prud`", "Correct `warehouse` or `uri`"),
        ({"warehouse": ""}, "does not know a catalog without `warehouse`", "Correct `warehouse` or `uri`"),
    ],
    ids=["secret", "scope", "token", "no_login", "warehouse", "no_warehouse"],
)
def test_what_the_server_refuses(guarded: Gate, tmp_path: Path, changes: dict[str, str], cause: str, mend: str) -> None:
    message = refused(project(tmp_path, properties(guarded, **changes)))
    assert "Cannot open the catalog `lake`: " in message
    assert cause in message
    assert mend in message


def test_nobody_answers(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    message = refused(project(tmp_path, {"type": "rest", "uri": f"http://127.0.0.1:{port}"}))
    assert f"Cannot open the catalog `lake`: nothing answers at `http://127.0.0.1:{port}`. Start the server" in message
    message = refused(project(tmp_path / "hive", {"type": "hive", "uri": f"thrift://127.0.0.1:{port}"}))
    assert f"Cannot read the catalog `lake`: nothing answers at `thrift://127.0.0.1:{port}`. Start the" in message


def test_the_address_is_that_of_the_protocol(guarded: Gate, tmp_path: Path) -> None:
    message = refused(project(tmp_path, properties(guarded, uri=f"{guarded.uri}/v1")))
    assert "is no Iceberg REST catalog. Correct `uri` in `catalog_properties`: it ends before `/v1`." in message


def test_a_server_without_views(server: str, tmp_path: Path) -> None:
    with gate(server, has_views=False) as made:
        message = refused(project(tmp_path, properties(made)))
    assert "Cannot refresh lake.ns.v: the catalog lake offers no views. Leave layout out" in message


def test_a_server_that_does_not_announce_views(server: str, tmp_path: Path) -> None:
    """Materialized views become tables, which is said once, however many there are."""
    said = "The REST server of the catalog lake does not announce views (`endpoints` of its /v1/config)"
    with gate(server, has_views=False) as made:
        found = project(tmp_path, properties(made))
        for name in ("v", "w"):
            found.model(name, "select 1 as a")
        assert found.dbt("run-operation", "materialized_view_status").success, refused(found)
        assert (found.folder / "logs" / "dbt.log").read_text().count(said) == 1


def test_a_login_that_is_right(guarded: Gate, tmp_path: Path) -> None:
    """What is refused above is refused for what was changed alone."""
    for login in ({}, {"credential": "", "token": TOKEN}):
        made = project(tmp_path / str(len(login)), properties(guarded, **login))
        assert made.dbt("ls", "--quiet").success
        assert made.reader().namespaces() == ["ns"]
    assert guarded.refused == []
