"""A history as plain data: tables, views, and the steps that happen to them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbt.adapters.icebergmv.maintenance.status.configured.view_config import Layout
from integration.randomised.tables import COLUMN_LIST, KEYS, KeyColumn, Table


@dataclass(frozen=True)
class View:
    """A materialized view: a shape by name, how its key is made, and what the model asks for.

    `partition_by` is the storage partitioning, `behavior` the stale_read_behavior at the start.
    """

    shape: str
    flavour: str = "{}"
    partition_by: tuple[str, ...] | None = None
    behavior: str = "use_data_table"

    @property
    def name(self) -> str:
        return f"v_{self.shape}"


@dataclass(frozen=True)
class Change:
    """What somebody does to a table.

    `statements` may say {t} (the table), {name} (without the catalog), {rows} and {snapshot}: the snapshot that is
    `back` steps behind the current one. They may also say {head:b}, the snapshot of a branch, and {metadata:n}, the
    metadata file of n commits ago. `keeps_rows`: no row changes, so nothing is to be refreshed. `breaks`: why a
    full refresh is right afterwards, None when the change has to be followed.
    """

    kind: str
    table: str
    statements: tuple[str, ...]
    rows: tuple[str, ...] = ()
    back: int = 0
    keeps_rows: bool = False
    breaks: str | None = None
    partition_by: tuple[str, ...] | None = None

    def texts(self) -> list[str]:
        """Return the statements with their rows filled in; without rows nothing of them is left."""
        needed = [s for s in self.statements if "{rows}" not in s or self.rows]
        return [s.replace("{rows}", ", ".join(self.rows)) for s in needed]


@dataclass(frozen=True)
class Refresh:
    """Refresh every view, through the engine or with a dbt run."""

    dbt: bool = False


@dataclass(frozen=True)
class Crash:
    """Refresh one view and die at the n-th statement, before or after Spark has run it."""

    view: int
    statement: int
    after: bool


@dataclass(frozen=True)
class Interleave:
    """Refresh one view; before the n-th statement the tables change, or another process refreshes the view, or both."""

    view: int
    statement: int
    change: Change | None
    rival: bool


@dataclass(frozen=True)
class Read:
    """Read every view: it shows what it showed after its last refresh, whatever happened to the tables."""


@dataclass(frozen=True)
class Look:
    """Read the view of a shape as one behaviour has it, or by LITERAL; `adaptive`: with adaptive execution."""

    shape: str
    behavior: str
    adaptive: bool = False


@dataclass(frozen=True)
class Alter:
    """Give the view of a shape another stale_read_behavior, when it is fresh."""

    shape: str
    behavior: str


@dataclass(frozen=True)
class Maintain:
    """Compact the storage of every view, and expire what no version of it reads."""


@dataclass(frozen=True)
class Rollback:
    """Put one view back to an earlier version: the one that is so many steps behind, counted around."""

    view: int
    back: int


@dataclass(frozen=True)
class Sweep:
    """Drop the storage tables that no view reads: one such table is made before, and one that another view reads."""


BEHAVIORS = ("use_data_table", "use_stitching", "use_view_query", "fail")
LITERAL = "read_materialized_view"

Step = Change | Refresh | Crash | Interleave | Read | Look | Alter | Maintain | Rollback | Sweep


@dataclass(frozen=True)
class History:
    """Everything that happens, in order; `seed` says where it came from. `layout` is that of all views."""

    seed: str
    key: str
    tables: tuple[Table, ...]
    views: tuple[View, ...]
    steps: tuple[Step, ...]
    layout: Layout = "view"

    @property
    def key_column(self) -> KeyColumn:
        return next(k for k in KEYS if k.name == self.key)

    def with_steps(self, steps: tuple[Step, ...]) -> History:
        return replace(self, steps=steps)

    def as_tables(self) -> History:
        """Return the history of views with the layout `table`, which readers see as they were last refreshed."""
        views = tuple(replace(view, behavior="use_data_table") for view in self.views)
        # Tables have no versions to go back to.
        steps = tuple(step for step in self.steps if not isinstance(step, Alter | Rollback))
        readable = ("use_data_table", LITERAL)
        looks = tuple(s for s in steps if not isinstance(s, Look) or s.behavior in readable)
        return replace(self, views=views, steps=looks, layout="table")

    def describe(self) -> str:
        """Return the history as text that a person can follow."""
        lines = [f"history {self.seed} about the column {self.key}, layout {self.layout}"]
        for table in self.tables:
            rows = "".join(f"\n    {row}" for row in table.rows)
            lines.append("; ".join(table.create()).replace("{t}", table.name) + f" with ({COLUMN_LIST}) of{rows}")
        lines += [
            f"view {i}: {v.name} with key {v.flavour}, partition_by {v.partition_by}, {v.behavior}"
            for i, v in enumerate(self.views)
        ]
        lines += [f"{number}. {_describe(step)}" for number, step in enumerate(self.steps, start=1)]
        return "\n".join(lines)


def _describe(step: Step) -> str:
    match step:
        case Change():
            back = f" ({step.back} snapshots back)" if step.back else ""
            return f"{step.kind}{back}: " + "; ".join(s.replace("{t}", step.table) for s in step.texts())
        case Refresh():
            return "dbt run" if step.dbt else "refresh"
        case Crash():
            return f"refresh of view {step.view} dies {'after' if step.after else 'before'} statement {step.statement}"
        case Interleave():
            what = [_describe(step.change)] if step.change else []
            what += ["another refresh of it"] if step.rival else []
            return f"refresh of view {step.view}; before its statement {step.statement}: {' and '.join(what)}"
        case Read():
            return "read"
        case Look():
            return f"look at {step.shape} by {step.behavior}{', adaptive' if step.adaptive else ''}"
        case Maintain():
            return "maintain"
        case Sweep():
            return "drop orphaned storage"
        case Rollback():
            return f"roll view {step.view} back by {step.back}"
        case Alter():
            return f"alter {step.shape} to {step.behavior}"
