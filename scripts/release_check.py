"""Builds the distributions, checks them, installs the wheel in an empty environment and imports it there.

Nothing of this tree is on the path of the last step: it sees what a user would see.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DISTRIBUTIONS = ROOT / "dist"
EMPTY = ROOT / ".release"

IMPORTED = """
from importlib.metadata import version
from pathlib import Path
from dbt.adapters.icebergmv import Plugin, __version__ as module
from dbt.adapters.icebergmv.reading import read_materialized_view
from dbt.include.icebergmv import PACKAGE_PATH
assert module.version == version("dbt-icebergmv"), (module.version, version("dbt-icebergmv"))
assert Plugin.adapter.type() == "icebergmv"
assert list(Path(PACKAGE_PATH).rglob("*.sql")), "the wheel has no macros"
print(f"dbt-icebergmv {module.version} is installed and can be imported")
"""


def main() -> int:
    """Run every step; stop at the first that fails."""
    shutil.rmtree(DISTRIBUTIONS, ignore_errors=True)
    _run([sys.executable, "-m", "build"])
    files = sorted(str(file) for file in DISTRIBUTIONS.iterdir())
    _run([sys.executable, "-m", "twine", "check", "--strict", *files])
    venv.create(EMPTY, clear=True, with_pip=True)
    python = str(EMPTY / "bin" / "python")
    wheels = [file for file in files if file.endswith(".whl")]
    _run([python, "-m", "pip", "install", "--quiet", *wheels])
    _run([python, "-I", "-c", IMPORTED], cwd=EMPTY)
    return 0


def _run(command: Sequence[str], cwd: Path = ROOT) -> None:
    # The commands are made here alone.
    subprocess.run(command, cwd=cwd, check=True)  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
