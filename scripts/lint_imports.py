"""Run import-linter over the rooms of the engine (the contracts are in pyproject.toml).

import-linter takes only packages whose parents are namespace packages. `dbt` and `dbt.adapters` are ordinary packages
of other distributions, which add our folder to their path. Here they are shown as the namespace packages that they are
in effect.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

from importlinter.cli import lint_imports

ROOT = Path(__file__).resolve().parents[1]
NAMESPACES = ("dbt", "dbt.adapters")


class _Namespaces:
    """Finds `dbt` and `dbt.adapters` as namespace packages of this repository alone."""

    def find_spec(self, name: str, *_path_and_target: object) -> ModuleSpec | None:
        if name not in NAMESPACES:
            return None
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(ROOT.joinpath(*name.split(".")))]
        return spec


if __name__ == "__main__":
    for name in NAMESPACES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Namespaces())
    sys.exit(lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) or 0)
