"""Starts the life cycle in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
_SECONDS = 600


def live(
    target: Mapping[str, Any],
    folder: Path,
    env: Mapping[str, str] | None = None,
    steps: Sequence[str] = (),
    layout: str = "view",
) -> None:
    """Run the life cycle in a project of that folder, or some of its steps. Fails with what the process wrote.

    `layout` is `view`, `table`, or `only tables` for a catalog without views.
    """
    profile = folder.with_suffix(".json")
    profile.write_text(json.dumps(target))
    answer = subprocess.run(
        [sys.executable, "-m", "integration.support.life_cycle", str(profile), str(folder), layout, *steps],
        env={**os.environ, "PYTHONPATH": str(_ROOT), **(env or {})},
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    print(answer.stdout)
    assert answer.returncode == 0, answer.stdout[-6000:]
