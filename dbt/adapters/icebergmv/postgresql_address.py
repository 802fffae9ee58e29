"""A PostgreSQL database as Java's driver is given it, in the words of Python's: one database for both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from sqlalchemy import URL

from dbt.adapters.icebergmv.maintenance.errors import InvalidCatalog

# Both drivers have them, under one name.
_SHARED = ("sslrootcert", "sslcert", "sslkey", "sslpassword", "connect_timeout")
# They send Java's driver to another database than the one in the address, in ways that Python's does not know.
_ELSEWHERE = ("PGDBNAME", "PGHOST", "PGPORT", "dbname", "host", "port", "service", "socketFactory")
_UNCHECKED = "org.postgresql.ssl.NonValidatingFactory"


def sqlalchemy_address(address: str, properties: Mapping[str, str]) -> str:
    """Return `jdbc:postgresql:...` in SQLAlchemy's form; `properties` are the `jdbc.*` ones without their prefix.

    Options of the address win over `properties`, as they do in Java's driver. Those that do not say which database it
    is, who asks, or how safe the connection is, are left out. Raises InvalidCatalog for what cannot be said in Python.
    """
    parts = urlsplit(address.removeprefix("jdbc:"))
    options = {**properties, **dict(parse_qsl(parts.query, keep_blank_values=True))}
    subject = f"Cannot read a JDBC catalog at `{parts.hostname or 'localhost'}`"
    for key in _ELSEWHERE:
        if key in options:
            raise InvalidCatalog(
                f"the option `{key}` leads to another database than the address, and PyIceberg cannot follow it. "
                "Remove it, and give `uri: jdbc:postgresql://<host>:<port>/<database>`.",
                subject=subject,
            )
    try:
        port = parts.port
    except ValueError as error:
        raise InvalidCatalog(f"{error}. Give one host and one port.", subject=subject) from error
    user = options.get("user") or None
    # Host and port that are left out are what they are in Java; Python's driver would ask the environment.
    return URL.create(
        "postgresql+psycopg2",
        username=user,
        password=options.get("password") or None,
        host=parts.hostname or "localhost",
        port=port or 5432,
        database=unquote(parts.path.removeprefix("/")) or user,
        query=dict(_query(options)),
    ).render_as_string(hide_password=False)


def _query(options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    found = {"sslmode": _sslmode(options), **{key: options.get(key, "") for key in _SHARED}}
    found["options"] = " ".join(_startup(options))
    return ((key, value) for key, value in found.items() if value)


def _sslmode(options: Mapping[str, str]) -> str:
    """Return the mode of TLS: `ssl=true` is Java's older word for the strictest one."""
    if options.get("sslmode") or options.get("ssl", "false").lower() not in ("", "true"):
        return options.get("sslmode", "").lower()
    return "require" if options.get("sslfactory") == _UNCHECKED else "verify-full"


def _startup(options: Mapping[str, str]) -> Iterator[str]:
    """Yield what the server sets for the session; of two that set the same, the last one counts."""
    if options.get("options"):
        yield options["options"]
    if options.get("currentSchema"):
        # A blank ends an option unless a backslash is before it.
        path = options["currentSchema"].replace("\\", "\\\\").replace(" ", "\\ ")
        yield f"-csearch_path={path}"
