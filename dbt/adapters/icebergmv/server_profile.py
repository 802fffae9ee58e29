"""The part of a profile that describes a Spark server."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.spark.server import ServerAddress
from dbt.adapters.icebergmv.spark.settings import runtime_conf

_KINDS = {"connect": "Spark Connect server", "thrift": "Spark Thrift server"}
_OPTIONS = {"token": "token", "use_ssl": "use_ssl", "user_id": "user"}
_DEFAULT_PORTS = {"connect": 15002, "thrift": 10000}


def connect_address(url: str) -> dict[str, str | int | bool]:
    """Return the keys of a profile that a `sc://host:port/;key=value` address stands for. Raises InvalidConfig."""
    parts = urlsplit(url)
    options = dict(option.partition("=")[::2] for option in parts.path.strip("/;").split(";") if option)
    unknown = sorted(options.keys() - _OPTIONS.keys())
    if parts.scheme != "sc" or not parts.hostname or unknown:
        cause = f"`{unknown[0]}` in it is not known" if unknown else "it is no address of Spark Connect"
        raise InvalidConfig(
            f"{cause}. Write `url: sc://<host>:<port>`; add `/;token=<token>` or `/;use_ssl=true` where needed.",
            subject="Cannot use the profile: `url` cannot be read",
        )
    found: dict[str, str | int | bool] = {_OPTIONS[key]: unquote(value) for key, value in options.items()}
    if "use_ssl" in found:
        found["use_ssl"] = str(found["use_ssl"]).lower() == "true"
    if parts.port is not None:
        found["port"] = parts.port
    return {"host": parts.hostname, **found}


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
    return ServerAddress(
        kind=_KINDS[method],
        host=str(host),
        port=int(str(given.get("port") or _DEFAULT_PORTS[method])),
        use_ssl=bool(given.get("use_ssl")),
        **{
            key: str(given[key])
            for key in ("user", "token", "password", "auth", "kerberos_service_name")
            if given.get(key) is not None
        },
    )
