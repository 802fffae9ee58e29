"""Transforms that contain each other: saying a constraint in the terms of another partition spec.

bucket[n] is the hash modulo n (Iceberg spec, "Bucket Transform Details"). So it determines bucket[m] where m divides n,
and follows from it where n divides m. A string truncated to w characters determines any shorter prefix.
"""

from __future__ import annotations

from collections.abc import Iterable

from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain, Value
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import with_prefix
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import TransformName


def in_terms_of(rows: TupleDomain, fields: Iterable[tuple[str, str]]) -> TupleDomain:
    """Return a superset of the rows, constrained by transforms that a partition spec has where that can be said.

    `fields` are the (column, transform) pairs of the spec. Constraints on columns themselves stay as they are.
    """
    if rows.is_none:
        return rows
    by_column: dict[str, list[str]] = {}
    for column, transform in fields:
        by_column.setdefault(column, []).append(transform)
    return TupleDomain.all_of(_said(key, domain, by_column.get(key.column, [])) for key, domain in rows.constraints)


def _said(key: ColumnKey, domain: Domain, transforms: list[str]) -> tuple[ColumnKey, Domain]:
    if key.transform is None or key.transform in transforms:
        return key, domain
    for transform in transforms:
        said = _converted(key.transform, transform, domain)
        if said is not None:
            return ColumnKey(key.column, transform), said
    prefixes = _as_ranges(key.transform, domain)
    return (key, domain) if prefixes is None else (ColumnKey(key.column), prefixes)


def _converted(of: str, to: str, domain: Domain) -> Domain | None:
    """Return a superset of the values of transform `to`, given those of `of`; None when they determine nothing."""
    (kind, width), (other, wanted) = _parts(of), _parts(to)
    singles = [r.low for r in domain.ranges if r.is_single_value]
    if kind != other or len(singles) != len(domain.ranges) or domain.nan:
        return None
    values: list[Value]
    if kind == "bucket" and width % wanted == 0:
        values = [_int(v) % wanted for v in singles]
    elif kind == "bucket" and wanted % width == 0:
        values = [_int(v) + width * i for v in singles for i in range(wanted // width)]
    elif kind == "truncate" and wanted <= width and all(isinstance(v, str) for v in singles):
        values = [str(v)[:wanted] for v in singles]
    else:
        return None
    return domain.with_ranges(Range(v, v) for v in values)


def _as_ranges(transform: str, domain: Domain) -> Domain | None:
    """Return the strings that have the prefixes of a truncate; None for other transforms and types."""
    kind, width = _parts(transform)
    if kind != "truncate" or not all(r.is_single_value and isinstance(r.low, str) for r in domain.ranges):
        return None
    return domain.with_ranges(_with_prefix(str(r.low), width) for r in domain.ranges)


def _with_prefix(value: str, width: int) -> Range:
    """A truncated value that is shorter than the width is the whole string."""
    return Range(value, value) if len(value) < width else with_prefix(value)


def _parts(transform: str) -> tuple[str, int]:
    name = TransformName.parse(transform)
    return name.kind, name.width


def _int(value: Value | None) -> int:
    if not isinstance(value, int):
        raise TypeError(f"Cannot use a {type(value).__name__} as a bucket number")
    return value
