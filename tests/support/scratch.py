"""Files of tests in memory where there is room: a catalog on SQLite waits for the disk at every commit."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""Bytes that must be free; all tests together leave less than one eighth of that."""


def keep_in_memory() -> None:
    """Let temporary folders of this process and of those it starts be in memory. TMPDIR has the last word."""
    if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None
