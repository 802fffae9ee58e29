"""Runs the tests with the lowest and the newest allowed versions, each in an environment of its own.

An environment is a folder in `.versions/`. Its packages are resolved by uv from the dependencies in pyproject.toml; the
test tools are always the newest. In each environment tests/ runs, then a few integration tests on real Spark. At the
end a table says which versions were used and what passed. The exit code is 1 when anything failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".versions"
SHOWN = ("pyspark", "dbt-core", "pyiceberg", "sqlglot")
TOOLS = (
    "pytest<10",
    "pytest-xdist",
    "hypothesis",
    "duckdb",
    "dbt-tests-adapter",
    "pyspark[connect]",
    "tpchgen-cli",
    "pyiceberg[hive,sql-postgres]",
)
SMOKE = (
    "integration/dbt/test_basic.py",
    "integration/refresh/test_scenarios.py",
    "integration/refresh/test_transforms.py",
)


@dataclass(frozen=True)
class Environment:
    """The versions to test: a Python, a strategy of uv, and further bounds on packages."""

    name: str
    python: str
    resolution: str
    bounds: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    """What users may have installed beside."""

    @property
    def folder(self) -> Path:
        """Return where the environment is."""
        return FOLDER / self.name

    @property
    def locked(self) -> Path:
        """Return the file that lists the resolved versions of the product's dependencies."""
        return FOLDER / f"{self.name}.txt"


@dataclass
class Outcome:
    """What is known of one environment: versions, and a word for each step."""

    environment: Environment
    versions: dict[str, str] = field(default_factory=dict)
    steps: dict[str, str] = field(default_factory=dict)

    @property
    def has_failed(self) -> bool:
        """Return whether a step failed."""
        return "failed" in self.steps.values()


ENVIRONMENTS = (
    Environment("lowest", "3.10", "lowest-direct"),
    Environment("spark-4.0", "3.12", "highest", ("pyspark<4.1",)),
    Environment("newest", "3.13", "highest"),
    Environment("compiled", "3.12", "highest", more=("sqlglot[c]",)),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for and print the table."""
    options = _options(arguments)
    FOLDER.mkdir(exist_ok=True)
    outcomes = [_outcome(e, options) for e in ENVIRONMENTS if e.name in (options.environment or [e.name])]
    print(_table(outcomes))
    return int(any(outcome.has_failed for outcome in outcomes))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [e.name for e in ENVIRONMENTS]
    parser.add_argument("--environment", action="append", choices=names, help="only this one; may be repeated")
    parser.add_argument("--dry-run", action="store_true", help="resolve the versions, install and run nothing")
    parser.add_argument("--without-spark", action="store_true", help="leave out the integration tests")
    parser.add_argument("--tests", nargs="+", default=["tests"], metavar="PATH", help="fast tests to run")
    return parser.parse_args(arguments)


def _outcome(environment: Environment, options: argparse.Namespace) -> Outcome:
    outcome = Outcome(environment)
    if not _done(outcome, "resolve", _resolve(environment)):
        return outcome
    outcome.versions = _versions(environment.locked)
    if options.dry_run or not all(_done(outcome, "install", step) for step in _install(environment)):
        return outcome
    _done(outcome, "tests", _pytest(environment, options.tests))
    if not options.without_spark:
        _done(outcome, "integration", _pytest(environment, SMOKE))
    return outcome


def _done(outcome: Outcome, step: str, command: Sequence[str]) -> bool:
    """Run a command, note its outcome under the name of the step, and return whether it passed."""
    print(f"{outcome.environment.name}: {' '.join(command)}", flush=True)
    # The commands are made here alone.
    passed = subprocess.run(command, cwd=ROOT, env=_variables(), check=False).returncode == 0  # noqa: S603
    outcome.steps[step] = "passed" if passed else "failed"
    return passed


def _variables() -> dict[str, str]:
    """Return the environment variables of a step: this tree comes before any installed copy."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _resolve(environment: Environment) -> list[str]:
    bounds = FOLDER / f"{environment.name}.bounds"
    bounds.write_text("\n".join(environment.bounds))
    return [
        *_uv("compile", "--quiet", "--no-header", "--no-annotate", "--no-emit-index-url"),
        *("--python-version", environment.python, "--resolution", environment.resolution),
        *("--constraint", str(bounds), "--output-file", str(environment.locked), "pyproject.toml"),
    ]


def _install(environment: Environment) -> list[list[str]]:
    python = ["--python", str(environment.folder / "bin" / "python")]
    locked = str(environment.locked)
    return [
        [
            sys.executable,
            "-m",
            "uv",
            "venv",
            "--quiet",
            "--clear",
            "--python",
            environment.python,
            str(environment.folder),
        ],
        _uv("install", "--quiet", *python, "--requirement", locked),
        _uv("install", "--quiet", *python, "--constraint", locked, *TOOLS, *environment.more),
        _uv("install", "--quiet", *python, "--no-deps", "--editable", "."),
    ]


def _uv(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "uv", "pip", *arguments]


def _pytest(environment: Environment, paths: Sequence[str]) -> list[str]:
    """Return the command of the tests. Warnings of other versions are shown, not errors."""
    python = str(environment.folder / "bin" / "python")
    return [python, "-m", "pytest", *paths, "-q", "-n", "2", "--dist", "loadfile", "-W", "default"]


def _versions(locked: Path) -> dict[str, str]:
    pins = (line.partition("==") for line in locked.read_text().splitlines())
    return {name.partition("[")[0]: version.split(" ")[0] for name, _, version in pins if version}


def _table(outcomes: Sequence[Outcome]) -> str:
    steps = ("resolve", "install", "tests", "integration")
    rows = [("environment", "python", *SHOWN, *steps)]
    for o in outcomes:
        versions = [o.versions.get(name, "-") for name in SHOWN]
        rows.append((o.environment.name, o.environment.python, *versions, *(o.steps.get(s, "-") for s in steps)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


if __name__ == "__main__":
    sys.exit(main())
