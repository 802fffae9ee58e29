"""What a reader sees of the columns of a table, and whether rows of one schema can be shown under another one."""

from __future__ import annotations

from collections.abc import Set

from pyiceberg.schema import Schema
from pyiceberg.types import IcebergType, ListType, MapType, NestedField, StructType


def shape(field: NestedField) -> tuple[int, str, IcebergType]:
    """Return what a reader sees of a column: comments and nullability aside."""
    return (field.field_id, field.name, _without_comments(field.field_type))


def are_of_one_type(old: NestedField, new: NestedField) -> bool:
    """Return whether two columns have the same type, comments in it aside."""
    return _without_comments(old.field_type) == _without_comments(new.field_type)


def _without_comments(type_: IcebergType) -> IcebergType:
    """Return a type whose nested fields have no comments, to compare it with another one."""
    match type_:
        case StructType():
            return StructType(*map(_without_comment, type_.fields))
        case ListType():
            return ListType(type_.element_id, _without_comments(type_.element_type), type_.element_required)
        case MapType():
            key, value = _without_comments(type_.key_type), _without_comments(type_.value_type)
            return MapType(type_.key_id, key, type_.value_id, value, type_.value_required)
        case _:
            return type_


def _without_comment(field: NestedField) -> NestedField:
    return field.model_copy(update={"doc": None, "field_type": _without_comments(field.field_type)})


def not_shown(wanted: Schema, stored: Schema | None) -> list[NestedField]:
    """Return the columns of the wanted schema that a select list cannot show of rows of the stored one.

    It cannot look into nested columns, and a column added with a default has that value in old rows.
    """
    before = {} if stored is None else {f.field_id: f for f in stored.fields}
    return [] if stored is None else [f for f in wanted.fields if not is_shown(f, before.get(f.field_id))]


def is_shown(field: NestedField, old: NestedField | None) -> bool:
    """Return whether rows with an old column (None: none) show a column by it."""
    if old is None:
        return field.initial_default is None
    return field.field_type.is_primitive or are_of_one_type(old, field)


def can_bridge(wanted: Schema, stored: Schema | None, unread: Set[int] = frozenset()) -> bool:
    """Return whether a select list can show rows of the stored schema under the wanted one.

    It need not show the columns of which the ids are `unread`.
    """
    return all(field.field_id in unread for field in not_shown(wanted, stored))
