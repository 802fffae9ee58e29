"""A Spark that runs elsewhere: its address, and what must be true of it before anything is sent."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.icebergmv.maintenance.sql.names import split_name
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, qualified
from dbt.adapters.icebergmv.spark.errors import SparkUnavailable
from dbt.adapters.icebergmv.spark.jars import ICEBERG_RUNTIMES
from dbt.adapters.icebergmv.spark.settings import EXTENSIONS

OLDEST_ICEBERG = (1, 11)
"""The oldest Iceberg whose branches and views do what the commit protocol needs on the Spark versions we know."""

_ANSWER_SECONDS = 10.0
_UNSET = "<undefined>"
_SHARED_SESSION = "spark.sql.hive.thriftServer.singleSession"
Run = Callable[[str], Sequence[Sequence[object]]]
Namespaces = Callable[[], Sequence[str] | None]


@dataclass(frozen=True)
class ServerAddress:
    """Where a server is and who asks.

    `kind` is how people call it, for messages. `token` is for Spark Connect, `password`, `auth` and
    `kerberos_service_name` for the Hive protocol.
    """

    kind: str
    host: str
    port: int
    use_ssl: bool = False
    user: str | None = None
    token: str | None = None
    password: str | None = None
    auth: str | None = None
    kerberos_service_name: str | None = None

    def __str__(self) -> str:
        return f"{self.kind} at {self.place}"

    @property
    def place(self) -> str:
        """Return host and port as addresses have them, a host of IPv6 in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class ServerRequest:
    """What a profile asks of a server: `settings` are those of its sessions."""

    address: ServerAddress
    catalog: str
    settings: tuple[tuple[str, str], ...]


def check_reachable(address: ServerAddress) -> None:
    """Open and close a connection. Raises SparkUnavailable: the clients themselves would wait for minutes."""
    try:
        socket.create_connection((address.host, address.port), _ANSWER_SECONDS).close()
    except OSError as error:
        raise SparkUnavailable(
            f"Cannot reach the {address}: {error}. Start the server, or correct `host` and `port` in the profile."
        ) from error


def check_server(request: ServerRequest, run: Run) -> None:
    """Ask a server for what only it can have: Spark of a known version, Iceberg's extensions, and the catalog.

    `run` runs one statement and raises DbtDatabaseError. Raises SparkUnavailable, naming what is missing there.
    """
    address, catalog = request.address, request.catalog
    ((version, *_), *_) = run("SELECT version()")
    release = ".".join(str(version).split(".")[:2])
    if release not in ICEBERG_RUNTIMES:
        raise SparkUnavailable(
            f"Cannot use the {address}: it runs Spark {str(version).split(' ', 1)[0]}. "
            f"Use a server with Spark {' or '.join(sorted(ICEBERG_RUNTIMES))}."
        )
    if EXTENSIONS not in _setting(run, "spark.sql.extensions"):
        raise SparkUnavailable(
            f"Cannot use the {address}: its Spark runs without Iceberg's extensions. "
            f"Start it with `spark.sql.extensions={EXTENSIONS}` and {ICEBERG_RUNTIMES[release]}."
        )
    if _setting(run, f"spark.sql.catalog.{catalog}") == _UNSET:
        raise SparkUnavailable(
            f"Cannot use the {address}: it has no catalog `{catalog}`. Start it with the settings "
            f"`spark.sql.catalog.{catalog}` of your catalog, or correct `catalog` in the profile."
        )


def check_own_session(request: ServerRequest, run: Run) -> None:
    """Refuse a Thrift server whose clients share one session: a SET of any would count for a refresh under way.

    Raises SparkUnavailable.
    """
    if _setting(run, _SHARED_SESSION).lower() == "true":
        raise SparkUnavailable(
            f"Cannot use the {request.address}: all of its clients share one session. "
            f"Start it without `{_SHARED_SESSION}`."
        )


def check_catalog(request: ServerRequest, run: Run, namespaces: Namespaces) -> None:
    """Ask the server's catalog for its version of Iceberg, and whether it is the one of the profile.

    `namespaces` lists those of the catalog that this process reads, None where it reads none. The session keeps the
    catalog as it is opened here, so it must have its settings before. Raises SparkUnavailable.
    """
    address, catalog = request.address, request.catalog
    try:
        ((found, *_), *_) = run(f"SELECT {qualified(catalog, 'system', 'iceberg_version')}()")
    except DbtDatabaseError as error:
        raise SparkUnavailable(
            f"Cannot use the {address}: its catalog `{catalog}` cannot be opened ({error.msg}). "
            f"Correct the settings `spark.sql.catalog.{catalog}.*` of the server."
        ) from error
    numbers = tuple(int(number) for number in re.findall(r"\d+", str(found))[:2])
    if numbers < OLDEST_ICEBERG:
        raise SparkUnavailable(
            f"Cannot use the {address}: its catalog `{catalog}` is of Iceberg {found}. "
            f"Start it with Iceberg {'.'.join(map(str, OLDEST_ICEBERG))} or newer."
        )
    # Another process may have made one in between.
    if not any(_has_same_namespaces(catalog, run, namespaces) for _ in range(2)):
        raise SparkUnavailable(
            f"Cannot use the {address}: its catalog `{catalog}` has other schemas than the catalog that the profile "
            "describes, or its login sees others. Correct `warehouse` or `catalog_properties`, or leave both out: then "
            "it is read through Spark."
        )


def _has_same_namespaces(catalog: str, run: Run, namespaces: Namespaces) -> bool:
    """Compare the first parts of their names; a catalog of the same name elsewhere would be written without a look."""
    here = namespaces()
    if here is None:
        return True
    there = run(f"SHOW NAMESPACES IN {identifier(catalog)}")
    return {name.split(".")[0] for name in here} == {split_name(str(row[0]))[0].split(".")[0] for row in there}


def _setting(run: Run, key: str) -> str:
    ((_, value, *_), *_) = run(f"SET {identifier(key)}")
    return str(value)
