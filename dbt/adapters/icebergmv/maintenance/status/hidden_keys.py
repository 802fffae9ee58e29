"""Which hidden keys a view has: those that its rows are stored with or, where these are built anew, those it would get.

What they are is a property of the storage table, so a base table that is partitioned otherwise later changes nothing
until the rows are built again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.definition.asking import Known
from dbt.adapters.icebergmv.maintenance.definition.clock import Clock
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition, analyse_as, at_moment
from dbt.adapters.icebergmv.maintenance.definition.hidden_keys import wanted_keys, with_keys
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_key, key_name
from dbt.adapters.icebergmv.maintenance.definition.partitioning import spec_fields
from dbt.adapters.icebergmv.maintenance.definition.text_edits import with_edits
from dbt.adapters.icebergmv.maintenance.status.base_tables import BaseTables
from dbt.adapters.icebergmv.maintenance.status.recorded_state import PREFIX

KEYS_KEY = f"{PREFIX}hidden-keys"
"""The property of a storage table that holds the texts of its hidden keys (JSON)."""

_MOST_WINDOWS = 50

KeyChoice = Literal["stored", "wanted", "none"]


@dataclass(frozen=True)
class Analysis:
    """A SELECT to analyse, its tables, what is known besides it, and what the clock says (None: nobody knows).

    `tie_breakers` are those by which the stored rows were numbered; None where they are computed anew. `written_at` as
    in definition/clock_columns.py.
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
        """Return the definition with these keys; None without any, or where its columns are not those and the keys."""
        widened = with_keys(self.sql, keys) if keys else None
        found = None if widened is None else self._analysed(widened, keys)
        last = () if found is None or found.columns is None else found.columns[-len(keys) :]
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
        return analyse_as(self.given, sql, self.bases.columns_of, keys)


def keys_of_today(definition: ViewDefinition, bases: BaseTables) -> tuple[str, ...]:
    """Return the hidden keys that a definition should have besides those that it has.

    There are none where nobody knows the changes of some table: all is computed anew at every run.
    """
    partitioned_by: dict[int, tuple[str, ...]] = {}
    for reference in definition.live:
        source = bases.of(reference).source
        if source is None:
            return ()
        fields = spec_fields(source.table.spec(), source.table_schema)
        partitioned_by[reference.index] = tuple(f.column for f in fields if f.column)
    return wanted_keys(definition, partitioned_by)


def stored_keys(storage: Table) -> tuple[str, ...]:
    """Return the texts of the hidden keys that a storage table has; a table that is replaced keeps its properties."""
    found = tuple(map(str, json.loads(storage.properties.get(KEYS_KEY, "[]"))))
    columns = [f.name for f in storage.schema().fields if is_key(f.name)]
    return found if columns == [key_name(text) for text in found] else ()
