"""A server as a process of the test: on loopback, ready when the test gets it, ended with it."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

HOST = "127.0.0.1"
START_SECONDS = 120.0
END_SECONDS = 20.0


def free_port() -> int:
    """Return a port of loopback that nobody listens on.

    It is none of those that the system gives out by itself: a Spark of another test, which serves one client from such
    a port for a moment, would be taken for the server that is to start here.
    """
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port


def answers(port: int) -> bool:
    """Return whether somebody accepts connections on the port."""
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


@contextmanager
def running(
    command: Sequence[str],
    log: Path,
    is_ready: Callable[[], bool],
    env: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block is left. Fails with the end of its log when it does not become ready."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, **(env or {})},
            cwd=log.parent,
        )
    try:
        _wait(process, log, is_ready)
        yield process
    finally:
        _end(process)


def _wait(process: subprocess.Popen[bytes], log: Path, is_ready: Callable[[], bool]) -> None:
    end = time.monotonic() + START_SECONDS
    while not is_ready():
        if process.poll() is not None or time.monotonic() > end:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
            raise AssertionError(f"the server {process.args!r} did not start:\n{tail}")
        time.sleep(0.1)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
