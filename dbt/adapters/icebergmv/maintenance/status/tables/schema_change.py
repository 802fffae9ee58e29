"""Does a changed schema of a base table change what the SELECT means, although no row changed?"""

from __future__ import annotations

from collections.abc import Set

from pyiceberg.schema import Schema
from pyiceberg.table import Table, TableProperties

from dbt.adapters.icebergmv.maintenance.status.tables.column_shapes import are_of_one_type, shape


def changed_meaning(before: Schema, now: Schema, mentions: Set[str], by_shape: bool) -> str | None:
    """Return why the SELECT, whose words are `mentions` (lower case), may mean something else now; None if it cannot.

    A name that the SELECT mentions gives other values if it now means another field or another type. A new column of a
    name that it mentions may catch a name that meant an alias, and a name whose column went may mean one. A column that
    can no longer be NULL could be at the last refresh. What `*` means is known from the columns of the result, unless
    the SELECT reads `by_shape`.
    """
    if by_shape and [*map(shape, before.fields)] != [*map(shape, now.fields)]:
        return "gained, lost, moved or renamed a column, and the SELECT looks at all of them"
    every_column = "*" in mentions
    had, has = ({f.name.lower(): f for f in schema.fields} for schema in (before, now))
    gone = next((f for name, f in had.items() if name in mentions and name not in has), None)
    if gone is not None:
        return f"lost its column {gone.name}, a name that the SELECT mentions"
    for field in now.fields:
        name = field.name.lower()
        old = had.get(name)
        if old is None:
            if name in mentions:
                return f"has a new column {field.name}, a name that the SELECT mentions"
        elif (name in mentions or every_column) and old.field_id != field.field_id:
            return f"has another column behind the name {field.name}"
        elif (name in mentions or every_column) and not are_of_one_type(old, field):
            return f"has another type for its column {field.name}: {field.field_type}, and was {old.field_type}"
        elif (name in mentions or every_column) and field.required and not old.required:
            return f"has no NULL in its column {field.name} any more"
    return None


def read_by_other_names(table: Table, before: Schema, now: Schema) -> str | None:
    """Return why imported files may show other values, without a snapshot; None if they do not.

    Columns of files without field ids are found by their names, those that each field has had. A name that comes to
    another field is taken away from the one that had it (Iceberg spec, "Name Mapping Serialization").
    """
    if TableProperties.DEFAULT_NAME_MAPPING not in table.properties:
        return None
    ids, had, ever = _ids(now), _ids(before), [*map(_ids, table.schemas().values())]
    for name, field_id in ids.items():
        others = {schema.get(name) for schema in ever} - {None, field_id}
        if had.get(name) != field_id and not others.isdisjoint(ids.values()):
            return f"gave the name {name} to another column, and its imported files are read by names"
    return None


def _ids(schema: Schema) -> dict[str, int]:
    """Return the ids of all fields, nested ones included, by their names."""
    return {name: schema.find_field(name).field_id for name in schema.column_names}
