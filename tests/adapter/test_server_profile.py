"""The part of a profile that describes a Spark server."""

from __future__ import annotations

from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.credentials import IcebergMVCredentials
from tests.support.profiles import credentials_of

PROFILE = {"catalog": "lake", "schema": "analytics", "warehouse": "/wh", "method": "connect", "host": "h"}


def credentials(**changes: Any) -> IcebergMVCredentials:
    return credentials_of({**PROFILE, **changes})


@pytest.mark.parametrize(
    ("changes", "port", "kind"),
    [
        ({}, 15002, "Spark Connect server"),
        ({"port": 1}, 1, "Spark Connect server"),
        ({"method": "thrift"}, 10000, "Spark Thrift server"),
    ],
)
def test_address(changes: dict[str, Any], port: int, kind: str) -> None:
    address = credentials(**changes).server_request().address
    assert (address.host, address.port, address.kind) == ("h", port, kind)


def test_an_address_of_spark_connect_stands_for_the_keys() -> None:
    made = credentials(host=None, url="sc://spark.example:99/;token=t0ken!;use_ssl=true;user_id=me")
    address = made.server_request().address
    assert (address.host, address.port, address.token, address.use_ssl, address.user) == (
        "spark.example",
        99,
        "t0ken!",
        True,
        "me",
    )
    assert made.secrets() == ("t0ken!",)
    assert "t0ken!" not in str(list(made.connection_info()))


def test_sessions_are_set_as_those_in_the_process() -> None:
    settings = dict(credentials(server_side_parameters={"spark.sql.ansi.enabled": True}).server_request().settings)
    assert settings["spark.sql.ansi.enabled"] == "true"
    assert settings["spark.sql.session.timeZone"] == "UTC"
    assert settings["spark.sql.catalog.lake.cache-enabled"] == "false"
    assert "spark.sql.catalog.lake" not in settings, "the catalog is the server's own"
    assert "spark.driver.memory" not in settings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"host": None}, "`method: connect` needs a server. Add `host: <name>`"),
        ({"url": "sc://h"}, "`url` and `host` both say the same"),
        ({"host": None, "url": "http://h"}, "it is no address of Spark Connect"),
        ({"host": None, "url": "sc://h/;x=1"}, "`x` in it is not known"),
        ({"host": None, "url": "sc://h;token=t0ken!"}, "it is no address of Spark Connect"),
        ({"host": None, "url": "sc://h:1;token=t0ken!"}, "it is no address of Spark Connect"),
        ({"host": None, "url": "sc://h/;use_ssl=yes"}, "`use_ssl` in it is neither `true` nor `false`"),
        ({"host": None, "url": "sc://h/;token=t0k#en"}, "it is no address of Spark Connect"),
        ({"host": None, "url": "sc://me:t0ken!@h"}, "it is no address of Spark Connect"),
        ({"host": None, "url": "sc://h:99999"}, "it is no address of Spark Connect"),
        ({"host": None, "url": "sc://[::1"}, "it is no address of Spark Connect"),
        ({"port": 70000}, "`port: 70000` is not a number of a port"),
        ({"password": "s3cret!"}, "`password` has no use here: `method: connect` takes a `token`"),
        ({"method": "thrift", "token": "t0ken!"}, "`token` has no use here"),
        ({"method": "thrift", "auth": "ldap"}, "`auth: ldap` is not known. Use CUSTOM, KERBEROS, LDAP, NONE, NOSASL"),
        ({"method": "thrift", "password": "s3cret!"}, "a password goes with `auth: LDAP`"),
        ({"method": "thrift", "auth": "KERBEROS"}, "Add `kerberos_service_name: <name>`"),
        ({"jars": ["a:b:c"]}, "takes no jars .*Start the server with them, and remove `jars`"),
        ({"server_side_parameters": {"spark.driver.memory": "1g"}}, "cannot take `spark.driver.memory`"),
        ({"server_side_parameters": {"spark.sql.extensions": "x"}}, "cannot take `spark.sql.extensions`"),
    ],
)
def test_what_cannot_work_says_why(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DbtRuntimeError, match=message) as raised:
        credentials(**changes)
    assert "t0ken!" not in str(raised.value)


def test_where_spark_runs_is_said() -> None:
    assert credentials().spark_place() == "the Spark Connect server at h:15002"
    assert credentials(method="session", host=None).spark_place() == "Spark in this process"


@pytest.mark.parametrize("url", ["sc://h/;use_ssl=true/", "sc://h//;use_ssl=TRUE;"])
def test_tls_is_asked_for(url: str) -> None:
    assert credentials(host=None, url=url).server_request().address.use_ssl


def test_a_token_is_taken_whole() -> None:
    made = credentials(host=None, url="sc://h/;token=abc/")
    assert made.server_request().address.token == "abc/"


@pytest.mark.parametrize("given", [{"host": "[::1]"}, {"host": "::1"}, {"host": None, "url": "sc://[::1]:15002"}])
def test_a_host_of_six_parts(given: dict[str, object]) -> None:
    address = credentials(**given).server_request().address
    assert (address.host, str(address)) == ("::1", "Spark Connect server at [::1]:15002")
