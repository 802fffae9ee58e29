"""The results as plots (SVG)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.bench.changes import SHARES
from benchmarks.bench.contenders import MAIN, TITLES
from benchmarks.bench.measured import wrong_rows
from benchmarks.bench.results import CellResults, cells, sweeps
from benchmarks.bench.tables import change_title
from benchmarks.bench.views import VIEWS

_COLORS = {"auto": "#0b6e4f", "rebuild": "#444444", "lookback": "#d1495b", "informed": "#2d7dd2", "merge": "#edae49"}
_MARKS = {"auto": "o", "rebuild": "s", "lookback": "^", "informed": "D", "merge": "v"}


def draw(found: Mapping[str, Any], folder: Path) -> None:
    """Write `benchmark-seconds.svg`, and `benchmark-sizes.svg` if some view was measured with several sizes.

    Nothing is written without results.
    """
    if not found["results"]:
        return
    import matplotlib  # noqa: PLC0415 - of the development requirements; no test of the pure parts needs it

    matplotlib.use("svg")
    # Text stays text and ids do not change, so that a plot of the same results is the same file.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "benchmark", "font.size": 9})
    folder.mkdir(parents=True, exist_ok=True)
    _save(_seconds(found), folder / "benchmark-seconds.svg")
    swept = sweeps(found)
    if swept:
        _save(_sizes(swept), folder / "benchmark-sizes.svg")


def _seconds(found: Mapping[str, Any]) -> Any:
    """Draw a panel a view, a row a change, a mark a contender; a mark without filling has wrong rows."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    by_view: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
    for (view, change), cell in cells(found).items():
        by_view.setdefault(view, {})[change] = cell
    columns = min(2, len(by_view))
    lines = -(-len(by_view) // columns)
    tallest = max(len(of) for of in by_view.values())
    figure, panels = plt.subplots(
        lines, columns, figsize=(11, lines * (0.24 * tallest + 0.7) + 0.6), squeeze=False, layout="constrained"
    )
    for panel in panels.flat[len(by_view) :]:
        panel.set_visible(False)
    for panel, (view, of_view) in zip(panels.flat, by_view.items(), strict=False):
        for row, cell in enumerate(of_view.values()):
            for contender in MAIN:
                if contender in cell:
                    _mark(panel, cell[contender]["seconds"], -row, contender, cell[contender])
        panel.set_xscale("log")
        _plain_seconds(panel.xaxis)
        panel.set_yticks([-row for row in range(len(of_view))], [change_title(c) for c in of_view])
        panel.set_title(VIEWS[view].title, loc="left", fontsize=10)
        panel.grid(True, axis="both", alpha=0.25)
    _legend(figure, plt)
    figure.supxlabel("seconds, logarithmic; hollow marks: the table has wrong rows afterwards", fontsize=9)
    return figure


def _sizes(swept: Mapping[tuple[str, str, str], list[tuple[float, CellResults]]]) -> Any:
    """Draw a panel a view: seconds over the share of the facts that changed."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    columns = min(3, len(swept))
    lines = -(-len(swept) // columns)
    figure, panels = plt.subplots(
        lines, columns, figsize=(3.7 * columns, 3.1 * lines + 0.5), squeeze=False, layout="constrained"
    )
    for panel in panels.flat[len(swept) :]:
        panel.set_visible(False)
    for panel, ((view, kind, place), points) in zip(panels.flat, swept.items(), strict=False):
        for contender in MAIN:
            of = [(share, cell[contender]) for share, cell in points if contender in cell]
            panel.plot([s for s, _ in of], [one["seconds"] for _, one in of], color=_COLORS[contender], linewidth=1)
            for share, one in of:
                _mark(panel, share, one["seconds"], contender, one)
        panel.set_xscale("log")
        panel.set_yscale("log")
        _plain_seconds(panel.yaxis)
        panel.set_xticks(SHARES, [f"{share:g} %" for share in SHARES])
        panel.set_xticks([], minor=True)
        where = "newest days" if place == "local" else "scattered"
        panel.set_title(f"{VIEWS[view].title}\n{kind}, {where}", loc="left", fontsize=9)
        panel.grid(True, alpha=0.25)
    panels[0][0].set_ylabel("seconds")
    _legend(figure, plt)
    return figure


def _mark(panel: Any, x: float, y: float, contender: str, one: Mapping[str, Any]) -> None:
    color = _COLORS[contender]
    filling = "none" if wrong_rows(dict(one)) else color
    panel.plot(x, y, _MARKS[contender], color=color, markerfacecolor=filling, markersize=6, clip_on=False)


def _plain_seconds(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _legend(figure: Any, plt: Any) -> None:
    marks = [
        plt.Line2D([], [], linestyle="", marker=_MARKS[c], color=_COLORS[c], label=TITLES[c], markersize=6)
        for c in MAIN
    ]
    figure.legend(handles=marks, loc="outside upper center", ncols=len(MAIN), frameon=False)


def _save(figure: Any, file: Path) -> None:
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)
