"""Which settings are secret."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.secrets import hide, is_secret, secret_values, shown_cause


@pytest.mark.parametrize(
    "key",
    [
        "token",
        "credential",
        "jdbc.password",
        "jdbc.sslpassword",
        "s3.secret-access-key",
        "s3.sse.key",
        "header.Authorization",
        "header.Proxy-Authorization",
        "header.x-api-key",
        "header.Cookie",
        "adls.auth.shared-key.account.key",
        "adls.account-key",
        "adls.connection-string",
        "adls.sas-token.shop",
        "gcs.encryption-key",
        "spark.hadoop.fs.azure.account.key.shop.dfs.core.windows.net",
        "spark.hadoop.fs.s3a.encryption.key",
        "jdbc.passwd",
        "gcs.oauth2.private_key",
    ],
)
def test_what_is_secret(key: str) -> None:
    assert is_secret(key)


@pytest.mark.parametrize(
    "key",
    [
        "key",
        "partition-key",
        "primary.key",
        "encryption.key-id",
        "adls.auth.shared-key.account.name",
        "s3.sse.type",
        "header.X-Iceberg-Access-Delegation",
        "header.x-goog-user-project",
        "jdbc.sslkey",
        "spark.io.encryption.keySizeBits",
        "spark.ssl.keyStore",
        "keyspace",
        "author",
        "uri",
    ],
)
def test_what_is_not(key: str) -> None:
    assert not is_secret(key)


def test_the_part_that_is_repeated_alone_is_secret_too() -> None:
    found = secret_values({"header.Authorization": "Basic bWU6cHc=", "credential": "me:s3cret", "scope": "all:of"})
    assert found == ("Basic bWU6cHc=", "me:s3cret", "bWU6cHc=", "s3cret")
    assert hide("sent bWU6cHc= and s3cret", found) == "sent ***** and *****"


def test_a_switch_is_no_secret() -> None:
    assert secret_values({"token-refresh-enabled": "true", "token-exchange-enabled": "false"}) == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at https://bot:pa/ss@host/x failed", "at https://bot:*****@host/x failed"),
        ("at jdbc:mysql://bot:p@ss@host/x", "at jdbc:mysql://bot:*****@host/x"),
        ("at https://ghp_1@host/x", "at https://*****@host/x"),
        ("https://a.b/c?sv=1&sig=x%2F&se=2", "https://a.b/c?sv=1&sig=*****&se=2"),
        ("https://b/c?X-Amz-Signature=12 in time", "https://b/c?X-Amz-Signature=***** in time"),
        ("jdbc:sqlserver://db;user=sa;password=hunter22;x=1", "jdbc:sqlserver://db;user=sa;password=*****;x=1"),
        ("https://u:o'neill9@host/x", "https://u:*****@host/x"),
        ("https://u:pa?ss@host/x", "https://u:*****@host/x"),
        ("postgresql://h/d?password=ab;cd&x=1", "postgresql://h/d?password=*****&x=1"),
        ("postgresql://me@srv:pw12@srv.example.com/db", "postgresql://me@srv:*****@srv.example.com/db"),
        ("redis://:pw12@h", "redis://:*****@h"),
        (f"https://{'x' * 300}@h", "https://*****@h"),
        (f"jdbc:postgresql://u:ab/{'x' * 300}@h/d", "jdbc:postgresql://u:*****@h/d"),
        ("abfss://box@shop.dfs.core.windows.net/a", "abfss://box@shop.dfs.core.windows.net/a"),
        ("http://host:8080/mail/me@home", "http://host:8080/mail/me@home"),
    ],
)
def test_what_addresses_show(text: str, shown: str) -> None:
    assert hide(text, ()) == shown


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [("no such table", True), ("the key is hunter22", False), ("jdbc:postgresql://h/db?password=x1", False)],
)
def test_a_cause_with_a_secret_is_not_in_the_stack_trace(text: str, is_shown: bool) -> None:
    try:
        try:
            raise OSError(text)
        except OSError as error:
            raise ValueError("outer") from error
    except ValueError as error:
        assert shown_cause(error, ["hunter22"]) is (error if is_shown else None)
