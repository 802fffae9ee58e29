"""The configuration that shapes a materialized view, and what a change of it asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Known
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import FUNCTIONS
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.configured.config_words import one_of
from dbt.adapters.icebergmv.maintenance.status.configured.stale_read_config import (
    DEFINITION_BELOW_ROWS,
    StaleReadBehavior,
    stale_read_behavior,
)
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import ViewState
from dbt.adapters.icebergmv.maintenance.status.recorded.snapshot_state import SPARK_KEY
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import is_utc

RefreshPolicy = Literal["auto", "incremental", "incremental_strict", "full"]
Layout = Literal["view", "table"]
SAID = "said"
"""Key of the recorded configuration: what people were told that the view cannot have (refresh/shortcomings.py)."""

KEEP_VERSIONS = 10
"""Iceberg's own default for views."""

VERSIONS_KEPT = "version.history.num-entries"
"""Iceberg's property of a view that says it."""

_MOST_VERSIONS = 1_000
_LAYOUT_KEY = "layout"
_KEEP_VERSIONS_KEY = "keep-versions"
_WRITTEN_AT_KEY = "written-at-columns"
_DETERMINISTIC_KEY = "deterministic-functions"
_BEFORE = {"stale-read-behavior": "use_data_table"}
"""What states of former versions, which did not record it, were built with."""

_LAYOUTS: tuple[Layout, ...] = ("view", "table")
_POLICIES: tuple[RefreshPolicy, ...] = ("auto", "incremental", "incremental_strict", "full")


@dataclass(frozen=True)
class ViewConfig:
    """What the model asks for. `partition_by` holds Spark DDL transforms; None: to be derived.

    `settings` are the session settings that change what the SQL means. `staleness_window` is in seconds. Readers who
    are to get current rows get the definition where the base tables have fewer rows than `definition_below_rows` on
    average.
    `cluster_by` is the write order of the storage table, a column a text. `written_at_columns` are names in lower case
    of columns that say when their row was written (definition/clock/clock_columns.py), `deterministic_functions` those
    of user-defined functions (definition/determinism/user_functions.py). `spark_release` is that of the Spark which
    computes the rows, such as 4.0; "": not known.
    A run leaves rows alone that are younger than `target_lag` seconds (resting.py).
    Without `incremental` every refresh is a full one, whatever the policy. With the layout `table` the storage table
    has the name of the view, and is what people read. Else the view keeps its last `keep_versions` versions, and the
    storage table the snapshots that these read.
    """

    definition_hash: str
    storage_table: TableName
    partition_by: tuple[str, ...] | None = None
    tblproperties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    column_comments: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    refresh_policy: RefreshPolicy = "auto"
    incremental: bool = True
    refresh_on_run: bool = True
    stale_read_behavior: StaleReadBehavior = "use_data_table"
    staleness_window: int | None = None
    definition_below_rows: int = DEFINITION_BELOW_ROWS
    target_lag: int | None = None
    layout: Layout = "view"
    cluster_by: tuple[str, ...] = ()
    keep_versions: int = KEEP_VERSIONS
    written_at_columns: tuple[str, ...] = ()
    deterministic_functions: tuple[str, ...] = ()
    spark_release: str = ""

    def recorded(self) -> dict[str, object]:
        """Return the part that is kept in the state to be compared with the next run's."""
        shown = {
            "partition-by": None if self.partition_by is None else list(self.partition_by),
            "tblproperties": dict(self.tblproperties),
            "comment": self.comment,
            "column-comments": dict(self.column_comments),
            "stale-read-behavior": self.stale_read_behavior,
            "staleness-window": self.staleness_window,
            **({} if self.layout == "view" else {_LAYOUT_KEY: self.layout}),
        }
        # The first two shape the SQL of the view alone, which every look at it brings up to date.
        others = {
            "definition-below-rows": (self.definition_below_rows, DEFINITION_BELOW_ROWS),
            "refresh-on-run": (self.refresh_on_run, True),
            "cluster-by": ([*self.cluster_by], []),
            _KEEP_VERSIONS_KEY: (self.keep_versions, KEEP_VERSIONS),
            _WRITTEN_AT_KEY: ([*self.written_at_columns], []),
            _DETERMINISTIC_KEY: ([*self.deterministic_functions], []),
            SPARK_KEY: (self.spark_release, ""),
        }
        return {**shown, **{key: value for key, (value, default) in others.items() if value != default}}

    def given(self, default_namespace: str) -> Known:
        """Return what the analysis of the SELECT is given besides it."""
        functions = frozenset(self.deterministic_functions)
        return Known(default_namespace, session_is_utc=is_utc(self.settings), deterministic_functions=functions)

    @property
    def keeps_hidden_columns(self) -> bool:
        """Return whether the storage table may have columns that readers do not see."""
        return self.layout == "view"


def recorded_view_config(state: ViewState) -> ViewConfig:
    """Return the configuration that a view was last published with, as far as it is recorded.

    `refresh_policy` and `target_lag` are not: they say what a run does, not what the view is.
    """
    had: Mapping[str, Any] = {**_BEFORE, **state.config}
    partition_by = had.get("partition-by")
    return ViewConfig(
        state.definition_hash,
        state.storage_table,
        partition_by=None if partition_by is None else tuple(partition_by),
        tblproperties=had.get("tblproperties") or {},
        comment=had.get("comment"),
        column_comments=had.get("column-comments") or {},
        settings=state.settings,
        refresh_on_run=had.get("refresh-on-run", True),
        stale_read_behavior=stale_read_behavior(had["stale-read-behavior"]),
        staleness_window=had.get("staleness-window"),
        definition_below_rows=had.get("definition-below-rows", DEFINITION_BELOW_ROWS),
        layout=recorded_layout(state),
        cluster_by=tuple(had.get("cluster-by", ())),
        keep_versions=had.get(_KEEP_VERSIONS_KEY, KEEP_VERSIONS),
        written_at_columns=tuple(had.get(_WRITTEN_AT_KEY, ())),
        deterministic_functions=tuple(had.get(_DETERMINISTIC_KEY, ())),
        spark_release=had.get(SPARK_KEY, ""),
    )


@dataclass(frozen=True)
class ConfigurationChanges:
    """What differs from the last run: `rebuild` needs new storage contents, `alter` does not."""

    rebuild: tuple[str, ...] = ()
    alter: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rebuild or self.alter)


def configuration_changes(config: ViewConfig, state: ViewState) -> ConfigurationChanges:
    """Return what the model asks for that the state was not built with."""
    wanted, had = config.recorded(), state.config
    rebuild = []
    if config.definition_hash != state.definition_hash:
        rebuild.append("the SELECT changed")
    if config.layout != recorded_layout(state):
        rebuild.append(f"the layout is to be {config.layout}")
    elif config.storage_table != state.storage_table:
        rebuild.append(f"the storage table is to be {show(config.storage_table)}")
    if wanted["partition-by"] != had.get("partition-by"):
        rebuild.append(f"partition_by is {_fields(wanted['partition-by'])}, and was {_fields(had.get('partition-by'))}")
    rebuild += changed_settings(config.settings, state.settings)
    computed_by = state.config.get(SPARK_KEY)
    if config.spark_release and computed_by and config.spark_release != computed_by:
        rebuild.append(f"Spark is {config.spark_release}, and was {computed_by}")
    return ConfigurationChanges(tuple(rebuild), tuple(_altered(wanted, {**_BEFORE, **had})))


def _altered(wanted: Mapping[str, object], had: Mapping[str, object]) -> Iterator[str]:
    """Yield what differs that needs no new rows."""
    for key, words in (("tblproperties", "tblproperties"), ("column-comments", "column descriptions")):
        names = _differing(wanted[key], had.get(key))
        if names:
            yield f"{words} changed ({', '.join(names)})"
    if wanted["comment"] != had.get("comment"):
        yield "the description changed"
    for key in ("cluster-by", _WRITTEN_AT_KEY, _DETERMINISTIC_KEY):
        if wanted.get(key) != had.get(key):
            yield f"{key.replace('-', '_')} is {_texts(wanted.get(key))}, and was {_texts(had.get(key))}"
    now_kept, had_kept = (values.get(_KEEP_VERSIONS_KEY, KEEP_VERSIONS) for values in (wanted, had))
    if now_kept != had_kept:
        yield f"keep_versions is {now_kept}, and was {had_kept}"
    for key, unit in (("stale-read-behavior", ""), ("staleness-window", " seconds")):
        if wanted[key] != had.get(key):
            now, before = (f"{v}{unit}" if v is not None else "not set" for v in (wanted[key], had.get(key)))
            yield f"{key.replace('-', '_')} is {now}, and was {before}"


def _differing(now: object, before: object) -> list[str]:
    """Return the names that two maps do not give the same value."""
    one, other = (dict(values) if isinstance(values, Mapping) else {} for values in (now, before))
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def _texts(recorded: object) -> str:
    """Return a recorded list of texts as people write it."""
    return ", ".join(map(str, recorded)) if isinstance(recorded, list) else "not set"


def _fields(recorded: object) -> str:
    """Return a recorded `partition_by` as people write it."""
    return ", ".join(map(str, recorded)) or "empty" if isinstance(recorded, list) else "derived"


def keep_versions(value: object) -> int:
    """Return how many versions a view keeps; None: the default. Raises InvalidConfig."""
    if value is None:
        return KEEP_VERSIONS
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_VERSIONS:
        raise InvalidConfig(f"keep_versions is {value!r}. Give a number of versions from 1 to {_MOST_VERSIONS:,}.")
    return value


def written_at_columns(value: object) -> tuple[str, ...]:
    """Return the columns that say when a row was written, in lower case; None: none. Raises InvalidConfig."""
    return _names("written_at_columns", value, "column")


def deterministic_functions(value: object) -> tuple[str, ...]:
    """Return names of user-defined functions, in lower case and without quotes; None: none. Raises InvalidConfig."""
    names = _names("deterministic_functions", value, "function")
    found = tuple(dict.fromkeys(name.replace("`", "") for name in names))
    for name in found:
        if name in FUNCTIONS:
            raise InvalidConfig(f"deterministic_functions names {name}, which is Spark's own. Take it out.")
    return found


def _names(setting: str, value: object, of: str) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if names is None:
        return ()
    if not isinstance(names, (list, tuple)) or not all(isinstance(n, str) and n for n in names):
        raise InvalidConfig(f"{setting} is {value!r}. Give the name of a {of}, or a list of names.")
    return tuple(dict.fromkeys(name.lower() for name in names))


def changed_settings(wanted: Mapping[str, str], had: Mapping[str, str]) -> list[str]:
    """Return which session settings that change the meaning of a SELECT are others than they were."""
    return [
        f"{key} is {wanted.get(key, 'not set')}, and was {had.get(key, 'not set')}"
        for key in sorted(wanted.keys() | had.keys())
        if wanted.get(key) != had.get(key)
    ]


def recorded_layout(state: ViewState) -> Layout:
    """Return the layout that a view has."""
    return "table" if state.config.get(_LAYOUT_KEY) == "table" else "view"


def layout(value: object) -> Layout:
    """Return a layout. Raises InvalidConfig for a word that is none."""
    return one_of(_LAYOUTS, "layout", value)


def refresh_policy(value: object) -> RefreshPolicy:
    """Return a refresh policy. Raises InvalidConfig for a word that is none."""
    return one_of(_POLICIES, "refresh_policy", value)
