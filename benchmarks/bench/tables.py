"""The results as tables of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.bench.changes import all_changes
from benchmarks.bench.contenders import LEFT_OUT, MAIN, TITLES, Contender
from benchmarks.bench.measured import wrong_rows
from benchmarks.bench.results import cells, choices, fastest_right, sweeps, verdict
from benchmarks.bench.views import VIEWS
from benchmarks.parts.tables import DAYS, PRODUCTS_COUNT, customers

_CHANGES = {change.name: change for change in all_changes()}
_MIB = 2**20
_VOLUMES = "MiB in so many files that were read; MiB in so many files that were written. `?`: not reported by Iceberg."


def change_title(name: str) -> str:
    """Return the name of a change for people."""
    return _CHANGES[name].title


def summary(found: Mapping[str, Any]) -> list[str]:
    """Return what the command prints at its end: the seconds of every cell, and the verdict."""
    return [line for view in _views(found) for line in (f"\n{VIEWS[view].title}", *seconds(found, view))] + [
        "",
        *verdict(found),
    ]


def generated(found: Mapping[str, Any]) -> str:
    """Return the part of the page that the tool writes."""
    if not found["results"]:
        return "Nothing has been measured for this page yet: `make bench BENCH=--docs` does it."
    lines = [*_setting(found), "", *_plots(found), "", "In the tables, **bold** is the fastest with the right rows."]
    lines += ["", "### In short", "", *(f"- {line}" for line in verdict(found)), ""]
    lines += ["### Seconds, and wrong rows", ""]
    for view in _views(found):
        lines += [f"**{_capital(VIEWS[view].title)}**", "", "```sql", VIEWS[view].over(), "```", ""]
        lines += [*seconds(found, view), ""]
    lines += ["### Files read and written", "", _VOLUMES, "", *volumes(found), ""]
    lines += ["### Where the product loses", "", *losses(found), ""]
    if choices(found):
        lines += ["### The plan that auto takes", "", *plans(found), ""]
    lines += ["### Who does not compete", "", *left_out(_views(found))]
    return "\n".join(lines)


def seconds(found: Mapping[str, Any], view: str) -> list[str]:
    """Return the table of a view: medians, their spread, the plan, wrong rows."""
    of_view = {change: cell for (name, change), cell in cells(found).items() if name == view}
    contenders = [c for c in MAIN if any(c in cell for cell in of_view.values())]
    lines = _head("Change", *(TITLES[c] for c in contenders))
    for change, cell in of_view.items():
        lines.append(_row(change_title(change), *(_time(cell.get(c), c == fastest_right(cell)) for c in contenders)))
    return lines


def volumes(found: Mapping[str, Any]) -> list[str]:
    """Return what the contenders read and wrote in every cell."""
    lines = _head("View", "Change", *(TITLES[c] for c in MAIN))
    for (view, change), cell in cells(found).items():
        lines.append(_row(VIEWS[view].title, change_title(change), *(_volume(cell.get(c)) for c in MAIN)))
    return lines


def losses(found: Mapping[str, Any]) -> list[str]:
    """Return the cells in which a contender with the right rows was faster than the materialized view."""
    lines = _head("View", "Change", "Materialized view", "Faster, and right", "Times the time")
    for (view, change), cell in cells(found).items():
        best = fastest_right(cell)
        if best != "auto":
            auto, other = cell["auto"], cell[best]
            times = f"{auto['seconds'] / other['seconds']:.2f}"
            how = f"{_plan(auto)}, {auto['seconds']:.2f} s"
            lines.append(
                _row(VIEWS[view].title, change_title(change), how, f"{_title(best)}, {other['seconds']:.2f} s", times)
            )
    return lines if len(lines) > 2 else ["Nowhere in these cells."]


def plans(found: Mapping[str, Any]) -> list[str]:
    """Return, of the cells in which every policy was measured, what auto took and what the others cost."""
    of_cells = cells(found)
    lines = _head("View", "Change", "auto", "incremental", "full", "Times the best")
    for choice in choices(found):
        cell = of_cells[choice.view, choice.change]
        times = (_plan_time(cell[policy]) for policy in ("auto", "incremental", "full"))
        lines.append(_row(VIEWS[choice.view].title, change_title(choice.change), *times, f"{choice.times:.2f}"))
    return lines


def left_out(views: Sequence[str]) -> list[str]:
    """Return which model by hand does not exist for which view, and why."""
    lines = _head("View", "Contender", "Why")
    lines += (_row(VIEWS[v].title, TITLES[c], why) for (v, c), why in LEFT_OUT.items() if v in views)
    return lines


def _setting(found: Mapping[str, Any]) -> Iterator[str]:
    machine, load = found["machine"], found["load"]
    rounds = " to ".join(map(str, sorted({one["rounds"] for one in found["results"]})))
    versions = ("python", "java", "pyspark", "iceberg", "dbt-core", "dbt-spark", "pyiceberg", "dbt-icebergmv")
    yield (
        f"`{found['command']}`: {found['rows']:,} facts on {DAYS} days, {customers(found['rows']):,} customers, "
        f"{PRODUCTS_COUNT} products; {rounds} round{'' if rounds == '1' else 's'}."
    )
    yield ""
    yield (
        f"The machine: {machine['cores']} cores, {machine['memory_gib']} GiB, of which Spark gets "
        f"{machine['spark_memory']}; {machine['system']}, {machine['architecture']}; a local disk. Between {load[0]:g} "
        f"and {load[1]:g} threads of all programs wanted to run while it measured (load average of a minute)."
    )
    yield ""
    yield "Versions: " + ", ".join(f"{name} {machine[name]}" for name in versions) + "."


def _plots(found: Mapping[str, Any]) -> Iterator[str]:
    yield "![Seconds of every contender, by view and change](images/benchmark-seconds.svg)"
    if sweeps(found):
        yield ""
        yield "![Seconds over the share of the facts that changed](images/benchmark-sizes.svg)"


def _views(found: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(view for view, _ in cells(found)))


def _time(one: Mapping[str, Any] | None, is_best: bool) -> str:
    if one is None:
        return "-"
    wrong = wrong_rows(dict(one))
    text = f"{one['seconds']:.2f}"
    text = f"**{text}**" if is_best else text
    spread = f" ({one['fastest']:.2f} to {one['slowest']:.2f})"
    how = f" {_plan(one)}" if "plans" in one else ""
    return f"{text}{spread}{how}" + (f", {wrong:,} wrong" if wrong else "")


def _volume(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "-"
    return "; ".join(
        f"{one[f'bytes_{what}'] / _MIB:.2f} in {one[f'files_{what}']:,}" if f"bytes_{what}" in one else "?"
        for what in ("read", "written")
    )


def _plan_time(one: Mapping[str, Any]) -> str:
    return f"{_plan(one)}, {one['seconds']:.2f} s"


def _plan(one: Mapping[str, Any]) -> str:
    return "/".join(one["plans"])


def _title(contender: str) -> str:
    return TITLES[_contender(contender)]


def _contender(name: str) -> Contender:
    return next(c for c in MAIN if c == name)


def _head(*names: str) -> list[str]:
    return [_row(*names), "|" + "---|" * len(names)]


def _row(*values: str) -> str:
    return f"| {' | '.join(values)} |"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
