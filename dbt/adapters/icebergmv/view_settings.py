"""The configuration of all materialized views of a project, checked before any of them is built.

dbt validates no configuration of an adapter's own when it parses a project. Its cache of relations is filled before
anything is built, with every node at hand; so that is where bad values are told, all at once, and names that no one
knows.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from dbt.adapters.contracts.relation import RelationConfig
from dbt.adapters.spark.impl import SparkConfig
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.maintenance.definition.partitioning import partition_by_texts
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.status.clustering import cluster_by_texts
from dbt.adapters.icebergmv.maintenance.status.config_words import true_or_false
from dbt.adapters.icebergmv.maintenance.status.stale_read_config import (
    definition_below_rows,
    stale_read_behavior,
    staleness_window,
)
from dbt.adapters.icebergmv.maintenance.status.time_spans import time_span
from dbt.adapters.icebergmv.maintenance.status.view_config import (
    deterministic_functions,
    keep_versions,
    layout,
    refresh_policy,
    written_at_columns,
)
from dbt.adapters.icebergmv.storage_names import taken_names
from dbt.adapters.icebergmv.warning import several, warn

MATERIALIZATION = "materialized_view"
VIEW_COMMANDS = frozenset({"run", "build", "compile"})
CHECKS: Mapping[str, Callable[[Any], object]] = {
    "partition_by": partition_by_texts,
    "tblproperties": lambda value: _refuse_no_map("tblproperties", value),
    "refresh_policy": refresh_policy,
    "refresh_on_run": lambda value: true_or_false("refresh_on_run", value, True),
    "stale_read_behavior": stale_read_behavior,
    "staleness_window": staleness_window,
    "definition_below_rows": definition_below_rows,
    "target_lag": lambda value: time_span("target_lag", value),
    "layout": layout,
    "cluster_by": cluster_by_texts,
    "keep_versions": keep_versions,
    "written_at_columns": written_at_columns,
    "deterministic_functions": deterministic_functions,
}
"""What reads the value of a setting; it raises InvalidConfig for one that is not allowed."""

OF_OTHERS = frozenset(
    {"partitions", "properties", "refresh_interval", "refresh_mode", "refresh_warehouse", "table_properties"}
)
"""Settings of other adapters, which a project that has several targets may hold beside ours."""
UNIQUE_KEY = "unique_key"
"""A setting of incremental models, which decides there which rows stay."""
NEAR = 0.8
_OF_TABLES = {field.name for field in fields(SparkConfig)} - {"partition_by"}


def check_settings(nodes: Iterable[RelationConfig], ours: Iterable[str]) -> None:
    """Warn of settings that have no effect, and refuse all values that are not allowed.

    `ours` are the names of the adapter's own settings.

    Raises DbtRuntimeError.
    """
    nodes = list(nodes)
    views = views_of(nodes)
    for words in [*misspelt(views, ours), *of_incremental_models(views)]:
        warn(words)
    configured = [(view, _config(view)) for view in views]
    bad = [(view, words) for view, config in configured for words in bad_values(config)]
    found = [f"{_shown(view)}: {words}" for view, words in (*bad, *taken_names(configured, nodes))]
    if found:
        lines = "\n  ".join(found)
        raise DbtRuntimeError(f"Cannot run: the configuration of materialized views is not valid.\n  {lines}")


def misspelt(views: Iterable[RelationConfig], ours: Iterable[str]) -> list[str]:
    """Return a warning for each unknown name that is nearly one of `ours`, with the models that have it."""
    models: dict[tuple[str, str], list[str]] = {}
    known = frozenset(ours)
    for view in views:
        for pair in near_misses(_config(view), known):
            models.setdefault(pair, []).append(view.name)
    return [
        f"There is no setting `{name}`, which {several(names)} {'has' if len(names) == 1 else 'have'}: "
        f"it has no effect. Is it `{meant}`?"
        for (name, meant), names in sorted(models.items())
    ]


def of_incremental_models(views: Iterable[RelationConfig]) -> list[str]:
    """Return a warning for the models that have a unique key: it would choose rows, which a view does in its SELECT."""
    names = [view.name for view in views if _config(view).get(UNIQUE_KEY)]
    if not names:
        return []
    return [
        f"`{UNIQUE_KEY}` has no effect on a materialized view, and "
        f"{several(names)} {'has' if len(names) == 1 else 'have'} it. "
        "A view stores what its SELECT gives; if that should be one row of each key, write it in the SELECT."
    ]


def views_of(nodes: Iterable[RelationConfig]) -> list[RelationConfig]:
    """Return the models that are materialized views, by name."""
    return sorted((n for n in nodes if getattr(n.config, "materialized", None) == MATERIALIZATION), key=_shown)


def bad_values(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with each value that is not allowed."""
    for name, check in CHECKS.items():
        value = config.get(name)
        if value is None or value == "":
            continue
        try:
            check(value)
        except InvalidConfig as error:
            yield error.cause


def near_misses(config: Mapping[str, Any], ours: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each unknown name that is nearly a setting of ours, with that setting.

    A setting that the model has under its right name too was not misspelt.
    """
    known = frozenset(ours)
    of_views = sorted(known - _OF_TABLES)
    for name in config:
        meant = None if name in known or name in OF_OTHERS else _nearest(name.lower().replace("-", "_"), of_views)
        if meant is not None and config.get(meant) is None:
            yield name, meant


def _nearest(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that is written nearly so, or the one that begins so with two words or more."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=NEAR)
    begun = [k for k in known if "_" in name and k.startswith(f"{name.rstrip('s')}_")]
    return next(iter([*near, *begun]), None)


def _config(node: RelationConfig) -> Mapping[str, Any]:
    """Return all settings of a model, those that dbt does not know included."""
    config: Any = node.config
    return config if isinstance(config, Mapping) else config.to_dict(omit_none=True)


def _refuse_no_map(name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise InvalidConfig(f"{name} is {value!r}. Give a map of names to values.")


def _shown(node: RelationConfig) -> str:
    path = getattr(node, "original_file_path", "")
    return f"{node.name} ({path})" if path else node.name
