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
from dbt.adapters.icebergmv.maintenance.status.configured.clustering import cluster_by_texts
from dbt.adapters.icebergmv.maintenance.status.configured.config_words import true_or_false
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import (
    definition_below_rows,
    stale_read_behavior,
    staleness_window,
)
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import time_span
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import (
    deterministic_functions,
    keep_versions,
    layout,
    refresh_policy,
    written_at_columns,
)
from dbt.adapters.icebergmv.storage_names import taken_names
from dbt.adapters.icebergmv.warning import several_have, warn
from dbt.adapters.icebergmv.without_effect import WHY, names_in, of_others, without_effect

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
DEFAULTS: Mapping[str, object] = {"on_configuration_change": "apply"}
"""Settings of views that are dbt's own, with the values that dbt gives to every model."""
MATERIALIZED = "materialized"
NEAR = 0.8
_OF_TABLES = {field.name for field in fields(SparkConfig)} - {"partition_by"}


def check_settings(nodes: Iterable[RelationConfig], ours: Iterable[str], models: object = None) -> None:
    """Warn of settings that have no effect, and refuse all values that are not allowed.

    `ours` are the names of the adapter's own settings, `models` is that section of dbt_project.yml.

    Raises DbtRuntimeError.
    """
    nodes = list(nodes)
    views = views_of(nodes)
    configured = [(view, _config(view)) for view in views]
    ignored = without_effect([(view.name, config) for view, config in configured], _for_all_kinds(nodes, models))
    for words in [*misspelt(nodes, ours), *ignored]:
        warn(words)
    bad = [(view, words) for view, config in configured for words in bad_values(config)]
    found = [f"{_shown(view)}: {words}" for view, words in (*bad, *taken_names(configured, nodes))]
    if found:
        lines = "\n  ".join(found)
        raise DbtRuntimeError(f"Cannot run: the configuration of materialized views is not valid.\n  {lines}")


def misspelt(nodes: Iterable[RelationConfig], ours: Iterable[str]) -> list[str]:
    """Return a warning for each unknown name that is nearly one of `ours`, with the models that have it.

    So is one for `materialised='materialized_view'`, which would make a plain view.
    """
    models: dict[tuple[str, str], list[str]] = {}
    known = frozenset(ours)
    nodes = list(nodes)
    for view in views_of(nodes):
        for pair in near_misses(_config(view), known):
            models.setdefault(pair, []).append(view.name)
    for node in nodes:
        unknown: Mapping[str, Any] = getattr(node.config, "_extra", {})
        for name, value in unknown.items():
            if value == MATERIALIZATION and _nearest(name.lower(), [MATERIALIZED]):
                models.setdefault((name, MATERIALIZED), []).append(node.name)
    return [
        f"There is no setting `{name}`, which {several_have(names)}: it has no effect. Is it `{meant}`?"
        for (name, meant), names in sorted(models.items())
    ]


def views_of(nodes: Iterable[RelationConfig]) -> list[RelationConfig]:
    """Return the models that are materialized views, by name."""
    return sorted(filter(_is_view, nodes), key=_shown)


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
    of_views = sorted({*known - _OF_TABLES, *DEFAULTS})
    for name in config:
        let_alone = name in known or name in OF_OTHERS or name in DEFAULTS
        meant = None if let_alone else _nearest(name.lower().replace("-", "_"), of_views)
        if meant is not None and config.get(meant) in (None, DEFAULTS.get(meant)):
            yield name, meant


def _nearest(name: str, known: Sequence[str]) -> str | None:
    """Return the known name that is written nearly so, or the one that begins so with two words or more."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=NEAR)
    begun = [k for k in known if "_" in name and k.startswith(f"{name.rstrip('s')}_")]
    return next(iter([*near, *begun]), None)


def _for_all_kinds(nodes: Iterable[RelationConfig], section: object) -> frozenset[str]:
    """Return the settings that dbt_project.yml gives to models, of which others than views have use for them."""
    given = names_in(section) & WHY.keys()
    return given & of_others(_config(node) for node in nodes if not _is_view(node)) if given else given


def _is_view(node: RelationConfig) -> bool:
    return getattr(node.config, MATERIALIZED, None) == MATERIALIZATION


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
