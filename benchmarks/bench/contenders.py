"""Who competes: a materialized view, and the models that people write by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from benchmarks.bench.views import VIEWS, View
from benchmarks.parts.tables import FACTS, LAST_DAY

Contender = Literal["auto", "rebuild", "lookback", "informed", "merge", "incremental", "full"]
CONTENDERS: tuple[Contender, ...] = get_args(Contender)
PLANS: tuple[Contender, ...] = ("auto", "incremental", "full")
"""Materialized views by their `refresh_policy`; the others show what the plans cost that auto did not take."""

MAIN: tuple[Contender, ...] = ("auto", "rebuild", "lookback", "informed", "merge")
TITLES: dict[Contender, str] = {
    "auto": "materialized view",
    "rebuild": "rebuild",
    "lookback": "insert_overwrite, 3 days",
    "informed": "insert_overwrite, told the days",
    "merge": "merge, 3 days",
    "incremental": "refresh_policy incremental",
    "full": "refresh_policy full",
}
CHANGED_DAYS = "BENCH_CHANGED_DAYS"
"""The environment variable with the condition that the informed model reads."""

_NO_DAYS = "no output column is the day, so no partition can be overwritten for the days that changed"
_ONE_ROW = "a single row has no key, and no partition"
LEFT_OUT: dict[tuple[str, Contender], str] = {
    ("by_customer", "lookback"): _NO_DAYS,
    ("by_customer", "informed"): _NO_DAYS,
    ("window_by_customer", "lookback"): "a running total reaches over all days, so three of them do not have it",
    ("window_by_customer", "informed"): "a running total changes on later days too, which are not those that changed",
    ("total", "lookback"): _ONE_ROW,
    ("total", "informed"): _ONE_ROW,
    ("total", "merge"): _ONE_ROW,
}
"""Which model by hand does not exist for a view, and why."""

_RECENT = f"day >= date_sub({LAST_DAY}, 3)"
_CHANGED = f"{{{{ env_var('{CHANGED_DAYS}') }}}}"


def contenders_of(view: View, with_plans: bool = False) -> tuple[Contender, ...]:
    """Return who competes for a view; with the plans that auto may not take, if asked for."""
    wanted = (*MAIN, *(p for p in PLANS if p != "auto")) if with_plans else MAIN
    return tuple(c for c in wanted if (view.name, c) not in LEFT_OUT)


def model_name(view: View, contender: Contender) -> str:
    """Return the name of the model."""
    return f"{view.name}__{contender}"


def model_sql(view: View, contender: Contender) -> str:
    """Return the text of the model."""
    match contender:
        case "auto" | "incremental" | "full":
            return _config(view, "materialized_view", refresh_policy=contender) + view.over()
        case "rebuild":
            return _config(view, "table") + view.over()
        case "lookback":
            return _by_hand(view, _RECENT, incremental_strategy="insert_overwrite")
        case "informed":
            return _by_hand(view, _CHANGED, incremental_strategy="insert_overwrite")
        case "merge":
            return _by_hand(view, _merged(view), incremental_strategy="merge", unique_key=list(view.key))


def models() -> Iterator[tuple[View, Contender]]:
    """Yield every model of the matrix."""
    for view in VIEWS.values():
        yield from ((view, contender) for contender in contenders_of(view, with_plans=True))


def _config(view: View, materialized: str, **more: object) -> str:
    by = {"partition_by": ["day"]} if view.has_days else {}
    named = {"materialized": materialized, **more, **by}
    return f"{{{{ config({', '.join(f'{k}={v!r}' for k, v in named.items())}) }}}}\n"


def _by_hand(view: View, condition: str, **config: object) -> str:
    recent = f"with recent as (select * from {FACTS} {{% if is_incremental() %}} where {condition} {{% endif %}})\n"
    return _config(view, "incremental", **config) + recent + view.over("recent")


def _merged(view: View) -> str:
    """Return the facts that a merge reads: those of the last days, or all of a customer who has one there."""
    if view.name in ("by_customer", "window_by_customer"):
        return f"customer in (select customer from {FACTS} where {_RECENT})"
    return _RECENT
