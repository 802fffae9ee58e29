"""The partitioning of a storage table: parsed from Spark's DDL words, derived from the bases, compared with a table.

It also answers whether a region of rows is made of whole partitions, which decides how it can be replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pyiceberg.partitioning import PartitionField as IcebergPartitionField
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import DoubleType, FloatType

from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.predicates.date_functions import truncate_date, truncate_timestamp
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Range, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import (
    KeyFunction,
    Monotone,
    OrNull,
    without_round_trips,
)
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import TransformName
from dbt.adapters.icebergmv.maintenance.predicates.periods import Period, divides
from dbt.adapters.icebergmv.maintenance.sql.names import column_named, unquoted
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier

_FIELD = re.compile(
    r"^\s*(?:(?P<function>[A-Za-z_]\w*)\s*\(\s*(?:(?P<width>\d+)\s*,\s*)?(?P<inner>`(?:[^`]|``)+`|\w+)\s*\)"
    r"|(?P<column>`(?:[^`]|``)+`|\w+))\s*$"
)


@dataclass(frozen=True)
class PartitionField:
    """One field of a partition spec: an Iceberg transform (`identity`, `day`, `bucket[16]`) of a column."""

    column: str
    transform: str = "identity"

    def ddl(self) -> str:
        """Return the field as Spark's PARTITIONED BY takes it."""
        column = identifier(self.column)
        if self.transform == "identity":
            return column
        transform = TransformName.parse(self.transform)
        return f"{transform.kind}({transform.width}, {column})" if transform.width else f"{transform.kind}s({column})"

    @property
    def iceberg_name(self) -> str:
        """Return the name that Iceberg gives to the field in a table which Spark makes."""
        kind = TransformName.parse(self.transform).kind
        return self.column if kind == "identity" else f"{self.column}_{'trunc' if kind == 'truncate' else kind}"

    def is_named_as_one_of(self, columns: Iterable[str]) -> bool:
        """Return whether another column has the name of the field, which Iceberg refuses. It compares exactly."""
        return self.transform != "identity" and self.iceberg_name in columns


def partition_by_texts(value: object) -> tuple[str, ...]:
    """Return the single transforms of a `partition_by` setting: one text, several in one text, or a list.

    Raises InvalidConfig for what is no transform, whatever columns there are.
    """
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(t, str) for t in texts):
        raise InvalidConfig(f"partition_by is {value!r}. Give a transform such as days(ts), or a list of them.")
    parts = tuple(part.strip() for t in texts for part in split_list(t))
    for part in parts:
        _column_and_transform(part)
    return parts


def parse_partition_by(texts: Iterable[str], columns: Sequence[str]) -> tuple[PartitionField, ...]:
    """Return the fields that Spark DDL transforms of output columns mean.

    Columns are matched without case and returned as the view outputs them. Raises InvalidConfig for an unknown
    transform, for a column that the view does not output, and for partitions with the name of another column.
    """
    return tuple(_parse_field(text, columns) for text in texts)


def derive_partitioning(
    definition: ViewDefinition, specs: Iterable[tuple[int, PartitionSpec, Schema]]
) -> tuple[PartitionField, ...]:
    """Return the partitioning that lets the view follow its bases: theirs, on the output columns that track them.

    `specs` gives, per base occurrence, its partition spec and schema. The first base that maps any field decides.
    Floats are left out: for Iceberg 0.0 and -0.0 are two partitions, and Spark, which sorts rows by partition before it
    writes them, mixes the two. Iceberg then refuses the rows. It refuses partitions with the name of a column, too:
    where this is what they are (`date(ts) as ts_day`), it is taken for them.
    """
    columns = [c.name for c in definition.columns or ()]
    for index, spec, schema in specs:
        uses = [definition.tracks_of(use) for use in definition.uses_of(index)]
        tracks = [(name, track) for use in uses for name, found in use.items() for track in found]
        tracks.sort(key=lambda named: len(named[1].function))
        fields: list[PartitionField] = []
        for source in spec.fields:
            column = schema.find_column_name(source.source_id)
            # The column may be gone: a field of an older spec stays as void.
            if column is None or isinstance(schema.find_type(column), FloatType | DoubleType):
                continue
            mapped = next(
                (
                    field
                    for name, track in tracks
                    if track.column == column
                    and (field := _derived_field(name, source, track.function)) is not None
                    and not field.is_named_as_one_of(columns)
                ),
                None,
            )
            if mapped is not None and mapped not in fields:
                fields.append(mapped)
        if fields:
            return tuple(fields)
    return ()


def shows_longer_periods(definition: ViewDefinition, index: int, field: PartitionField, iceberg_type: str) -> bool:
    """Return whether output columns follow a partition field of a reference, all of them by longer periods than it has.

    A view by months over days does: of a month that it shows many partitions are read.
    """
    transform = TransformName.parse(field.transform)
    period: Period | None = "day" if transform.kind == "identity" and iceberg_type == "date" else transform.period
    tracks = [track for track in definition.tracks_to(index) if track.column == field.column]
    return period is not None and bool(tracks) and all(_is_longer(track.function, period) for track in tracks)


def _is_longer(function: KeyFunction, period: Period) -> bool:
    steps = (step for step in without_round_trips(function) if isinstance(step, Monotone))
    return any(step.constant_within != period and _is_as_coarse(step, period) for step in steps)


def spec_fields(spec: PartitionSpec, schema: Schema) -> tuple[PartitionField, ...]:
    """Return an Iceberg partition spec in our terms; void fields are left out."""
    return tuple(
        PartitionField(schema.find_column_name(f.source_id) or "", str(f.transform))
        for f in spec.fields
        if str(f.transform) != "void"
    )


def can_prune(table: Table, schema: Schema, region: Iterable[TupleDomain]) -> bool:
    """Return whether Iceberg can apply the region's bucket and truncate predicates to all specs of the table.

    It fails ("Invalid value for conversion") on a spec that transforms the same column in another way.
    """
    used = {(key.column, key.transform) for d in region for key, _ in d.constraints if key.transform is not None}
    partitioned = {
        (schema.find_column_name(f.source_id), str(f.transform)) for spec in table.specs().values() for f in spec.fields
    }
    return all(column != c or transform == t for column, transform in used for c, t in partitioned)


def is_whole_partitions(region: Iterable[TupleDomain], fields: Sequence[PartitionField], schema: Schema) -> bool:
    """Return whether every partition lies either wholly inside or wholly outside the region.

    True lets Iceberg drop files by their partition values alone (OverwriteFiles by filter); False asks for DELETE.
    """
    types = {f.name: str(f.field_type) for f in schema.fields}
    return all(
        any(_decides(field, key, domain, types[key.column]) for field in fields if field.column == key.column)
        for disjunct in region
        for key, domain in disjunct.constraints
    )


def has_times_before_1970(region: Iterable[TupleDomain], fields: Sequence[PartitionField]) -> bool:
    """Return whether the region has an end before 1970, or at its start, in a column that is partitioned by time.

    Iceberg once put such times into the next partition. So it does not trust these partition values to know that whole
    files are inside, and refuses to drop the files where metrics do not show it (`fixStrictTimeProjection`).
    """
    by_time = {f.column for f in fields if TransformName.parse(f.transform).period is not None}
    ranges = (r for d in region for key, domain in d.constraints if key.column in by_time for r in domain.ranges)
    return any(isinstance(end, int) and end <= 0 for r in ranges for end in (r.low, r.high))


def _decides(field: PartitionField, key: ColumnKey, domain: Domain, iceberg_type: str) -> bool:
    """Return whether the partition value alone decides if the constraint holds."""
    if field.transform == "identity":
        return True
    if key.transform is not None:
        return key.transform == field.transform
    if not domain.ranges:
        return not domain.nan
    start = _start_of_partition(TransformName.parse(field.transform), iceberg_type)
    return start is not None and all(_is_made_of_partitions(r, start) for r in domain.ranges)


def _start_of_partition(transform: TransformName, iceberg_type: str) -> Callable[[int], int] | None:
    """Return the function from a value to the smallest one in its partition; None when it is not known."""
    if transform.kind == "truncate" and iceberg_type in ("int", "long"):
        return lambda x: x // transform.width * transform.width
    if transform.period is None:
        return None
    if iceberg_type in ("timestamp", "timestamptz"):
        step = truncate_timestamp(transform.period)
        return None if step is None else step.apply
    if iceberg_type == "date" and transform.period == "day":
        return lambda x: x
    step = truncate_date(transform.period) if iceberg_type == "date" else None
    return None if step is None else step.apply


def _is_made_of_partitions(r: Range, start: Callable[[int], int]) -> bool:
    """Return whether both ends of a range of integers fall between two partitions."""
    ends = []
    if r.low is not None:
        ends.append(r.low if r.low_inclusive else r.low + 1)  # type: ignore[operator]
    if r.high is not None:
        ends.append(r.high + 1 if r.high_inclusive else r.high)  # type: ignore[operator]
    return all(isinstance(e, int) and start(e) == e for e in ends)


def _derived_field(name: str, source: IcebergPartitionField, function: KeyFunction) -> PartitionField | None:
    transform = _derived_transform(source, function)
    return None if transform is None else PartitionField(name, transform)


def _derived_transform(source: IcebergPartitionField, function: KeyFunction) -> str | None:
    """Return the transform for an output column that is `function` of the source column of a base partition field.

    Where the function is as coarse as the base's transform or coarser, its own values are the partitions. A column that
    is followed to its month and back still has the values of its days.
    """
    transform = TransformName.parse(str(source.transform))
    if not transform.is_known:
        return None
    steps = [step for step in without_round_trips(function) if not isinstance(step, OrNull)]
    if not steps:
        return str(transform)
    if transform.period is None or not all(isinstance(s, Monotone) and s.stays_within for s in steps):
        return "identity"
    is_coarse = any(isinstance(s, Monotone) and _is_as_coarse(s, transform.period) for s in steps)
    return "identity" if is_coarse else str(transform)


def _is_as_coarse(step: Monotone, period: Period) -> bool:
    return step.constant_within is not None and divides(period, step.constant_within)


def split_list(text: str) -> list[str]:
    """Return the parts between the commas outside parentheses and backticks."""
    parts, depth, quoted, start = [], 0, False, 0
    for position, character in enumerate(text):
        if character == "`":
            quoted = not quoted
        elif not quoted:
            depth += {"(": 1, ")": -1}.get(character, 0)
            if character == "," and depth == 0:
                parts.append(text[start:position])
                start = position + 1
    return [*parts, text[start:]]


def _column_and_transform(text: str) -> tuple[str, str]:
    """Return the name of the column as it is written, and the transform."""
    matched = _FIELD.match(text)
    if matched is None:
        raise InvalidConfig(f"partition_by {text.strip()!r} is not a column or a transform of a column.")
    name = unquoted(matched["inner"] or matched["column"])
    return name, _transform(text, matched["function"], matched["width"])


def _parse_field(text: str, columns: Sequence[str]) -> PartitionField:
    wanted, transform = _column_and_transform(text)
    column = column_named(wanted, columns)
    if column is None:
        raise InvalidConfig(
            f"partition_by is {text.strip()!r} and the view has no column {wanted}. It has {', '.join(columns)}."
        )
    field = PartitionField(column, transform)
    if field.is_named_as_one_of(columns):
        raise InvalidConfig(
            f"partition_by is {text.strip()!r}, whose partitions Iceberg calls {field.iceberg_name}, which is a column "
            "of the view. Rename that column, or name it in partition_by instead."
        )
    return field


def _transform(text: str, function: str | None, width: str | None) -> str:
    if function is None:
        return "identity"
    name = function.lower()
    singular = name.rstrip("s")
    if TransformName(singular).period is not None and width is None:
        return singular
    if name in ("bucket", "truncate") and width is not None and int(width) > 0:
        return str(TransformName(name, int(width)))
    if name == "identity" and width is None:
        return "identity"
    raise InvalidConfig(
        f"partition_by {text.strip()!r} is no transform: Iceberg has years, months, days, hours, bucket(n, c), "
        "truncate(n, c) and plain columns."
    )


def stored_partitioning(storage: Table | None) -> tuple[PartitionField, ...]:
    """Return the partitioning of the storage table, nothing when there is none."""
    return () if storage is None else spec_fields(storage.spec(), storage.schema())
