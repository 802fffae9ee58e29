"""Servers of tests, which answer in a thread of their own."""

from __future__ import annotations

import threading
from socketserver import BaseServer

_SECONDS_BETWEEN_LOOKS = 0.01
"""How often a server looks whether it is to stop; half a second by default, for which each test would wait."""


def serve(server: BaseServer) -> None:
    """Let a server answer until its `shutdown()`."""
    threading.Thread(target=server.serve_forever, args=(_SECONDS_BETWEEN_LOOKS,), daemon=True).start()
