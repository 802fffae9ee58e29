"""Why a catalog cannot be opened or read, and how to mend it: what libraries raise, in words for people."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import requests
from pydantic import ValidationError
from pyiceberg.exceptions import (
    AuthorizationExpiredError,
    BadRequestError,
    ForbiddenError,
    NotInstalledError,
    OAuthError,
    RESTError,
    ServerError,
    UnauthorizedError,
)

from dbt.adapters.icebergmv.maintenance.catalog.secrets import hide, secret_values
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable

Properties = Mapping[str, str]
_LOGIN = re.compile(r"//[^/@\s]*@")
_LONGEST = 300
# A word of the error, the package, our extra that brings it.
_PACKAGES = (("hive", "thrift", "hive"), ("sqlalchemy", "psycopg2", "postgres"), ("boto3", "boto3", "sigv4"))
_ANYTHING = "Check `warehouse` or `catalog_properties` in the profile, and that the catalog is reachable."


def unavailable(verb: str, name: str, error: Exception, properties: Properties) -> CatalogUnavailable:
    """Return the error for a catalog that failed: what cannot be done, the cause in a line, the mend.

    `verb` is open or read; `properties` are PyIceberg's. No value of a secret property is in the message.
    """
    subject = f"Cannot {verb} the catalog `{name}`"
    rules = _RULES_BELOW_V1 if verb == "open" and _is_below_v1(properties) else _RULES
    for found in chain(error):
        for rule in rules:
            if isinstance(found, rule.errors) and re.search(rule.text, str(found), re.IGNORECASE):
                return CatalogUnavailable(_hidden(rule.words(found, properties), properties), subject=subject)
    return CatalogUnavailable(_hidden(f"{_first_line(error)}. {_ANYTHING}", properties), subject=subject)


@dataclass(frozen=True)
class _Rule:
    """An error of one of these kinds, with this text somewhere in it, and what to say of it."""

    errors: tuple[type[BaseException], ...]
    words: Callable[[BaseException, Properties], str]
    text: str = ""


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it, from the outside in."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__ or found.__context__


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return (text.splitlines()[0] if text else type(error).__name__)[:_LONGEST].rstrip(". ")


def _is_below_v1(properties: Properties) -> bool:
    """Return whether a REST catalog is looked for below `/v1`, a part of the path that every request adds itself."""
    return properties.get("type", "").lower() == "rest" and properties.get("uri", "").rstrip("/").endswith("/v1")


def _address(properties: Properties) -> str:
    return f"`{_LOGIN.sub('//', properties.get('uri', ''))}`"


def _hidden(text: str, properties: Properties) -> str:
    """Return a text without the values of secrets: a server may repeat what it was sent."""
    return _LOGIN.sub("//", hide(text, secret_values(properties)))


def _silent(_: BaseException, properties: Properties) -> str:
    return f"nothing answers at {_address(properties)}. Start the server, or correct `uri` in `catalog_properties`."


def _tls(error: BaseException, properties: Properties) -> str:
    wrong = "does not speak TLS" if "WRONG_VERSION_NUMBER" in str(error) else "has a certificate that is not accepted"
    return (
        f"the server at {_address(properties)} {wrong}. Correct `uri` (http or https); for an authority of your own, "
        "set the environment variable REQUESTS_CA_BUNDLE to the file of its certificate."
    )


def _hangs_up(_: BaseException, properties: Properties) -> str:
    return (
        f"the server at {_address(properties)} ends the connection without an answer. "
        "Correct `uri` in `catalog_properties`: it may be that the server wants https."
    )


def _login(error: BaseException, _: Properties) -> str:
    return (
        f"the server does not accept the login ({_first_line(error)}). "
        "Correct `token`, or `credential` and `scope`, in `catalog_properties`."
    )


def _rights(error: BaseException, _: Properties) -> str:
    return (
        f"the server refuses ({_first_line(error)}). Ask for the right to read this catalog, "
        "or correct `credential` and `scope` in `catalog_properties`."
    )


def _unknown_catalog(error: BaseException, properties: Properties) -> str:
    warehouse = properties.get("warehouse")
    asked = f"the warehouse `{warehouse}`" if warehouse else "a catalog without `warehouse`"
    return (
        f"the server at {_address(properties)} does not know {asked} ({_first_line(error)}). "
        "Correct `warehouse` or `uri` in `catalog_properties`."
    )


def _no_catalog(_: BaseException, properties: Properties) -> str:
    return (
        f"what answers at {_address(properties)} is no Iceberg REST catalog. "
        "Correct `uri` in `catalog_properties`: it ends before `/v1`."
    )


def _server(error: BaseException, properties: Properties) -> str:
    return f"the server at {_address(properties)} failed ({_first_line(error)}). Look at the log of the server."


def _database(error: BaseException, properties: Properties) -> str:
    host = properties.get("uri", "").rpartition("@")[2].partition("?")[0]
    cause = _first_line(error)
    if "authentication failed" in cause or "no password supplied" in cause:
        return (
            f"the database `{host}` does not accept the login. "
            "Correct `jdbc.user` and `jdbc.password` in `catalog_properties`."
        )
    if re.search("certificate|private key|SSL (error|was required)", cause):
        return (
            f"the connection to the database `{host}` is not safe enough ({cause}). "
            "Correct `jdbc.sslmode`, `jdbc.sslrootcert`, `jdbc.sslcert` and `jdbc.sslkey` in `catalog_properties`."
        )
    if "does not exist" in cause:
        return f"there is no database `{host}`. Create it, or correct `uri` in `catalog_properties`."
    return f"nothing answers at `{host}`. Start the database, or correct `uri` in `catalog_properties`."


def _no_address(_: BaseException, __: Properties) -> str:
    return "`catalog_properties` has no `uri`. Add the address of the catalog."


def _package(error: BaseException, _: Properties) -> str:
    for word, package, extra in _PACKAGES:
        if word in str(error).lower():
            return f"the Python package {package} is missing. Run `pip install 'dbt-icebergmv[{extra}]'`."
    return f"a Python package is missing ({_first_line(error)}). Install it."


def _object_store(error: BaseException, _: Properties) -> str:
    return (
        f"the object store refuses or does not answer ({_first_line(error)}). Correct `s3.endpoint`, `client.region`, "
        "`s3.access-key-id` and `s3.secret-access-key` in `catalog_properties`."
    )


def _thrift_errors() -> tuple[type[BaseException], ...]:
    try:
        from thrift.transport.TTransport import TTransportException  # noqa: PLC0415 - installed with an extra
    except ImportError:
        return ()
    return (TTransportException,)


_UNREACHED = (
    _Rule((NotInstalledError, ModuleNotFoundError), _package),
    _Rule((requests.exceptions.SSLError,), _tls),
    _Rule((requests.exceptions.ConnectionError,), _hangs_up, "aborted|reset by peer|bad ?status ?line"),
    _Rule((requests.exceptions.ConnectionError, requests.exceptions.Timeout), _silent),
    _Rule((requests.exceptions.JSONDecodeError, requests.exceptions.InvalidURL), _no_catalog),
    _Rule((UnauthorizedError, OAuthError, AuthorizationExpiredError), _login),
)
_ANSWERED = (
    _Rule((ForbiddenError,), _rights),
    _Rule((BadRequestError, RESTError), _unknown_catalog, "warehouse|catalog.*(not found|not exist|unknown)"),
    _Rule((RESTError,), _no_catalog, "unexpected JSON|decode json"),
    _Rule((ValidationError,), _no_catalog, "ConfigResponse"),
    _Rule((ServerError,), _server),
    _Rule((Exception,), _database, r"psycopg2\.OperationalError"),
    _Rule((OSError,), _object_store, "AWS Error"),
    _Rule(_thrift_errors(), _silent),
    _Rule((ValueError,), _no_address, "^URI missing"),
)
_RULES = (*_UNREACHED, *_ANSWERED)
_RULES_BELOW_V1 = (
    # Who asks for a token at `/v1/v1/oauth/tokens` is not answered in the words of OAuth.
    _Rule((OAuthError,), _no_catalog, r"^RESTError \d+: "),
    *_UNREACHED,
    _Rule((RESTError,), _no_catalog),
    *_ANSWERED,
)
