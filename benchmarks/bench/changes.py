"""The changes that are measured: what happens to how many of the facts, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from benchmarks.parts.tables import CUSTOMERS, DAYS, FACTS, customers, rows_per_day

Kind = Literal["none", "append", "delete", "update-cow", "update-mor", "seed"]
Place = Literal["local", "scattered"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PLACES: tuple[Place, ...] = get_args(Place)
SHARES = (0.01, 0.1, 1.0, 10.0, 50.0)
"""Percent of the facts."""

SIZES = tuple(f"{share:g}-{place}" for share in SHARES for place in PLACES)
_UPDATE_MODES = {"update-cow": "copy-on-write", "update-mor": "merge-on-read"}
_NEW_IDS = 1_000_000_000_000


@dataclass(frozen=True)
class Change:
    """A kind of change; of `share` percent of the facts, in the newest days (local) or all over them (scattered).

    `none` and `seed` have no share: nothing happens, or the customers are loaded again with the same rows.
    """

    kind: Kind
    share: float = 0
    place: Place | None = None

    @property
    def name(self) -> str:
        """The name in files and on the command line."""
        return self.kind if self.place is None else f"{self.kind} {self.size}"

    @property
    def size(self) -> str:
        """How much and where, as `--changes` has it; empty without a share."""
        return "" if self.place is None else f"{self.share:g}-{self.place}"

    @property
    def title(self) -> str:
        """The name for people."""
        verbs = {
            "append": "appended",
            "delete": "deleted",
            "update-cow": "updated, copy-on-write",
            "update-mor": "updated, merge-on-read",
        }
        if self.kind == "none":
            return "nothing"
        if self.kind == "seed":
            return "customers loaded again"
        where = "newest days" if self.place == "local" else "scattered"
        return f"{self.share:g} % {verbs[self.kind]}, {where}"

    def picked(self, rows: int) -> str:
        """Return the condition for the facts that change, of so many in all."""
        if self.place is None:
            return "false"
        if self.place == "local":
            total = rows_per_day(rows) * DAYS
            return f"id >= {total - max(1, round(total * self.share / 100))}"
        return f"id % {round(100 / self.share)} = 0"

    def day(self) -> str:
        """Return the day in which a fact that changes is afterwards: local appends come a day later than the newest."""
        return "date_add(day, 1)" if self.kind == "append" and self.place == "local" else "day"

    def statements(self, rows: int) -> tuple[str, ...]:
        """Return the statements that make the change in facts of so many rows."""
        picked = self.picked(rows)
        match self.kind:
            case "append":
                columns = f"id + {_NEW_IDS}, {self.day()}, {_another_customer(rows)}, product, amount"
                return (f"insert into {FACTS} select {columns} from {FACTS} where {picked}",)
            case "delete":
                return (f"delete from {FACTS} where {picked}",)
            case "update-cow" | "update-mor":
                mode = _UPDATE_MODES[self.kind]
                return (
                    f"alter table {FACTS} set tblproperties ('write.update.mode' = '{mode}')",
                    f"update {FACTS} set amount = amount + 1 where {picked}",
                )
            case "seed":
                return (f"insert overwrite {CUSTOMERS} select * from {CUSTOMERS}",)
            case _:
                return ()


def _another_customer(rows: int) -> str:
    """Return a customer who mostly was not there that day, so that an append brings pairs of day and customer."""
    return f"cast(pmod(hash(id, 'appended'), {customers(rows)}) as int)"


def all_changes() -> tuple[Change, ...]:
    """Return every change of the matrix."""
    sized = [Change(k, share, p) for k in KINDS if k not in ("none", "seed") for share in SHARES for p in PLACES]
    return (Change("none"), *sized, Change("seed"))
