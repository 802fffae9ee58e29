"""SELECT: WITH, what is below, GROUP BY, HAVING, windows, DISTINCT and the projection.

- WHERE and HAVING keep every track.
- GROUP BY keeps a track when the output column is a function of a key of every grouping set.
- A window keeps a track when the output column is a function of a key of its PARTITION BY, or both of one column.
- DISTINCT keeps every track: rows with different keys are never merged. Generators keep their input's.
- LIMIT, OFFSET, TABLESAMPLE and their like cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.row_order.collected_lists import settled_calls
from dbt.adapters.icebergmv.maintenance.definition.row_order.order_of_rows import (
    chosen_by_ties,
    depends_on_order,
    may_differ,
    picks_values,
    rows_by_ties,
    shows_ties,
    tied_below,
)
from dbt.adapters.icebergmv.maintenance.definition.row_order.shown_groups import only_shown, with_groups
from dbt.adapters.icebergmv.maintenance.definition.row_order.window_orders import settled_nodes, window_orders
from dbt.adapters.icebergmv.maintenance.definition.rules.answers import Made, generated, with_questions
from dbt.adapters.icebergmv.maintenance.definition.rules.computed_keys import computed_key, grouped_key
from dbt.adapters.icebergmv.maintenance.definition.rules.constants import literal_column
from dbt.adapters.icebergmv.maintenance.definition.rules.ctes import with_ctes
from dbt.adapters.icebergmv.maintenance.definition.rules.dynamic_filters import filters_of
from dbt.adapters.icebergmv.maintenance.definition.rules.expression_subqueries import sources_below
from dbt.adapters.icebergmv.maintenance.definition.rules.from_clause import TrackQuery
from dbt.adapters.icebergmv.maintenance.definition.rules.generators import generated_names
from dbt.adapters.icebergmv.maintenance.definition.rules.grouping import (
    Grouping,
    averaged_columns,
    grouping_of,
    is_kept,
    key_positions,
    named_keys,
    set_positions,
)
from dbt.adapters.icebergmv.maintenance.definition.rules.static_filters import static_filters
from dbt.adapters.icebergmv.maintenance.definition.rules.unlisted import unlisted
from dbt.adapters.icebergmv.maintenance.definition.rules.windows import (
    behind_windows,
    partitions_of_windows,
    window_partitions,
    windows_in_the_way,
)
from dbt.adapters.icebergmv.maintenance.definition.syntax.aggregates_and_generators import (
    aggregates_all_rows,
    has_grouping_sets,
    is_aggregate,
    is_generator,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.exactness import keeps_equal, kind_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.findings import Finding
from dbt.adapters.icebergmv.maintenance.definition.tracking.from_columns import Sources
from dbt.adapters.icebergmv.maintenance.definition.tracking.literal_types import type_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Key, Names, key_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracked_relation import (
    Additive,
    Deltas,
    EditKind,
    Grouped,
    Scope,
    TrackedColumn,
    TrackedRelation,
)
from dbt.adapters.icebergmv.maintenance.definition.tracking.tracks import Occurrence
from dbt.adapters.icebergmv.maintenance.definition.tracking.written_columns import compared_columns, written_columns

_CUTS = {
    "limit": "LIMIT",
    "offset": "OFFSET",
    "sample": "TABLESAMPLE",
    "pivots": "PIVOT",
    "connect": "CONNECT BY",
    "match": "MATCH_RECOGNIZE",
    "kind": "SELECT TRANSFORM",
}


def track_select(select: exp.Select, scope: Scope, track: TrackQuery) -> TrackedRelation:
    """Return what the output of a SELECT tracks."""
    scope = with_ctes(select, scope, track)
    names = Names(_answering(select, sources_below(select, scope, track), scope), scope)
    orders: tuple[Finding, ...] = (*window_orders(select, names), *settled_calls(select, names))
    settled = settled_nodes((*orders, *names.sources.relation.findings))
    names = replace(names, sources=replace(names.sources, settled=settled))
    columns = _project(select, names)
    below = names.sources.relation
    lost = {} if columns is None else _lost(select, names.sources, columns)
    obstacles = {**lost, **below.obstacles}
    deltas = _deltas(select, replace(below.deltas, grouped=None))
    if columns is not None and len(columns) == len(select.expressions):
        grouped = _grouped(select, names, below.deltas.additive)
        nameable = frozenset(i for i, c in enumerate(columns) if c.keeps_equal and not c.is_unsettled)
        deltas = replace(deltas, grouped=None if grouped is None else replace(grouped, nameable=nameable))
    result = TrackedRelation(
        columns, below.occurrences, obstacles, deltas, below.questions, unlisted(select, names), below.ruled_out
    )
    result = rows_by_ties(select, names, result)
    if columns is None and depends_on_order(select, names.sources.settled):
        result = replace(result, has_ties=True, loosened=None)
    shown = only_shown(select, names, result)
    result = replace(result, findings=(*filters_of(select, names), *static_filters(select, names), *orders, *shown))
    reason = _cut_reason(select)
    if reason is not None:
        return result.cut(reason)
    return result.cut("a column list that cannot be resolved") if columns is None else result


def _project(select: exp.Select, names: Names) -> tuple[TrackedColumn, ...] | None:
    """Return the output columns, or None when `*` or a generator means columns that are not known."""
    grouping = grouping_of(select, names)
    groups = None if grouping is None else _grouping_keys(grouping, names)
    windows = window_partitions(select, names, grouping)
    made = _made(select, names, grouping)
    rows_have_ties = names.sources.relation.has_ties or chosen_by_ties(select, names)
    columns: list[TrackedColumn] = []
    for expression in select.expressions:
        if isinstance(expression, exp.Star) or (isinstance(expression, exp.Column) and expression.is_star):
            expanded = _expand(expression, names.sources)
            if expanded is None or groups is not None:
                return None
            columns += [
                replace(behind_windows(c, Key(s), windows, names), answered=made.slot_answers(s)) for s, c in expanded
            ]
            continue
        if is_generator(expression):
            new_names = generated_names(expression)
            if new_names is None:
                return None
            tied = may_differ(expression, names)
            made_of = TrackedColumn(
                "", answered=frozenset() if tied else made.all_answers, has_ties=tied, is_unsettled=tied
            )
            columns += [replace(made_of, name=name) for name in new_names]
            continue
        hidden = grouping is not None and grouping.shows_null(expression, names)
        literal = None if hidden else literal_column(expression, names)
        key = key_of(expression, names) or computed_key(expression, names)
        if key is None or hidden or (groups is not None and not is_kept(key, groups)):
            column = TrackedColumn(expression.output_name, type=key.type if key else type_of(expression))
        else:
            required = not key.steps and names.sources.slots[key.slot].column.required
            column = TrackedColumn(expression.output_name, names.tracks(key), key.type, required)
            column = behind_windows(column, key, windows, names)
        answered, kind = made.answers(expression), kind_of(expression, names)
        column = replace(column, answered=answered, kind=kind)
        column = _with_ties(column, expression, names, columns, rows_have_ties)
        column = replace(column, keeps_equal=keeps_equal(expression, names))
        columns.append(literal or with_groups(column, expression, select, names))
        if isinstance(expression, exp.Alias):
            names = replace(names, aliases={expression.alias.lower(): None if hidden else key, **names.aliases})
    return tuple(columns)


def _with_ties(
    column: TrackedColumn, item: exp.Expr, names: Names, before: Sequence[TrackedColumn], rows_have_ties: bool
) -> TrackedColumn:
    """Return the column of an item with what the order of rows has to do with it; `before` are the items before it."""
    named = _items_named(item, before, names.sources)
    is_tied = picks_values(item, names.sources) or (rows_have_ties and _reads_other_rows(item))
    is_tied = is_tied or any(other.is_tied for other in named)
    has_ties = is_tied or may_differ(item, names) or any(other.has_ties for other in named)
    return replace(
        column,
        answered=frozenset() if has_ties else column.answered,
        has_ties=has_ties,
        is_rounded=has_ties and not is_tied,
        tied_below=tied_below(item, names.sources),
        is_unsettled=has_ties or _is_unsettled(item, names) or any(other.is_unsettled for other in named),
    )


def _items_named(item: exp.Expr, before: Sequence[TrackedColumn], sources: Sources) -> list[TrackedColumn]:
    """Return the items of a list, of those before one, that it may name by their aliases."""
    unknown = {c.name.lower() for c in item.find_all(exp.Column) if not c.table and sources.resolve(c) is None}
    return [column for column in before if column.name.lower() in unknown]


def _reads_other_rows(item: exp.Expr) -> bool:
    return any(isinstance(node, (exp.Window, exp.Query)) or is_aggregate(node) for node in item.walk())


def _is_unsettled(item: exp.Expr, names: Names) -> bool:
    """Return whether a subquery is a part of an item, or of a column in it."""
    if item.find(exp.Query) is not None:
        return True
    return any(names.sources.slots[slot].column.is_unsettled for slot in names.sources.slots_in(item))


def _answering(select: exp.Select, sources: Sources, scope: Scope) -> Sources:
    """Return FROM with the questions that are left behind the generators of the SELECT list, HAVING and QUALIFY."""
    for expression in select.expressions:
        if is_generator(expression):
            call = expression.this if isinstance(expression, exp.Aliases) else expression.unalias()
            sources = generated(sources, call, Names(sources, scope).with_aliases_of(select))
    questions = dict(sources.relation.questions)
    clauses = (clause for clause in (select.args.get("having"), select.args.get("qualify")) if clause is not None)
    edits: list[tuple[EditKind, exp.Expr]] = [("all rows", clause.this) for clause in clauses]
    if aggregates_all_rows(select):
        edits.append(("some row", select))
    for kind, node in edits:
        questions = {o: question.with_edit(kind, node) for o, question in questions.items()}
    return with_questions(sources, questions)


def _made(select: exp.Select, names: Names, grouping: Grouping | None) -> Made:
    together: list[tuple[exp.Expr, ...]] = [()] if aggregates_all_rows(select) else []
    grouped = together if grouping is None else [(*grouping.always, *grouping.sometimes)]
    return Made(names.with_aliases_of(select), (*grouped, *map(tuple, partitions_of_windows(select))))


def _grouping_keys(grouping: Grouping, names: Names) -> list[Key]:
    found = (key_of(e, names) or grouped_key(e, names) for e in grouping.always)
    return [key for key in found if key is not None]


def _expand(star: exp.Expr, sources: Sources) -> list[tuple[int, TrackedColumn]] | None:
    """Return the slots and columns of `*`, `t.*` and `* EXCEPT (...)`."""
    inner = star.this if isinstance(star, exp.Column) else star
    if inner.args.get("replace") or inner.args.get("rename"):
        return None
    if isinstance(star, exp.Column):
        alias = star.table.lower()
        if alias in sources.unknown or star.args.get("db") or alias not in sources.relation_names:
            return None
        # Columns that USING merged are hidden from `*`, and come first in `t.*`.
        hidden = [i for i, s in enumerate(sources.slots) if s.alias == alias and i not in sources.star]
        if len(hidden) > 1:
            return None
        shown = hidden + [i for i in sources.star if sources.slots[i].alias == alias]
    elif sources.unknown:
        return None
    else:
        shown = list(sources.star)
    dropped: set[int] = set()
    for left_out in inner.args.get("except_") or ():
        found = _left_out(left_out, shown, sources)
        if found is None:
            return None
        dropped |= found
    return [(i, sources.slots[i].column) for i in shown if i not in dropped]


def _left_out(left_out: exp.Expr, shown: Sequence[int], sources: Sources) -> set[int] | None:
    """Return which of the slots that are shown an item of EXCEPT leaves out; None where that is not known."""
    if isinstance(left_out, exp.Column) and len(left_out.parts) > 1:
        # A column of one relation, or a field, without which a struct is shown.
        slot = sources.resolve(left_out)
        return {slot} if slot in shown and slot is not None else None
    return {i for i in shown if sources.slots[i].column.name.lower() == left_out.name.lower()}


def _deltas(select: exp.Select, below: Deltas) -> Deltas:
    """A projection adds up row by row; grouping, windows and DISTINCT look at several rows at once."""
    if select.args.get("limit") or select.args.get("offset") or select.args.get("from_") is None:
        return Deltas()
    if aggregates_all_rows(select):
        return below.one_row(select)
    group = select.args.get("group")
    if group is not None:
        # Over no rows a grouping set that is empty still gives one.
        return below.not_additive() if group.expressions and not has_grouping_sets(group) else Deltas()
    several = select.args.get("distinct") or select.args.get("qualify")
    return below.not_additive() if several or any(e.find(exp.Window) for e in select.expressions) else below


def _grouped(select: exp.Select, names: Names, below: Additive) -> Grouped | None:
    """Return that the SELECT is one aggregate, or DISTINCT over columns of rows, whose groups its output rows show."""
    group, distinct = select.args.get("group"), select.args.get("distinct")
    several = any(select.args.get(a) for a in ("qualify", "limit", "offset"))
    if several or select.args.get("from_") is None or (distinct is not None and not _is_of_rows(select)):
        return None
    keys: tuple[int, ...] | None = () if aggregates_all_rows(select) else None
    if distinct is not None:
        keys = tuple(range(len(select.expressions)))
    has_sets = group is not None and has_grouping_sets(group)
    if group is not None:
        keys = set_positions(select, names) if has_sets else key_positions(select, names)
    if keys is None:
        return None
    written, compared = written_columns(select, names.sources), compared_columns(select, names.sources)
    named, averaged = dict(named_keys(select, keys, names)), dict(averaged_columns(select, names))
    has_ties = shows_ties(names.sources.relation) or any(s.column.has_ties for s in names.sources.slots)
    shows_all = distinct is None and select.args.get("having") is None
    return Grouped(keys, below, written, compared, has_sets, named, averaged, has_ties, shows_all)


def _is_of_rows(select: exp.Select) -> bool:
    """Return whether DISTINCT compares rows that are each made of one row of FROM alone."""
    if select.args.get("group") is not None or aggregates_all_rows(select) or select.args["distinct"].args.get("on"):
        return False
    return not any(item.find(exp.Window, exp.Query) or is_generator(item) for item in select.expressions)


def _lost(select: exp.Select, sources: Sources, columns: Sequence[TrackedColumn]) -> dict[Occurrence, str]:
    """Return the occurrences that nothing tracks any more behind this SELECT, with the clause that is to blame."""
    before = {t.occurrence for slot in sources.slots for t in slot.column.tracks if not t.is_of_literal}
    lost = before - {t.occurrence for column in columns for t in column.tracks if not t.is_of_literal}
    if not lost:
        return {}
    partitions = partitions_of_windows(select)
    if partitions:
        reason = windows_in_the_way(partitions)
    elif select.args.get("group") is not None:
        reason = "GROUP BY without a key of it in the SELECT list"
    elif aggregates_all_rows(select):
        reason = "an aggregate over all rows"
    else:
        reason = "a SELECT list without a key of it"
    return dict.fromkeys(lost, reason)


def _cut_reason(select: exp.Select) -> str | None:
    for argument, words in _CUTS.items():
        if select.args.get(argument):
            return words
    distinct = select.args.get("distinct")
    return "DISTINCT ON" if distinct is not None and distinct.args.get("on") else None
