"""Settings of dbt and of Spark's tables that mean nothing on a materialized view: a model that has one is warned of.

A setting that dbt_project.yml gives to models of all kinds is let alone where another one of them has use for it.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from dbt.adapters.icebergmv.warning import several_have

NEAR = 0.9
"""How alike a misspelt name is: these are long, and names of other adapters resemble them."""

_CHANGES = "It is of incremental models; a refresh finds what changed without it. Remove it."
_BATCHES = "It is of batches of incremental models; a view has the rows that its SELECT gives. Remove it."
WHY: Mapping[str, str] = {
    "unique_key": "A view stores what its SELECT gives; if that should be one row of each key, write it in the SELECT.",
    "incremental_strategy": _CHANGES,
    "incremental_predicates": _CHANGES,
    "merge_update_columns": _CHANGES,
    "merge_exclude_columns": _CHANGES,
    "on_schema_change": "A changed SELECT rebuilds the view, unless `on_configuration_change` is set. Remove it.",
    "batch_size": _BATCHES,
    "begin": _BATCHES,
    "lookback": _BATCHES,
    "concurrent_batches": _BATCHES,
    "file_format": "Its rows are in an Iceberg table; `write.format.default` in `tblproperties` says in which files.",
    "location_root": "Its rows are where the catalog puts them; `write.data.path` in `tblproperties` is another place.",
}
"""What to know of each setting, and to do instead."""

_WITHOUT_WISH: Mapping[str, object] = {"on_schema_change": "ignore", "lookback": 1, "file_format": "iceberg"}
"""Values that dbt gives to every model, or that ask for nothing else than a view does."""


def without_effect(views: Iterable[tuple[str, Mapping[str, Any]]], shared: Collection[str]) -> list[str]:
    """Return a warning for each such setting, or name that is nearly one, but for `shared` ones.

    `views` are names and settings of the materialized views.
    """
    models: dict[tuple[str, str], list[str]] = {}
    for view, config in views:
        for found in _found(config):
            if found[0] not in shared:
                models.setdefault(found, []).append(view)
    return [
        f"`{name}` has no effect on a materialized view, and {several_have(names)} it. {WHY[known]}"
        for (name, known), names in sorted(models.items())
    ]


def of_others(configs: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of such settings in the settings of other models."""
    return frozenset(name for config in configs for name, _ in _found(config))


def names_in(section: object) -> frozenset[str]:
    """Return all names in a section of dbt_project.yml, at any depth, those of folders too."""
    if not isinstance(section, Mapping):
        return frozenset()
    return frozenset(str(name).lstrip("+") for name in section).union(*map(names_in, section.values()))


def _found(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each setting that asks for something, as it is written, and the one of `WHY` that it is or nearly is."""
    for name, value in config.items():
        known = name if name in WHY else next(iter(difflib.get_close_matches(name, WHY, n=1, cutoff=NEAR)), None)
        if known is not None and value and value != _WITHOUT_WISH.get(known):
            yield name, known
