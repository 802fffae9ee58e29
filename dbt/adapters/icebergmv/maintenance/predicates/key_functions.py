"""From a base column to an output column: the steps through which staleness is followed.

A step relates the values on its base side to those on its output side. Two maps say how, both to supersets:

    image(D)     the output values that values in D can have
    preimage(K)  the base values that can have an output value in K

Most steps are functions (a cast, a truncation, a literal). Two are not: a row of the null-supplying side of an outer
join may be seen as itself or as NULL, and a join condition such as `date(a.ts) = b.d` leads from b.d back to a.ts.

`Step` lists the kinds of steps. Each has `name`, what a person would write: messages show it, and no code reads it;
`result_type`, the Spark type on the output side, if it is known; and `only_adds_null`: the step keeps values as they
are, so that it also holds for bucket numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from dbt.adapters.icebergmv.maintenance.predicates.domain import Domain, Range, Value
from dbt.adapters.icebergmv.maintenance.predicates.local_time import LocalTime
from dbt.adapters.icebergmv.maintenance.predicates.periods import Period

_LAST_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


Step: TypeAlias = "Monotone | OrNull | Inverse | Prefix | Computed | Constant | Evaluated | LocalTime"
KeyFunction: TypeAlias = "tuple[Step, ...]"
"""Steps from the base column outwards; the empty tuple is the identity."""


def image(function: KeyFunction, domain: Domain) -> Domain:
    """Return a superset of the output values that base values in the domain can have."""
    if domain.is_none:
        return domain
    for step in function:
        domain = step.image(domain)
    return domain


def preimage(function: KeyFunction, domain: Domain) -> Domain:
    """Return a superset of the base values that can have an output value in the domain."""
    for step in reversed(function):
        domain = step.preimage(domain)
    return domain


def inverse(function: KeyFunction) -> KeyFunction:
    """Return the steps that lead back."""
    return tuple(step.step if isinstance(step, Inverse) else Inverse(step) for step in reversed(function))


def without_round_trips(function: KeyFunction) -> KeyFunction:
    """Return the steps without those that are taken back at once: to the month, and from there to all its days."""
    left: list[Step] = []
    for step in function:
        if left and step == Inverse(left[-1]):
            left.pop()
        else:
            left.append(step)
    return tuple(left)


def is_computed(function: KeyFunction) -> bool:
    """Return whether Spark is to say what some step makes of a value."""
    return any(isinstance(step, Computed) for step in function)


def may_add_null(function: KeyFunction) -> bool:
    """Return whether a row may be seen as NULL, whatever its value: it is on the null-supplying side of a join."""
    return any(isinstance(step, OrNull) for step in function)


def keeps_values(function: KeyFunction) -> bool:
    """Return whether values stay as they are, but for NULL, so that it also holds for bucket numbers."""
    return all(step.only_adds_null for step in function)


@dataclass(frozen=True)
class Monotone:
    """A non-decreasing, NULL-preserving function on integers: days for dates, microseconds for timestamps.

    It is given by `apply` and by `first`, its lower inverse: first(y) = min {x : apply(x) >= y}. So the image of [a, b]
    lies in [apply(a), apply(b)], and the preimage of [c, d] is [first(c), first(d + 1) - 1].

    sql              the same function in Spark, `{}` for the argument
    argument_type    the Spark type that it takes; timestamp_ntz is a time on the wall
    constant_within  the longest period over which it has one value: a month for trunc(d, 'MONTH'); None: it has another
                     value for every argument
    stays_within     the shortest period in which a result always lies with its argument: a month again; None: in no
                     period, or the result is no time, as for year(d)
    """

    name: str = field(compare=False)
    sql: str
    argument_type: str
    result_type: str
    apply: Callable[[int], int]
    first: Callable[[int], int]
    constant_within: Period | None = None
    stays_within: Period | None = None
    only_adds_null: bool = field(default=False, init=False)

    def image(self, domain: Domain) -> Domain:
        """Return a superset of the output values, exact for domains made of whole preimages."""
        return _map(domain, self.apply, self.apply)

    def preimage(self, domain: Domain) -> Domain:
        """Return the base values, exactly."""
        return _map(domain, self.first, lambda high: self.first(high + 1) - 1)


@dataclass(frozen=True)
class OrNull:
    """The null-supplying side of an outer join: what a row shows as a value, or, unmatched, as NULL."""

    name: str = field(default="or NULL", init=False)
    result_type: str | None = field(default=None, init=False)
    only_adds_null: bool = field(default=True, init=False)

    def image(self, domain: Domain) -> Domain:
        """Return the values and NULL: a changed row may have been, or be no longer, what keeps a row unmatched.

        A row that no value leads to (noon, where midnights are wanted) is unmatched itself.
        """
        return domain.union(Domain.only_null())

    def preimage(self, domain: Domain) -> Domain:
        """Return the values; which rows are unmatched depends on all of the other side."""
        return Domain.all() if domain.null else domain


@dataclass(frozen=True)
class Inverse:
    """A step taken back, as a join condition does."""

    step: Step

    @property
    def name(self) -> str:
        """Return the step as a person would write it."""
        return f"inverse of {self.step.name}"

    @property
    def result_type(self) -> str | None:
        """Return None: the type before a step is not recorded."""
        return None

    @property
    def only_adds_null(self) -> bool:
        """Return whether values stay as they are."""
        return self.step.only_adds_null

    def image(self, domain: Domain) -> Domain:
        """Return a superset of the values that the step leads from."""
        return self.step.preimage(domain)

    def preimage(self, domain: Domain) -> Domain:
        """Return a superset of the values that the step leads to."""
        return self.step.image(domain)


@dataclass(frozen=True)
class Prefix:
    """The first `length` characters of a string, as substr, left and Iceberg's truncate give them.

    Spark compares strings by their UTF-8 bytes, which is the order of code points, so the function is monotone.
    """

    length: int
    argument_type: str = field(default="string", init=False)
    result_type: str = field(default="string", init=False)
    only_adds_null: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        """Return the step as a person would write it."""
        return f"first {self.length} characters"

    def image(self, domain: Domain) -> Domain:
        """Return a superset of the prefixes."""
        ranges = (Range(_cut(r.low, self.length), _cut(r.high, self.length)) for r in domain.ranges)
        return domain.with_ranges(ranges)

    def preimage(self, domain: Domain) -> Domain:
        """Return the strings whose prefix lies in the domain."""
        ranges = (self._strings(r) for r in domain.ranges)
        return domain.with_ranges(ranges)

    def _strings(self, r: Range) -> Range:
        low = _cut(r.low, self.length)
        if r.high is None:
            return Range(low, None)
        high = _text(r.high)
        if len(high) < self.length:
            return Range(low, high)
        return Range(low, _after(high[: self.length]), True, False)


def with_prefix(prefix: str) -> Range:
    """Return the strings that start with the prefix."""
    return Range(prefix, _after(prefix), True, False)


@dataclass(frozen=True)
class Computed:
    """Any deterministic expression of one column: Spark is to say what it makes of each value.

    `name` is the expression with `?` for the column, normalised; `text` are the pieces that the user wrote around each
    naming of the column. Until it is evaluated (planning/questions/key_evaluation.py) everything maps to everything.
    """

    name: str
    text: tuple[str, ...] = field(compare=False)
    argument_type: str = field(compare=False)
    result_type: str | None = field(default=None, init=False)
    only_adds_null: bool = field(default=False, init=False)

    def written_of(self, column: str) -> str:
        """Return the expression of a column as the user wrote it, in one line."""
        return " ".join(column.join(self.text).split())

    def image(self, domain: Domain) -> Domain:
        """Return all values."""
        return domain if domain.is_none else Domain.all()

    def preimage(self, domain: Domain) -> Domain:
        """Return all values."""
        return domain if domain.is_none else Domain.all()


@dataclass(frozen=True)
class Constant:
    """A literal: it is shown beside a base row, whatever that holds."""

    value: str | int
    result_type: str | None = field(default=None, init=False)
    only_adds_null: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        """Return the literal."""
        return repr(self.value)

    def image(self, domain: Domain) -> Domain:
        """Return the literal alone, for any rows at all."""
        return domain if domain.is_none else Domain.of(self.value)

    def preimage(self, domain: Domain) -> Domain:
        """Return all values where the literal is wanted, else none."""
        return Domain.all() if domain.contains(self.value) else Domain.none()


@dataclass(frozen=True)
class Evaluated:
    """A Computed step whose values are known for some arguments. `complete`: for all that the base table holds now."""

    name: str
    values: Mapping[Value | None, Value | None] = field(compare=False)
    complete: bool
    result_type: str | None = field(default=None, init=False)
    only_adds_null: bool = field(default=False, init=False)

    def image(self, domain: Domain) -> Domain:
        """Return the values of the arguments in the domain; all values when one of them is unknown."""
        arguments = enumerated(domain, max(len(self.values), 1))
        if arguments is None or any(a not in self.values for a in arguments):
            return domain if domain.is_none else Domain.all()
        return Domain.of(*(self.values[a] for a in arguments))

    def preimage(self, domain: Domain) -> Domain:
        """Return the arguments, among those that the base table holds, whose value lies in the domain."""
        if not self.complete:
            return domain if domain.is_none else Domain.all()
        return Domain.of(*(a for a, value in self.values.items() if domain.contains(value)))


def enumerated(domain: Domain, limit: int) -> list[Value | None] | None:
    """Return the values of a domain one by one; None when they cannot be listed or are more than `limit`."""
    values: list[Value | None] = [None] if domain.null else []
    if domain.nan:
        return None
    for r in domain.ranges:
        if r.is_single_value:
            values.append(r.low)
        elif type(r.low) is int and type(r.high) is int:
            low, high = r.low + (0 if r.low_inclusive else 1), r.high - (0 if r.high_inclusive else 1)
            if high - low >= limit:
                return None
            values += range(low, high + 1)
        else:
            return None
        if len(values) > limit + 1:
            return None
    return values


def _map(domain: Domain, map_low: Callable[[int], int], map_high: Callable[[int], int]) -> Domain:
    ranges = []
    for r in domain.ranges:
        low = None if r.low is None else map_low(_integer(r.low) + (0 if r.low_inclusive else 1))
        high = None if r.high is None else map_high(_integer(r.high) - (0 if r.high_inclusive else 1))
        ranges.append(Range(low, high))
    return domain.with_ranges(ranges)


def _integer(value: Value) -> int:
    if not isinstance(value, int):
        raise TypeError(f"Cannot map a key of type {type(value).__name__} through a time function")
    return value


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise TypeError(f"Cannot take the first characters of a {type(value).__name__}")
    return value


def _cut(value: Value | None, length: int) -> Value | None:
    return None if value is None else _text(value)[:length]


def _after(prefix: str) -> str | None:
    """Return the smallest string above all that start with the prefix; None when there is none."""
    for position in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[position]) + 1
        if code <= _LAST_CODE_POINT:
            return prefix[:position] + chr(_SURROGATES.stop if code in _SURROGATES else code)
    return None
