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
    if "TMPDIR" not in os.environ and _is_usable():
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None


def _is_usable() -> bool:
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < ROOM:
        return False
    # Some tests run a script of their own.
    return not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
