"""The connection below the Hive protocol: TLS with the certificates of the machine, SASL, and an end to waiting."""

from __future__ import annotations

import getpass
import logging
import ssl
from typing import Any

import thrift_sasl
from pyhive.hive import get_installed_sasl
from thrift.transport.TSocket import TSocket
from thrift.transport.TSSLSocket import TSSLSocket
from thrift.transport.TTransport import TBufferedTransport

from dbt.adapters.icebergmv.spark.server import ServerAddress

_ANSWER_MS = 120_000
"""How long one call may take. Statements run asynchronously, so that none waits for a query."""


def transport(address: ServerAddress) -> Any:
    """Return the transport to a server, not opened yet."""
    # It writes of a server that is down to the console; the error that it raises says the same.
    logging.getLogger("thrift.transport.TSocket").setLevel(logging.CRITICAL + 1)
    if address.use_ssl:
        socket = TSSLSocket(address.host, address.port, ssl_context=ssl.create_default_context())
    else:
        socket = TSocket(address.host, address.port)
    socket.setTimeout(_ANSWER_MS)
    if address.auth == "NOSASL":
        return TBufferedTransport(socket)
    mechanism = "GSSAPI" if address.auth == "KERBEROS" else "PLAIN"

    def client() -> Any:
        return get_installed_sasl(
            host=address.host,
            sasl_auth=mechanism,
            service=address.kerberos_service_name,
            username=address.user or getpass.getuser(),
            # Without a login the server takes any password but an empty one.
            password=address.password or "x",
        )

    return thrift_sasl.TSaslClientTransport(client, mechanism, socket)
