"""Which hidden keys a view has: those that its rows are stored with or, where these are built anew, those it would get.

What they are is a property of the storage table, so a base table that is partitioned otherwise later changes nothing
until the rows are built again.
"""

from __future__ import annotations

import json

from pyiceberg.table import Table

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.hidden_keys import wanted_keys
from dbt.adapters.icebergmv.maintenance.definition.hidden_names import is_key, key_name
from dbt.adapters.icebergmv.maintenance.definition.partitioning import spec_fields
from dbt.adapters.icebergmv.maintenance.status.recorded.recorded_state import PREFIX
from dbt.adapters.icebergmv.maintenance.status.tables.base_tables import BaseTables

KEYS_KEY = f"{PREFIX}hidden-keys"
"""The property of a storage table that holds the texts of its hidden keys (JSON)."""


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
