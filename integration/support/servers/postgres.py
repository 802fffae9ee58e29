"""PostgreSQL from Debian's package, with a cluster of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from integration.support.servers.processes import HOST, free_port, running

_SYSTEM_USER = "postgres"


@dataclass(frozen=True)
class Database:
    """Where the database is, and who may log in."""

    host: str
    port: int
    name: str
    user: str
    password: str


@contextmanager
def postgres() -> Iterator[Database]:
    """Run PostgreSQL with one empty database. The test is skipped where PostgreSQL is not installed."""
    programs = _programs()
    # The server refuses to run as root, so the folder must be one that another user can reach.
    folder = Path(tempfile.mkdtemp(prefix="icebergmv-postgres-"))
    as_owner = _as_owner(folder)
    try:
        made = Database(HOST, free_port(), "lake", "analyst", "s3cret-for-tests")
        secret = folder / "password"
        secret.write_text(made.password)
        secret.chmod(0o644)
        initdb = [f"{programs}/initdb", "-D", f"{folder}/data", "-U", made.user, "-A", "scram-sha-256", "-N"]
        subprocess.run([*as_owner, *initdb, "--pwfile", str(secret)], check=True, capture_output=True, cwd=folder)
        options = ["-D", f"{folder}/data", "-h", HOST, "-p", str(made.port), "-k", "", "-c", "fsync=off"]
        with running(
            [*as_owner, f"{programs}/postgres", *options], folder / "postgres.log", lambda: _is_ready(programs, made)
        ):
            _create(programs, made)
            yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_ready(programs: Path, made: Database) -> bool:
    """Return whether it takes connections: while it starts up, its port answers and it refuses them."""
    command = [f"{programs}/pg_isready", "--quiet", "-h", made.host, "-p", str(made.port)]
    return subprocess.run(command, check=False).returncode == 0


def _create(programs: Path, made: Database) -> None:
    command = [f"{programs}/createdb", "-h", made.host, "-p", str(made.port), "-U", made.user, made.name]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PGPASSWORD": made.password})


def _programs() -> Path:
    """Return the folder of PostgreSQL's programs, of which Debian puts on the path only those for users."""
    on_path = shutil.which("postgres")
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *([Path(on_path).resolve().parent] if on_path else [])]
    for folder in folders:
        if all((folder / program).exists() for program in ("initdb", "postgres", "createdb")):
            return folder
    pytest.skip("PostgreSQL is not installed: apt-get install postgresql")


def _as_owner(folder: Path) -> list[str]:
    """Return how a command runs as the owner of the folder; root gives the folder to Debian's user for PostgreSQL."""
    if os.geteuid() != 0:
        return []
    shutil.chown(folder, _SYSTEM_USER)
    return ["setpriv", f"--reuid={_SYSTEM_USER}", f"--regid={_SYSTEM_USER}", "--clear-groups"]
