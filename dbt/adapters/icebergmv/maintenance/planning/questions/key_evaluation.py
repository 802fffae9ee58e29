"""Keys that Spark has to compute: what an expression makes of the values that changed, and of those that there are.

A computed key (upper(region), a CASE, date_add(d, 1)) tracks only over values that can be listed: those of identity
partitions, or days. Spark evaluates the user's own text on them, so its rules for types, NULL and case hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbt.adapters.icebergmv.maintenance.catalog.changed_rows import FileRows, Wanted
from dbt.adapters.icebergmv.maintenance.catalog.table_changes import partitions_of
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Track
from dbt.adapters.icebergmv.maintenance.lake import unless_refused
from dbt.adapters.icebergmv.maintenance.planning.questions.key_queries import are_texts_known
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, Domain, Value, union_of
from dbt.adapters.icebergmv.maintenance.predicates.key_functions import (
    Computed,
    Evaluated,
    Inverse,
    KeyFunction,
    Step,
    enumerated,
    is_computed,
)
from dbt.adapters.icebergmv.maintenance.predicates.local_time import SAMPLED_EVERY, LocalTime, Offsets
from dbt.adapters.icebergmv.maintenance.predicates.partition_transforms import MICROS_PER_DAY
from dbt.adapters.icebergmv.maintenance.sql.internal_forms import internal_form
from dbt.adapters.icebergmv.maintenance.sql.queries import describe_query, select_from
from dbt.adapters.icebergmv.maintenance.sql.rendering import literal_or_null
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus

MOST_VALUES = 10_000
"""Beyond this many values a key is not evaluated.

All values are literals of one query, and Spark parses and evaluates them on the driver: for 10,000 strings, a text of
0.4 MB, that took 6 s on two busy cores, and 11 s for 30,000. 27 years of days are still listed. A
column with more values, such as an id, costs more than the refresh of a few partitions saves.
"""

_MICROS = {"date": MICROS_PER_DAY, "timestamp": 1, "timestamp_ntz": 1}
_MARGIN = 400 * MICROS_PER_DAY
"""How far around what changed the zone is looked up: a key can lead to the other end of a year, and some days more."""

_MOST_HOURS = 60 * 366 * 24
"""Beyond 60 years of hourly samples, half a million rows to sort in one task, the widest bounds must do.

They over-specify each range that changed by 18 hours at either end.
"""

_PLACE, _ARGUMENT = "icebergmv_place", "icebergmv_argument"

Run = Callable[[str], Sequence[Sequence[object]]]
LiveValues = Callable[[BaseTableStatus, str], Domain | None]


def needs_spark(definition: ViewDefinition) -> bool:
    """Return whether some output column tracks by a step that only Spark can evaluate."""
    return _tracks_by(definition, Computed, LocalTime)


def _tracks_by(definition: ViewDefinition, *steps: type[Step]) -> bool:
    tracks = (t for column in definition.columns or () for t in column.tracks)
    return any(isinstance(_forward(step), steps) for t in tracks for step in t.function)


def evaluated(
    definition: ViewDefinition, status: MaterializedViewStatus, run: Run, live: LiveValues | None = None
) -> ViewDefinition:
    """Return the definition with its computed keys, and the session's time zone, evaluated on the values in question.

    `live` returns the values that a column of a base holds now, None when they cannot be listed; by default partitions
    show them.

    A key whose values cannot be listed, or that Spark refuses, stays as it is; nothing is tracked through it then. A
    zone whose offsets are not known keeps the widest bounds.
    """
    if not needs_spark(definition):
        return definition
    bases = status.by_reference
    offsets = _offsets(status, run) if _tracks_by(definition, LocalTime) else Offsets()
    known: dict[tuple[int, str], _Values] = {}
    spark = _Questions(run)

    def track_of(track: Track) -> Track:
        base = bases.get(track.occurrence.index)
        track = replace(track, function=tuple(_in_zone(step, offsets) for step in track.function))
        if base is None or not is_computed(track.function):
            return track
        place = (track.occurrence.index, track.column)
        if place not in known:
            known[place] = _values(base, track.column, live or live_values)
        return _evaluate(track, known[place], spark)

    columns = tuple(replace(c, tracks=frozenset(map(track_of, c.tracks))) for c in definition.columns or ())
    return replace(definition, columns=columns)


def _forward(step: Step) -> Step:
    return step.step if isinstance(step, Inverse) else step


def _in_zone(step: Step, offsets: Offsets) -> Step:
    if isinstance(step, Inverse):
        return Inverse(_in_zone(step.step, offsets))
    return LocalTime(offsets) if isinstance(step, LocalTime) else step


def _offsets(status: MaterializedViewStatus, run: Run) -> Offsets:
    """Return the offsets of the session's zone around everything that changed, a year and more to both sides."""
    ends: list[int] = []
    for base in status.base_tables:
        types = {c.name: c.type for c in base.base.columns or ()}
        for disjunct in base.change.constraints.data_disjuncts:
            for key, domain in disjunct.constraints:
                unit = _MICROS.get(types.get(key.column, ""))
                bounds = [b for r in domain.ranges for b in (r.low, r.high)]
                ends += [b * unit for b in bounds if unit is not None and key.transform is None and type(b) is int]
    if not ends:
        return Offsets()
    hours = [(end + margin) // SAMPLED_EVERY for end, margin in ((min(ends), -_MARGIN), (max(ends), _MARGIN))]
    if hours[1] - hours[0] > _MOST_HOURS:
        return Offsets()
    instant = f"timestamp_micros(id * {SAMPLED_EVERY}L)"
    wall = f"timestampdiff(MICROSECOND, TIMESTAMP_NTZ '1970-01-01', CAST({instant} AS timestamp_ntz))"
    samples = f"SELECT id, {wall} - id * {SAMPLED_EVERY}L AS o FROM range({hours[0]}, {hours[1] + 1})"
    changes = f"SELECT id, o, lag(o) OVER (ORDER BY id) AS p FROM ({samples})"
    rows = unless_refused(lambda: run(f"SELECT id, o FROM ({changes}) WHERE p IS NULL OR o <> p ORDER BY id"))
    if rows is None:
        # Without the offsets the bounds stay as wide as zones get.
        return Offsets()
    found = tuple((int(str(h)) * SAMPLED_EVERY, int(str(o))) for h, o in rows)
    return Offsets(found, hours[1] * SAMPLED_EVERY)


@dataclass(frozen=True)
class _Values:
    """The values of a base column in question: those that changed, and all (None: they cannot be listed)."""

    changed: Domain
    live: Domain | None


def _values(base: BaseTableStatus, column: str, live: LiveValues) -> _Values:
    key = ColumnKey(column)
    found = (d.domains.get(key) for d in base.change.constraints.data_disjuncts)
    changed = union_of([Domain.only_null(), *(d for d in found if d is not None)])
    return _Values(changed, live(base, column))


def live_values(base: BaseTableStatus, column: str) -> Domain | None:
    """Return the values of a partition column at the snapshot that is read; None when partitions do not show them."""
    source = base.base.source
    if source is None:
        return None
    table, schema, snapshot_id = source.table, source.table_schema, source.version.snapshot_id
    if snapshot_id is None:
        return Domain.none()
    if all(schema.find_column_name(f.source_id) != column for f in table.spec().fields):
        return None
    rows, live = FileRows(table, schema, Wanted(frozenset([column]))), []
    for partition in partitions_of(table, snapshot_id):
        found = rows.of_partition(partition)
        domain = None if found is None else found.domains.get(ColumnKey(column))
        if domain is None:
            return None
        live.append(domain)
    return union_of(live)


@dataclass
class _Questions:
    """What Spark makes of computed steps; each question is asked once."""

    run: Run
    answers: dict[tuple[object, ...], Mapping[Value | None, Value | None] | None] = field(default_factory=dict)

    def values_of(self, step: Computed, domain: Domain) -> Mapping[Value | None, Value | None] | None:
        """Return the value for each argument in the domain; None where they cannot be listed or evaluated."""
        arguments = enumerated(domain, MOST_VALUES)
        if arguments is None:
            return None
        question = (step.text, step.argument_type, tuple(arguments))
        if question not in self.answers:
            self.answers[question] = _ask(step, arguments, self.run)
        return self.answers[question]


def _evaluate(track: Track, values: _Values, spark: _Questions) -> Track:
    """Return the track with every Computed step evaluated, with all live values if they can be listed."""
    steps = None
    if values.live is not None:
        steps = _evaluated_steps(track.function, values.changed.union(values.live), True, spark)
    if steps is None:
        steps = _evaluated_steps(track.function, values.changed, False, spark)
    return track if steps is None else replace(track, function=steps)


def _evaluated_steps(function: KeyFunction, domain: Domain, complete: bool, spark: _Questions) -> KeyFunction | None:
    """Return the function on a domain; None where a step cannot be evaluated. `complete`: it holds all live values."""
    steps: list[Step] = []
    for step in function:
        evaluated_step = step
        if isinstance(step, Computed):
            found = spark.values_of(step, domain)
            if found is None:
                return None
            evaluated_step = Evaluated(step.name, found, complete)
        steps.append(evaluated_step)
        domain = evaluated_step.image(domain)
    return tuple(steps)


def _values_in(computed: str, run: Run) -> Sequence[Sequence[object]] | None:
    """Return what a query gives as `e`, by the place of each value; None where values of its type are not followed."""
    ((_, type_, *_),) = (row for row in run(describe_query(computed)) if row[0] == "e")
    value = internal_form(str(type_), "e")
    return None if value is None else run(select_from(computed, f"{_PLACE}, {value}"))


def _ask(step: Computed, arguments: Sequence[Value | None], run: Run) -> dict[Value | None, Value | None] | None:
    """Let Spark evaluate the expression on each argument; None when it cannot, or gives a type that is not followed."""
    # A bare word inside the expression may be a column that the parser takes for a unit; it must not be found here.
    rows = ", ".join(f"({i}, {literal_or_null(a, step.argument_type)})" for i, a in enumerate(arguments))
    computed = f"SELECT {_PLACE}, {_ARGUMENT.join(step.text)}\n AS e FROM VALUES {rows} AS x({_PLACE}, {_ARGUMENT})"
    # Whatever the expression does on these values, the view may never see it there (a WHERE before it).
    found = unless_refused(lambda: _values_in(computed, run))
    if found is None or len(found) != len(arguments) or not are_texts_known(found):
        return None
    return {arguments[int(str(i))]: value for i, value in found}  # type: ignore[misc]
