"""The part of a profile that describes a Spark server."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.spark.server import ServerAddress
from dbt.adapters.icebergmv.spark.settings import runtime_conf

_KINDS = {"connect": "Spark Connect server", "thrift": "Spark Thrift server"}
_PLACE = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:]+\])(?::\d{1,5})?")
_LOGINS = {"LDAP", "CUSTOM"}
_AUTHS = {"NONE", "NOSASL", "KERBEROS", *_LOGINS}
_OPTIONS = {"token": "token", "use_ssl": "use_ssl", "user_id": "user"}
_NO_ADDRESS = "it is no address of Spark Connect"
_DEFAULT_PORTS = {"connect": 15002, "thrift": 10000}


def connect_address(url: str) -> dict[str, str | int | bool]:
    """Return the keys of a profile that a `sc://host:port/;key=value` address stands for. Raises InvalidConfig."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        # Its text may have the token in it.
        raise _unreadable(_NO_ADDRESS) from None
    options = dict(option.partition("=")[::2] for option in parts.path.lstrip("/").split(";") if option)
    unknown = sorted(options.keys() - _OPTIONS.keys())
    if parts.scheme != "sc" or not _PLACE.fullmatch(parts.netloc) or parts.query or parts.fragment or unknown:
        raise _unreadable(f"`{unknown[0]}` in it is not known" if unknown else _NO_ADDRESS)
    use_ssl = options.get("use_ssl", "false").strip("/").lower()
    if use_ssl not in ("true", "false"):
        raise InvalidConfig(
            "`use_ssl` in it is neither `true` nor `false`. Correct it.",
            subject="Cannot use the profile: `url` cannot be read",
        )
    found: dict[str, str | int | bool] = {_OPTIONS[key]: unquote(value) for key, value in options.items()}
    if "use_ssl" in found:
        found["use_ssl"] = use_ssl == "true"
    if port is not None:
        found["port"] = port
    return {"host": str(parts.hostname), **found}


def _unreadable(cause: str) -> InvalidConfig:
    return InvalidConfig(
        f"{cause}. Write `url: sc://<host>:<port>`; add `/;token=<token>` or `/;use_ssl=true` where needed.",
        subject="Cannot use the profile: `url` cannot be read",
    )


def check_settings(method: str, parameters: Mapping[str, str], jars: object) -> None:
    """Refuse what a running server cannot take. Raises InvalidConfig."""
    if jars:
        raise InvalidConfig(
            f"a running server takes no jars (`method: {method}`). Start the server with them, and remove `jars`.",
            subject="Cannot use the profile",
        )
    refused = sorted(parameters.keys() - runtime_conf(parameters).keys())
    if refused:
        raise InvalidConfig(
            f"a running server cannot take `{refused[0]}` (`method: {method}`). "
            "Start the server with it, and remove it from `server_side_parameters`.",
            subject="Cannot use the profile",
        )


def server_address(method: str, given: Mapping[str, object]) -> ServerAddress:
    """Return the address that the keys of a profile describe. Raises InvalidConfig when there is no host."""
    host = given.get("host")
    if not host:
        raise InvalidConfig(
            f"`method: {method}` needs a server. Add `host: <name>` to the target.", subject="Cannot use the profile"
        )
    port = str(given.get("port") or _DEFAULT_PORTS[method])
    if not (port.isdecimal() and 0 < int(port) < 65536):
        raise InvalidConfig(f"`port: {port}` is not a number of a port. Correct it.", subject="Cannot use the profile")
    if method == "connect":
        _refuse(given, ("password", "auth", "kerberos_service_name"), "`method: connect` takes a `token`")
    else:
        _check_login(given)
    return ServerAddress(
        kind=_KINDS[method],
        host=str(host).strip("[]"),
        port=int(port),
        use_ssl=bool(given.get("use_ssl")),
        **{
            key: str(given[key])
            for key in ("user", "token", "password", "auth", "kerberos_service_name")
            if given.get(key) is not None
        },
    )


def _check_login(given: Mapping[str, object]) -> None:
    auth = given.get("auth")
    if auth is not None and auth not in _AUTHS:
        raise InvalidConfig(
            f"`auth: {auth}` is not known. Use {', '.join(sorted(_AUTHS))}.", subject="Cannot use the profile"
        )
    _refuse(given, ("token",), "a Thrift server takes `user` and `password`")
    if auth not in _LOGINS:
        _refuse(given, ("password",), "a password goes with `auth: LDAP` or `auth: CUSTOM`")
    if auth != "KERBEROS":
        _refuse(given, ("kerberos_service_name",), "it goes with `auth: KERBEROS`")
    elif not given.get("kerberos_service_name"):
        raise InvalidConfig(
            "`auth: KERBEROS` needs the name of the service. Add `kerberos_service_name: <name>`.",
            subject="Cannot use the profile",
        )


def _refuse(given: Mapping[str, object], keys: Sequence[str], because: str) -> None:
    for key in keys:
        if given.get(key):
            raise InvalidConfig(f"`{key}` has no use here: {because}. Remove it.", subject="Cannot use the profile")
