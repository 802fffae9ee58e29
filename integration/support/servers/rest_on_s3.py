"""A REST catalog whose tables are on S3, and which alone knows how to log in there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from integration.support.servers.artifacts import dependency, fetched
from integration.support.servers.gate import Gate, gate
from integration.support.servers.rest import ICEBERG, rest_catalog
from integration.support.servers.s3 import ObjectStore, s3

_DEPENDENCIES = (
    dependency(f"org.apache.iceberg:iceberg-aws:{ICEBERG}", alone=True),
    # That of the server's own Iceberg: the clients in it differ from version to version.
    dependency(f"org.apache.iceberg:iceberg-aws-bundle:{ICEBERG}", alone=True),
    dependency("dev.failsafe:failsafe:3.3.2", alone=True),
)


@contextmanager
def rest_catalog_on_s3(folder: Path) -> Iterator[tuple[Gate, ObjectStore]]:
    """Run S3, the catalog over it, and a gate that vends the login of S3."""
    with s3() as store:
        vended = {
            "s3.access-key-id": store.access_key,
            "s3.secret-access-key": store.secret_key,
            "s3.endpoint": store.endpoint,
            "s3.path-style-access": "true",
            "client.region": store.region,
        }
        io = {"io-impl": "org.apache.iceberg.aws.s3.S3FileIO", **vended}
        with (
            rest_catalog(folder, f"s3://{store.bucket}/warehouse", io, fetched(*_DEPENDENCIES)) as behind,
            gate(behind, vended) as made,
        ):
            yield made, store
