"""From the files that changed to the rows that may have changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pyiceberg.manifest import DataFile, DataFileContent
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import DecimalType, DoubleType, FloatType, IcebergType, IntegerType, LongType

from dbt.adapters.icebergmv.maintenance.catalog.column_bounds import bounded_rows
from dbt.adapters.icebergmv.maintenance.catalog.manifests import PartitionKey, partition_key, referenced_data_file
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, TupleDomain
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import TransformName, domain_as_written
from dbt.adapters.icebergmv.maintenance.predicates.simplification import simplify
from dbt.adapters.icebergmv.maintenance.predicates.transform_lattice import in_terms_of

_TERMS = 2000
"""Constraints, over all disjuncts, beyond which the rows of files are described more roughly.

There is one disjunct for each file, so nothing else limits their number. On two busy cores Spark took 3 s to plan a
predicate of 1,000 disjuncts of two bounds, and 5 s for 2,000; there it no longer compiles (64 kB of bytecode) and is
interpreted row by row. Merging and rendering stay below 0.2 s here; they take 8 s for 100,000.
"""


@dataclass(frozen=True)
class Wanted:
    """What somebody wants to know of the rows of files: of which columns, and of which rows (any of these).

    The partition of a file is enough when it constrains a wanted column, or when no column is wanted. Else column
    bounds say more of these; the partition says where the rows are to be read.
    """

    columns: frozenset[str]
    rows: tuple[TupleDomain, ...] = (TupleDomain.all(),)

    def may_be_in(self, rows: TupleDomain) -> bool:
        """Return whether a wanted row may be in some rows."""
        if any(wanted.is_all for wanted in self.rows):
            return True
        rows = in_terms_of(rows, ())
        return any(not rows.intersect(wanted).is_none for wanted in self.rows)


class FileRows:
    """Says which rows a file of a table can hold, on the top-level columns of a schema of that table."""

    def __init__(self, table: Table, schema: Schema, wanted: Wanted) -> None:
        self._specs = table.specs()
        retyped = _retyped((*table.metadata.schemas, schema))
        self._columns = {f.field_id: f for f in schema.fields if f.field_id not in retyped}
        self._wanted = wanted
        self._bounded = tuple(f for f in self._columns.values() if f.name in wanted.columns)
        filtered = {key.column for rows in wanted.rows for key, _ in rows.constraints}
        self._filtered = tuple(f for f in self._columns.values() if f.name in filtered)
        self._partitions: dict[PartitionKey, TupleDomain] = {}

    def of_partition(self, partition: PartitionKey) -> TupleDomain | None:
        """Return the rows that a partition can hold; None when its files have to be asked one by one."""
        rows = self._in_partition(partition)
        tracked = self._wanted.columns
        is_known = not tracked or any(key.column in tracked for key, _ in rows.constraints)
        return rows if is_known else None

    def of_data_file(self, file: DataFile) -> TupleDomain:
        """Return the rows that a data file can hold."""
        partition = partition_key(file)
        rows = self.of_partition(partition)
        return _both(bounded_rows(file, self._bounded), self._in_partition(partition)) if rows is None else rows

    def may_be_wanted(self, file: DataFile) -> bool:
        """Return whether a row in a data file, or that a delete file is about, may be a wanted one.

        So it is where partition and bounds contradict each other: of an imported file readers may believe either.
        """
        rows = self._in_partition(partition_key(file))
        if file.content == DataFileContent.DATA:
            rows = rows.intersect(bounded_rows(file, self._filtered))
        return rows.is_none or self._wanted.may_be_in(rows)

    def _in_partition(self, partition: PartitionKey) -> TupleDomain:
        if partition not in self._partitions:
            self._partitions[partition] = self._partition_rows(*partition)
        return self._partitions[partition]

    def few(self, rows: Iterable[TupleDomain]) -> tuple[TupleDomain, ...]:
        """Return disjuncts that cover the rows of many files, few enough for a predicate."""
        return simplify(dict.fromkeys(rows), max(1, _TERMS // max(1, len(self._bounded))))

    def unit(self, partitions: Iterable[PartitionKey]) -> str:
        """Return what a person calls the partitions: day, month, ... when that is all there is, else partition.

        All that an unpartitioned table has is called table.
        """
        names = {str(f.transform) for i in {spec_id for spec_id, _ in partitions} for f in self._specs[i].fields}
        if not names:
            return "table"
        only = names.pop() if len(names) == 1 else ""
        return TransformName.parse(only).period or "partition"

    def _partition_rows(self, spec_id: int, values: tuple[object, ...]) -> TupleDomain:
        """Return the rows that a partition can hold.

        Fields whose source column is gone or nested constrain nothing, nor do those whose source was of another type,
        as old values may be of that one. Several fields on one column are intersected; where no row satisfies them all,
        they are not to be trusted.
        """
        constraints: list[tuple[ColumnKey, Domain]] = []
        for partition_field, value in zip(self._specs[spec_id].fields, values, strict=True):
            source = self._columns.get(partition_field.source_id)
            if source is None:
                continue
            constraint = domain_as_written(partition_field.transform, source.name, source.field_type, value)
            constraints += [] if constraint is None else [constraint]
        rows = TupleDomain.all_of(constraints)
        return TupleDomain.all() if rows.is_none else rows


def _retyped(schemas: Iterable[Schema]) -> set[int]:
    """Return the ids of columns that had several types.

    Promotions (Iceberg spec, "Schema Evolution") leave values as they were. A table that is replaced keeps the ids of
    columns by their names.
    """
    types: dict[int, set[str]] = {}
    for column in (column for schema in schemas for column in schema.fields):
        types.setdefault(column.field_id, set()).add(_promoted(column.field_type))
    return {field_id for field_id, found in types.items() if len(found) > 1}


def _promoted(type_: IcebergType) -> str:
    """Return the widest type to which a type can be promoted."""
    match type_:
        case IntegerType():
            return str(LongType())
        case FloatType():
            return str(DoubleType())
        case DecimalType():
            return f"decimal of scale {type_.scale}"
        case _:
            return str(type_)


def _both(rows: TupleDomain, others: TupleDomain) -> TupleDomain:
    """Return the rows that are in both; where there are none, the others are not to be trusted."""
    both = rows.intersect(others)
    return rows if both.is_none else both


@dataclass(frozen=True)
class ChangedRows:
    """The rows that may have changed, and are wanted: any of the disjuncts may hold one. `count` of `unit`s changed.

    `is_part`: changed files of which no row is wanted are left out.
    `rows` is how many the changed data files hold, and how many positions or keys the delete files name; `size` is the
    bytes of all these files.
    """

    data_disjuncts: tuple[TupleDomain, ...]
    count: int
    unit: str
    rows: int = 0
    size: int = 0
    is_part: bool = False


@dataclass
class _Changed:
    """The changed files, by what describes their rows. `referenced` are the data files whose rows were deleted.

    `described` are all partitions that describe rows of theirs, `left_out` the data files of which no row is wanted.
    `is_part`: some file is left out.
    """

    files: int = 0
    rows: int = 0
    size: int = 0
    described: set[PartitionKey] = field(default_factory=set)
    partitions: dict[PartitionKey, TupleDomain] = field(default_factory=dict)
    bounds: dict[str, TupleDomain] = field(default_factory=dict)
    referenced: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)
    anywhere: bool = False
    by_file: bool = False
    is_part: bool = False

    def add(self, file: DataFile, rows: FileRows) -> None:
        self.files += 1
        self.rows += file.record_count
        self.size += file.file_size_in_bytes
        key = partition_key(file)
        partition = rows.of_partition(key)
        self.described |= set() if partition is None else {key}
        self.by_file |= partition is None
        if not rows.may_be_wanted(file):
            self.is_part = True
            self.left_out |= {file.file_path} if file.content == DataFileContent.DATA else set()
        elif partition is not None:
            self.partitions[key] = partition
        elif file.content == DataFileContent.DATA:
            self.bounds[file.file_path] = rows.of_data_file(file)
            self.anywhere |= self.bounds[file.file_path].is_all
        else:
            path = referenced_data_file(file)
            self.anywhere |= path is None
            self.referenced |= set() if path is None else {path}


def changed_rows(rows: FileRows, files: Iterable[DataFile], others: Iterable[DataFile]) -> ChangedRows:
    """Return the rows that changed data and delete files can hold; no disjunct when there is none that is wanted.

    A delete file is as wide as the data file it is about. When that is not among the changed ones it is looked for in
    `others`, which are read only as far as needed.
    """
    changed = _Changed()
    for file in files:
        changed.add(file, rows)
    disjuncts = tuple(changed.partitions[p] for p in sorted(changed.partitions, key=repr))
    if changed.files and not changed.by_file:
        count, unit = len(changed.described), rows.unit(changed.described)
        return ChangedRows(disjuncts, count, unit, changed.rows, changed.size, changed.is_part)
    by_file = [TupleDomain.all()] if changed.anywhere else [*changed.bounds.values(), *_deleted(changed, rows, others)]
    found = (*disjuncts, *rows.few(by_file))
    return ChangedRows(found, changed.files, "file", changed.rows, changed.size, changed.is_part)


def _deleted(changed: _Changed, rows: FileRows, others: Iterable[DataFile]) -> Iterable[TupleDomain]:
    """Yield the rows of the data files that delete files are about and that did not change themselves."""
    missing = changed.referenced - changed.bounds.keys() - changed.left_out
    for file in others if missing else ():
        if file.content == DataFileContent.DATA and file.file_path in missing:
            if rows.may_be_wanted(file):
                yield rows.of_data_file(file)
            else:
                changed.is_part = True
            missing.remove(file.file_path)
            if not missing:
                return
    if missing:
        yield TupleDomain.all()
