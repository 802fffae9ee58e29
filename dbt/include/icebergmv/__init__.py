"""The macros and project files that dbt loads with the adapter."""

from pathlib import Path

PACKAGE_PATH = str(Path(__file__).parent)
