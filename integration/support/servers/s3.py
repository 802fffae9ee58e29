"""An S3 server that keeps everything in memory, in the test's own process."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import boto3
import requests
from moto.server import ThreadedMotoServer

from integration.support.servers.processes import HOST


@dataclass(frozen=True)
class ObjectStore:
    """Where the server is, the bucket it has, and who may log in."""

    endpoint: str
    bucket: str
    region: str
    access_key: str
    secret_key: str


@contextmanager
def s3() -> Iterator[ObjectStore]:
    """Run the server with one empty bucket."""
    # One line a request.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address=HOST, port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        # Servers of one process share what they keep.
        requests.post(f"http://{host}:{port}/moto-api/reset", timeout=30).raise_for_status()
        store = ObjectStore(f"http://{host}:{port}", "lake-of-tests", "eu-central-1", "test-access-key", "test-s3cret")
        boto3.client(
            "s3",
            endpoint_url=store.endpoint,
            region_name=store.region,
            aws_access_key_id=store.access_key,
            aws_secret_access_key=store.secret_key,
        ).create_bucket(Bucket=store.bucket, CreateBucketConfiguration={"LocationConstraint": store.region})
        yield store
    finally:
        server.stop()
