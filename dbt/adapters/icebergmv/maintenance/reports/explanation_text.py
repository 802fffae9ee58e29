"""Explanations as a person reads them: one view in full, or a project with one line a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dbt.adapters.icebergmv.maintenance.reports.explanation import (
    BaseTableExplanation,
    ColumnExplanation,
    Explanation,
    Outcome,
    Verdict,
)
from dbt.adapters.icebergmv.maintenance.reports.status_text import next_words
from dbt.adapters.icebergmv.maintenance.reports.words import aligned, listed, table
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import ago, count

_IN_PART = ("append", "overwrite", "merge")
_WORDS: dict[Verdict, str] = {
    "incremental": "incremental",
    "partly": "incremental for some of its tables",
    "full": "always full",
    "unknown": "not known yet",
    "error": "cannot be one",
}
_FAILS = "fails"
_VIEW = "materialized_view"


def explanation_text(explanation: Explanation, materialized: str = _VIEW) -> str:
    """Return one explanation in full. `materialized` is what the model is now."""
    return "\n".join(_lines(explanation, materialized))


def project_text(explanations: Sequence[tuple[Explanation, str]]) -> str:
    """Return a table with one line a model, each with what it is now and what it is, or would be, as a view."""
    if not explanations:
        return "No model of the project is written in SQL."
    words = [_word(e, was) for e, was in explanations]
    parts = [f"{words.count(word)} {word}" for word in (*_WORDS.values(), _FAILS) if word in words]
    rows = [(_short(e.name), was, word, in_a_line(e)) for (e, was), word in zip(explanations, words, strict=True)]
    head = ("model", "is now", "as a materialized view", "when its tables change")
    return "\n".join([f"{count(len(explanations), 'model')}: {', '.join(parts)}", "", *table(head, rows)])


def _word(explanation: Explanation, materialized: str) -> str:
    is_one = materialized == _VIEW
    return _FAILS if is_one and explanation.verdict == "error" else _WORDS[explanation.verdict]


def in_a_line(explanation: Explanation) -> str:
    """Return what changes of the base tables come to, or what stops them, in one line."""
    if explanation.error is not None:
        return explanation.error
    if explanation.obstacles and (explanation.verdict == "full" or not explanation.base_tables):
        return "; ".join(explanation.obstacles)
    if not explanation.base_tables:
        return "it reads no table that changes"
    alike = Counter(_bare(base.name) for base in explanation.base_tables)
    return "; ".join(
        _table_in_a_line(base, _bare(base.name) if alike[_bare(base.name)] == 1 else _short(base.name))
        for base in explanation.base_tables
    )


def _table_in_a_line(base: BaseTableExplanation, name: str) -> str:
    found = [o for o in (base.rows_added, base.rows_changed) if o is not None]
    if not found:
        return f"{name}: {'; '.join(base.obstacles) or 'not known yet'}"
    kinds = dict.fromkeys(kind for outcome in found for kind in outcome.kinds if kind in _IN_PART)
    if kinds:
        worst = ", at worst full" if any("full" in outcome.kinds for outcome in found) else ""
        return f"{name}: {listed(tuple(kinds), 'or')}{worst}"
    return f"{name}: full ({'; '.join(base.obstacles) or found[-1].reason})"


def _lines(explanation: Explanation, materialized: str) -> Iterator[str]:
    is_one = materialized == _VIEW
    as_one = "" if is_one else f", now a model of type {materialized}; as a materialized view"
    yield f"{_short(explanation.name)}{as_one}: {_word(explanation, materialized)}"
    if explanation.error is not None:
        yield f"  {explanation.error}"
    yield from (f"  {said}" for said in explanation.obstacles)
    if explanation.status is not None and explanation.status.next is not None:
        found = explanation.status
        when = "never built" if found.age_seconds is None else f"refreshed {ago(found.age_seconds)}"
        yield f"  {found.state}, {when}; the next run: {next_words(explanation.status.next)}"
    if explanation.partitioned_by is not None:
        keys = ", ".join(explanation.partitioned_by)
        yield f"  stored rows are partitioned by {keys}" if keys else "  stored rows are not partitioned"
    if explanation.readers is not None:
        yield f"  readers get {explanation.readers}"
    for columns in explanation.tie_breakers:
        yield f"  rows that tie in a window are ordered by {columns}"
    if explanation.columns:
        yield from ("", "Columns", *_indented([_column(c) for c in explanation.columns]))
    for base in explanation.base_tables:
        yield from ("", f"Base table {base.name}", *_indented(list(_base_table(base))))
    if explanation.considered:
        rows = [(one.kind, one.verdict, one.why) for one in explanation.considered]
        yield from ("", "Plans of the next refresh", *_indented(rows))
    if explanation.sql is not None:
        yield from ("", f"SQL of the next refresh: {explanation.sql.note}")
        yield from (f"\n{statement};" for statement in explanation.sql.statements)


def _indented(rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"  {line}" for line in aligned(rows)]


def _column(column: ColumnExplanation) -> tuple[str, ...]:
    follows = [f"{track.base_table}.{track.base_column} {track.how}" for track in column.tracks]
    name = f"{column.name} (hidden)" if column.hidden else column.name
    return name, f"follows {', '.join(follows)}" if follows else "follows nothing"


def _base_table(base: BaseTableExplanation) -> Iterator[tuple[str, ...]]:
    yield "partitioned by", ", ".join(base.partitioned_by) or "nothing"
    yield "followed by", ", ".join(base.followed_by) or "no output column"
    yield from (("in the way", obstacle) for obstacle in base.obstacles)
    yield "if rows come", _outcome(base.rows_added)
    yield "if rows change", _outcome(base.rows_changed)


def _outcome(outcome: Outcome | None) -> str:
    if outcome is None:
        return "not known yet"
    kinds = listed(outcome.kinds, "or")
    if outcome.questions:
        return f"{kinds}; asked when it runs: {'; '.join(outcome.questions)}"
    return f"full: {outcome.reason}" if outcome.kinds == ("full",) else kinds


def _bare(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _short(name: str) -> str:
    return name.split(".", 1)[-1]
