"""UNION, INTERSECT and EXCEPT: columns are matched by position, and each tracks what it tracks in either branch.

Rows with one value in a column come, in every branch, from rows with that value there; so UNION ALL, and all set
operations that compare whole rows, keep the tracks of both sides. A column whose type differs between the branches is
cast, which changes what its values are; it tracks nothing then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.order_of_rows import all_edits, shows_ties
from dbt.adapters.icebergmv.maintenance.definition.rules.answers import set_questions
from dbt.adapters.icebergmv.maintenance.definition.tracking.exactness import may_become_text, united
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import together
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import WIDER, are_comparable
from dbt.adapters.icebergmv.maintenance.definition.tracking.literal_types import NULL_TYPE
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import (
    Deltas,
    Kind,
    Scope,
    TrackedColumn,
    TrackedRelation,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence


def track_set_operation(
    node: exp.SetOperation, scope: Scope, track: Callable[[exp.Expr, Scope], TrackedRelation]
) -> TrackedRelation:
    """Return what the output of a set operation tracks."""
    left, right = track(node.this, scope), track(node.expression, scope)
    occurrences, obstacles = left.occurrences | right.occurrences, {**left.obstacles, **right.obstacles}
    words = node.key.upper()
    # But for UNION ALL rows are compared, so which ones there are depends on what they show.
    is_all = isinstance(node, exp.Union) and not node.args.get("distinct")
    has_ties = any(side.has_ties if is_all else shows_ties(side) for side in (left, right))
    for argument, reason in (("limit", "LIMIT"), ("offset", "OFFSET"), ("by_name", f"{words} BY NAME")):
        if node.args.get(argument):
            columns = None if argument == "by_name" else left.columns
            return TrackedRelation(columns, occurrences, obstacles, has_ties=has_ties).cut(reason)
    if left.columns is None or right.columns is None or len(left.columns) != len(right.columns):
        unknown = TrackedRelation(None, occurrences, obstacles, has_ties=has_ties)
        return unknown.cut(f"{words} over columns that are not known")
    questions = set_questions(node, left, right)
    columns = tuple(_column(a, b, frozenset(questions)) for a, b in zip(left.columns, right.columns, strict=True))
    deltas, ruled_out = _deltas(node, left.deltas, right.deltas), left.ruled_out | right.ruled_out
    findings = together(left.findings, right.findings)
    result = TrackedRelation(columns, occurrences, obstacles, deltas, questions, ruled_out=ruled_out, findings=findings)
    if not has_ties:
        return result
    loosened = all_edits(side.loosened for side in (left, right) if side.has_ties) if is_all else None
    return replace(result, has_ties=True, loosened=loosened)


def _column(left: TrackedColumn, right: TrackedColumn, asked: frozenset[Occurrence]) -> TrackedColumn:
    column = _matched(left, right).with_flags_of(left, right)
    return replace(
        column,
        answered=_answered(left, right) & asked,
        keeps_equal=column.keeps_equal and not _may_be_text(left, right),
        # Each row is of one branch alone, and what changes in the other one leaves its value as it is.
        tied_below=left.tied_below | right.tied_below,
    )


def _matched(left: TrackedColumn, right: TrackedColumn) -> TrackedColumn:
    type_, kind = _common_type(left.type, right.type), united([_kind(left), _kind(right)])
    if type_ is None:
        return TrackedColumn(left.name, kind=kind)
    required = left.required and right.required
    return TrackedColumn(left.name, left.tracks | right.tracks, type_, required, kind=kind)


def _answered(left: TrackedColumn, right: TrackedColumn) -> frozenset[Occurrence]:
    """Return the occurrences that a column answers."""
    return frozenset() if _may_be_text(left, right) else left.answered | right.answered


def _may_be_text(left: TrackedColumn, right: TrackedColumn) -> bool:
    """Return whether a float of one branch may be a text beside the other."""
    is_same = left.type is not None and left.type == right.type
    return not is_same and may_become_text([_kind(left), _kind(right)])


def _kind(column: TrackedColumn) -> Kind | Literal["null"] | None:
    return "null" if column.type == NULL_TYPE else column.kind


def _common_type(left: str | None, right: str | None) -> str | None:
    if left is None or right is None:
        return None
    if NULL_TYPE in (left, right):
        return right if left == NULL_TYPE else left
    if left == right:
        return left
    return WIDER if are_comparable(left, right) else None


def _deltas(node: exp.SetOperation, left: Deltas, right: Deltas) -> Deltas:
    """UNION ALL adds up: new rows of a branch give their rows alone while the other branch is read as empty."""
    if isinstance(node, exp.Except):
        return left.not_additive()
    if isinstance(node, exp.Intersect):
        return (right if left.emptied_by is None else left).not_additive()
    both_empty = None
    if left.emptied_by is not None and right.emptied_by is not None:
        both_empty = left.emptied_by | right.emptied_by
    edits = left.emptied_with | right.emptied_with
    if node.args.get("distinct"):
        return Deltas({}, both_empty, emptied_with=edits)
    additive = {}
    for side, other in ((left, right), (right, left)):
        # What is added is a branch as it is written.
        if other.emptied_by is not None and not other.emptied_with:
            additive.update({o: emptied | other.emptied_by for o, emptied in side.additive.items()})
    return Deltas(additive, both_empty, emptied_with=edits)
