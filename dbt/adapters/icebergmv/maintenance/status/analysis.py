"""The definition of a view as it is at one moment: with its hidden keys, and without windows whose rows tie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.definition.asking.asking import Known
from dbt.adapters.icebergmv.maintenance.definition.clock.clock import Clock
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, analyse, at_moment
from dbt.adapters.icebergmv.maintenance.definition.determinism.determinism import NO_COLUMN
from dbt.adapters.icebergmv.maintenance.definition.edits.text_edits import with_edits
from dbt.adapters.icebergmv.maintenance.definition.hidden_keys import with_keys
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_key
from dbt.adapters.icebergmv.maintenance.status.hidden_keys import keys_of_today, stored_keys
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables

_MOST_WINDOWS = 50

KeyChoice = Literal["stored", "wanted", "none"]


@dataclass(frozen=True)
class Analysis:
    """A SELECT to analyse, its tables, what is known besides it, and what the clock says (None: nobody knows).

    `tie_breakers` are those by which the stored rows were numbered; None where they are computed anew. `written_at` as
    in definition/clock/clock_columns.py.
    """

    sql: str
    bases: BaseTables
    given: Known
    clock: Clock | None
    tie_breakers: tuple[str, ...] | None = None
    written_at: tuple[str, ...] = ()

    def definition(self, choice: KeyChoice, stored: Table | None) -> ViewDefinition:
        """Return the definition at this moment, with its hidden keys.

        `stored` is the storage table whose rows can be kept, if any.
        """
        if choice == "stored" and stored is not None:
            return self._now(self._with(stored_keys(stored)) or self._analysed(self.sql))
        plain = self._now(self._analysed(self.sql))
        widened = None if choice == "none" else self._with(keys_of_today(plain, self.bases))
        return plain if widened is None else self._now(widened)

    def _now(self, written: ViewDefinition) -> ViewDefinition:
        return at_moment(written, self.bases.columns_of, self.clock, self.written_at)

    def _with(self, keys: tuple[str, ...]) -> ViewDefinition | None:
        """Return the definition with these keys; None without any, or where its columns are not those and the keys.

        So it is where a base table has no longer a column that a key names, and the SELECT does not.
        """
        widened = with_keys(self.sql, keys) if keys else None
        found = None if widened is None else self._analysed(widened, keys)
        if found is None or NO_COLUMN in (found.always_full or ""):
            return None
        last = (found.columns or ())[-len(keys) :]
        return found if last and all(is_key(c.name) for c in last) else None

    def _analysed(self, sql: str, keys: tuple[str, ...] = ()) -> ViewDefinition:
        """Return the definition without ties, unless the stored rows were numbered in another way."""
        written = found = self._as_given(sql, keys)
        texts: tuple[str, ...] = ()
        while found.ties:
            # Behind a window whose rows tie no longer, those of another one may be told apart.
            texts += tuple(edit.text for edit in found.ties)
            if len(texts) > _MOST_WINDOWS:
                return written
            found = self._as_given(with_edits(found.sql, found.ties), keys)
        return replace(found, tie_breakers=texts) if self.tie_breakers in (None, texts) else written

    def _as_given(self, sql: str, keys: tuple[str, ...]) -> ViewDefinition:
        return analyse(self.given, sql, self.bases.columns_of, keys)
