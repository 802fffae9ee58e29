"""Productions with subqueries in expressions, and set operations."""

from __future__ import annotations

from tests.randomised.grammar import Body, Builder, Relation, Source
from tests.randomised.joins import two_sources
from tests.randomised.selects import ending
from tests.randomised.tables import TABLES


def _list(b: Builder, source: Source) -> str:
    return ", ".join(f"{source.alias}.{c}" for c in b.columns)


def _body(b: Builder, outer: Source, inner: Source, condition: str) -> Body:
    key, group, measure = (f"{outer.alias}.{c}" for c in b.columns)
    return Body(key, group, measure, outer.text, f" WHERE {condition}", outer.tables | inner.tables)


def _correlation(b: Builder, outer: Source, inner: Source, shape: str) -> str:
    kind = b.choices.weighted([(6, "key"), (2, "more"), (1, "other column")])
    key = f"{inner.alias}.{b.key} = {outer.alias}.{b.key}"
    if kind == "other column":
        b.note(f"{shape} over another column", inner.tables - outer.tables)
        return f"{inner.alias}.{b.group} = {outer.alias}.{b.group}"
    return (
        key if kind == "key" else f"{key} AND {inner.alias}.{b.measure} > {b.one_of('0', f'{outer.alias}.{b.measure}')}"
    )


def exists(b: Builder, depth: int) -> Relation:
    outer, inner = two_sources(b, depth)
    shape = b.one_of("exists", "not exists")
    b.note(shape, outer.tables | inner.tables)
    b.note(f"{shape}, subquery changed", inner.tables - outer.tables)
    condition = f"{shape.upper()} (SELECT 1 FROM {inner.text} WHERE {_correlation(b, outer, inner, shape)})"
    if b.choices.chance(0.25):
        condition = f"{b.predicate(outer.alias)} AND {condition}"
    elif b.choices.chance(0.2):
        b.note(f"{shape} under OR", outer.tables | inner.tables)
        condition = f"({b.predicate(outer.alias)}) OR {condition}"
    return ending(b, _body(b, outer, inner, condition))


def in_subquery(b: Builder, depth: int) -> Relation:
    outer, inner = two_sources(b, depth)
    shape = b.one_of("in", "not in")
    column = b.key
    if b.choices.chance(0.2):
        column = b.group
        b.note(f"{shape} over another column", inner.tables - outer.tables)
    else:
        b.note(f"{shape} a subquery of the key", outer.tables | inner.tables)
        b.note(f"{shape} a subquery of the key, subquery changed", inner.tables - outer.tables)
    where = ""
    if b.choices.chance(0.3):
        where = f" WHERE {b.one_of(b.predicate(inner.alias), f'{inner.alias}.{column} IS NOT NULL')}"
    if b.choices.chance(0.2):
        b.note(f"{shape} a subquery with HAVING, subquery changed", inner.tables - outer.tables)
        having = b.one_of("count(*) > 1", f"max({inner.alias}.{b.measure}) > 2")
        where = f"{where} GROUP BY {inner.alias}.{column} HAVING {having}"
    elif b.choices.chance(0.15):
        other, operation = b.source(0), b.one_of("UNION", "EXCEPT", "INTERSECT", "UNION ALL")
        b.note(f"{shape} a set operation, subquery changed", (inner.tables | other.tables) - outer.tables)
        where = f"{where} {operation} SELECT {other.alias}.{column} FROM {other.text}"
        inner = inner._replace(tables=inner.tables | other.tables)
    not_null = f"{outer.alias}.{column} IS NOT NULL AND " if b.choices.chance(0.2) else ""
    condition = (
        f"{not_null}{outer.alias}.{column} {shape.upper()} (SELECT {inner.alias}.{column} FROM {inner.text}{where})"
    )
    return ending(b, _body(b, outer, inner, condition))


def listed_subquery(b: Builder, depth: int) -> Relation:
    """Return a relation whose measure is told by a subquery in the SELECT list."""
    outer, inner = two_sources(b, depth)
    use = b.one_of("exists", "not exists", "in", "not in")
    if use.endswith("exists"):
        condition = f"{use.upper()} (SELECT 1 FROM {inner.text} WHERE {_correlation(b, outer, inner, use)})"
    else:
        column = b.one_of(b.key, b.group)
        where = b.one_of("", f" WHERE {b.predicate(inner.alias)}", f" WHERE {inner.alias}.{column} IS NOT NULL")
        rows = f"SELECT {inner.alias}.{column} FROM {inner.text}{where}"
        condition = f"{outer.alias}.{column} {use.upper()} ({rows})"
    b.note(f"{use} in the SELECT list, subquery changed", inner.tables - outer.tables)
    key, group, measure = (f"{outer.alias}.{c}" for c in b.columns)
    told = f"CASE WHEN {condition} THEN {measure} ELSE 0 END"
    tables = outer.tables | inner.tables
    if b.choices.chance(0.5):
        return ending(b, Body(key, group, told, outer.text, b.where(outer.alias, 0.3), tables))
    alias = b.name("s")
    rows = f"(SELECT {key}, {group}, {told} AS {b.measure} FROM {outer.text}{b.where(outer.alias, 0.3)}) {alias}"
    key, group, measure = (f"{alias}.{c}" for c in b.columns)
    return ending(b, Body(key, group, measure, rows, b.where(alias, 0.3), tables))


def scalar_subquery(b: Builder, depth: int) -> Relation:
    outer, inner = b.source(depth - 1), b.source(depth - 1)
    tables = outer.tables | inner.tables
    value = f"{b.one_of('max', 'min', 'count', 'sum')}({inner.alias}.{b.measure})"
    kind = b.one_of("correlated", "uncorrelated")
    where = f" WHERE {_correlation(b, outer, inner, 'correlated scalar subquery')}" if kind == "correlated" else ""
    if kind == "correlated":
        # Spark takes only equalities here.
        where = f" WHERE {inner.alias}.{b.key} = {outer.alias}.{b.key}"
    subquery = f"(SELECT {value} FROM {inner.text}{where})"
    b.note(f"{kind} scalar subquery", tables if kind == "correlated" else outer.tables - inner.tables)
    b.note(f"{kind} scalar subquery, subquery changed", inner.tables - outer.tables)
    key, group, measure = (f"{outer.alias}.{c}" for c in b.columns)
    if kind == "uncorrelated" and b.choices.chance(0.2):
        b.note("scalar subquery in HAVING, subquery changed", inner.tables - outer.tables)
        group_by = f"FROM {outer.text} GROUP BY {key}, {group} HAVING max({measure}) >= {subquery}"
        return Relation(f"SELECT {key}, {group}, count(*) AS {b.measure} {group_by}", tables)
    if b.choices.chance(0.6 if kind == "correlated" else 0.2):
        return Relation(f"SELECT {key}, {group}, {subquery} AS {b.measure} FROM {outer.text}", tables)
    if kind == "uncorrelated" and b.choices.chance(0.2):
        # A WITH between the whole query and the subquery, with the name of a table.
        b.note("scalar subquery over a hidden table, subquery changed", inner.tables - outer.tables)
        name, columns = b.one_of(*TABLES), ", ".join(f"{inner.alias}.{c}" for c in b.columns)
        value = f"(SELECT {b.one_of('max', 'min')}({b.measure}) FROM {name})"
        text = (
            f"(WITH {name} AS (SELECT {columns} FROM {inner.text}), w AS (SELECT {_list(b, outer)} FROM {outer.text}) "
            f"SELECT * FROM w WHERE {b.measure} <> {value}) h"
        )
        if name not in outer.text:
            return Relation(f"SELECT h.{b.key}, h.{b.group}, h.{b.measure} FROM {text}", tables)
    if kind == "uncorrelated":
        return ending(b, _body(b, outer, inner, _compared(b, outer, inner, subquery)))
    return ending(b, _body(b, outer, inner, f"{measure} < {subquery}"))


def _compared(b: Builder, outer: Source, inner: Source, subquery: str) -> str:
    """Return a condition whose outcome is another one for some rows only, where the value of a subquery changes."""
    key, measure = f"{outer.alias}.{b.key}", f"{outer.alias}.{b.measure}"
    first, last = (f"(SELECT {f}({inner.alias}.{b.key}) FROM {inner.text})" for f in ("min", "max"))
    b.note("a bound that a subquery gives, subquery changed", inner.tables)
    condition = b.one_of(
        f"{measure} < {subquery}",
        f"{measure} >= {subquery} - 1",
        f"{key} >= {last}",
        f"{key} = {last}",
        f"{key} BETWEEN {first} AND {last}",
        f"NOT ({key} > {first} AND {measure} < {subquery})",
        f"CASE WHEN {measure} > {subquery} THEN {key} IS NULL ELSE {key} < {last} END",
    )
    return f"{b.predicate(outer.alias)} AND {condition}" if b.choices.chance(0.3) else condition


def set_operation(b: Builder, depth: int) -> Relation:
    left, right = two_sources(b, depth)
    tables = left.tables | right.tables
    operation = b.choices.weighted(
        [(3, "UNION ALL"), (2, "UNION"), (2, "INTERSECT"), (2, "EXCEPT"), (0.5, "INTERSECT ALL"), (0.5, "EXCEPT ALL")]
    )
    shape = operation.lower()
    b.note(shape, tables)
    b.note(f"{shape}, right side changed", right.tables - left.tables)
    mine, theirs = (f"SELECT {_list(b, s)} FROM {s.text}{b.where(s.alias, 0.2)}" for s in (left, right))
    if operation == "UNION ALL" and b.choices.chance(0.25):
        b.note("union all with a constant branch", left.tables)
        group = "8" if b.group == "id" else "'c'"
        return Relation(f"{mine} UNION ALL SELECT {b.literal(b.key)}, {group}, 5", left.tables)
    if b.choices.chance(0.12):
        b.note(f"{shape}, key of one side computed otherwise", tables)
        columns = f"max({right.alias}.{b.key}), {right.alias}.{b.group}, count(*)"
        theirs = f"SELECT {columns} FROM {right.text} GROUP BY {right.alias}.{b.group}"
    return Relation(f"{mine} {operation} {theirs}", tables)


def labelled_union(b: Builder, depth: int) -> Relation:
    """Return the union of two relations that say which one a row comes from, perhaps of one of them alone."""
    left, right = two_sources(b, depth)
    labels = ("1", "2") if b.group == "id" else ("'web'", "'store'")

    def branch(source: Source, label: str) -> str:
        key, measure = f"{source.alias}.{b.key}", f"{source.alias}.{b.measure}"
        if b.choices.chance(0.6):
            b.note("a branch with a literal, over all of which a window goes", source.tables)
            measure = f"max({measure}) OVER () AS {b.measure}"
        return f"SELECT {key}, {label} AS {b.group}, {measure} FROM {source.text}{b.where(source.alias, 0.2)}"

    branches = [branch(source, label) for source, label in zip((left, right), labels, strict=True)]
    text = f" {b.one_of('UNION ALL', 'UNION')} ".join(branches)
    tables = left.tables | right.tables
    if b.choices.chance(0.5):
        return Relation(text, tables)
    kind = b.choices.weighted([(4, "ruled out"), (1, "other"), (1, "either")])
    wanted = {"ruled out": f"= {labels[0]}", "other": f"<> {labels[0]}", "either": f"IN ({', '.join(labels)})"}[kind]
    b.note("a branch that a literal rules out, the other changed", left.tables if kind == "ruled out" else ())
    alias = b.name("s")
    columns = ", ".join(f"{alias}.{c}" for c in b.columns)
    return Relation(f"SELECT {columns} FROM ({text}) {alias} WHERE {alias}.{b.group} {wanted}", tables)


def three_set_operations(b: Builder, depth: int) -> Relation:
    sources = [b.source(depth - 2) for _ in range(3)]
    one, two, three = (f"SELECT {_list(b, s)} FROM {s.text}" for s in sources)
    tables = frozenset().union(*(s.tables for s in sources))
    b.note("three set operations", tables)
    first, second = b.one_of("UNION ALL", "EXCEPT", "UNION"), b.one_of("UNION ALL", "UNION", "INTERSECT", "EXCEPT")
    return Relation(f"{one} {first} {two} {second} {three}", tables)


def nested_cte(b: Builder, depth: int) -> Relation:
    inner = b.relation(depth - 1)
    source = b.item(inner)
    name, again = b.name("c"), b.name("c")
    b.note("nested cte", source.tables)
    columns = ", ".join(b.columns)
    text = (
        f"WITH {name} AS (SELECT {_list(b, source)} FROM {source.text}), "
        f"{again} AS (SELECT {columns} FROM {name} UNION ALL SELECT {columns} FROM {name}) "
        f"SELECT {b.key}, {b.group}, count(*) AS {b.measure} FROM {again} GROUP BY {b.key}, {b.group}"
    )
    return Relation(text, source.tables)
