"""What a SELECT makes of its FROM and WHERE: projections, derived keys, grouping, windows, generators."""

from __future__ import annotations

from tests.randomised.grammar import Body, Builder, Relation, named
from tests.randomised.keys import derived


def ending(b: Builder, body: Body) -> Relation:
    """Return a SELECT over the body: most often a projection."""
    kinds = [
        (6, projection),
        (2, grouped),
        (0.7, distinct),
        (0.7, window),
        (0.4, grouping_sets),
        (1.5, merged),
        (0.4, merged_sets),
    ]
    return b.choices.weighted(kinds)(b, body)


def _select(b: Builder, body: Body, columns: list[str], after: str = "", distinct: str = "") -> Relation:
    return Relation(f"SELECT {distinct}{', '.join(columns)} FROM {body.text}{body.where}{after}", body.tables)


def projection(b: Builder, body: Body) -> Relation:
    b.note("projection and filter", body.tables)
    columns = [named(e, c) for e, c in zip((body.key, body.group, body.measure), b.columns, strict=True)]
    listed = b.listed(body.key, body.measure)
    if listed is not None:
        columns[2] = f"{listed} AS {b.measure}"
    elif b.choices.chance(0.2):
        columns[2] = f"{body.measure} + 1 AS {b.measure}"
    return _select(b, body, columns + list(body.extra))


def derived_key(b: Builder, body: Body) -> Relation:
    columns = [f"{derived(b, body.key)} AS {b.key}", named(body.group, b.group), named(body.measure, b.measure)]
    return _select(b, body, columns)


def star(b: Builder, depth: int) -> Relation:
    source = b.source(depth - 1)
    name = b.name("n")
    kind = b.choices.below(3)
    items = [
        "*",
        f"{source.alias}.*, {source.alias}.{b.measure} AS {name}",
        f"* EXCEPT ({b.measure}), 7 AS {b.measure}",
    ]
    b.note(["star", "star of one relation", "star with EXCEPT"][kind], source.tables)
    return Relation(f"SELECT {items[kind]} FROM {source.text}{b.where(source.alias)}", source.tables)


def grouped(b: Builder, body: Body) -> Relation:
    key, group, measure = body.key, body.group, body.measure
    result = f"{b.aggregate(b.listed(key, measure) or measure)} AS {b.measure}"
    if b.choices.chance(0.25):
        b.note("group by derived key", body.tables)
        key = derived(b, key)
    kind = b.choices.pick(["key", "key and group", "ordinals", "all", "other column", "alias"])
    b.note(f"group by {kind}", body.tables)
    having = ""
    if b.choices.chance(0.3):
        b.note("having", body.tables)
        having = " HAVING " + b.one_of("count(*) > 1", f"max({measure}) > 0", f"count({group}) = 1")
    smallest = f"min({group}) AS {b.group}"
    match kind:
        case "key and group":
            columns, by = [named(key, b.key), named(group, b.group), result], f"{group}, {key}"
        case "all":
            columns, by = [named(key, b.key), named(group, b.group), result], "ALL"
        case "other column":
            columns, by = [f"max({key}) AS {b.key}", named(group, b.group), result], group
        case "alias":
            # The alias is grouped by inside, so that the outer relation has its usual columns.
            alias = b.name("k")
            inner = _select(b, body, [f"{key} AS {alias}", smallest, result], f" GROUP BY {alias}{having}")
            text = f"SELECT {alias} AS {b.key}, {b.group}, {b.measure} FROM ({inner.sql}) {b.name('s')}"
            return Relation(text, body.tables)
        case _:
            columns, by = [named(key, b.key), smallest, result], "1" if kind == "ordinals" else key
    return _select(b, body, columns, f" GROUP BY {by}{having}")


def distinct(b: Builder, body: Body) -> Relation:
    b.note("distinct", body.tables)
    measure = b.one_of(named(body.measure, b.measure), f"CASE WHEN {body.measure} > 0 THEN 1 ELSE 0 END AS {b.measure}")
    return _select(b, body, [named(body.key, b.key), named(body.group, b.group), measure], distinct="DISTINCT ")


EMPTY_SETS = frozenset({"rollup over the key", "cube over the key"})
"""The shapes one of whose grouping sets is empty."""


def grouping_sets(b: Builder, body: Body) -> Relation:
    key, group = body.key, body.group
    shape, by = b.choices.pick(
        [
            ("grouping sets with the key in every set", f"GROUPING SETS (({key}, {group}), ({key}))"),
            ("rollup with the key in every set", f"{key}, ROLLUP({group})"),
            ("cube with the key in every set", f"{key}, CUBE({group})"),
            ("grouping sets without the key in one", f"GROUPING SETS (({key}, {group}), ({group}))"),
            ("rollup over the key", f"ROLLUP({key}, {group})"),
            ("cube over the key", f"CUBE({key}, {group})"),
        ]
    )
    b.note(shape, body.tables)
    columns = [named(key, b.key), named(group, b.group), f"{b.aggregate(body.measure)} AS {b.measure}"]
    return _select(b, body, columns, f" GROUP BY {by}")


def window(b: Builder, body: Body) -> Relation:
    key, group, measure = body.key, body.group, body.measure
    measure = b.listed(key, measure) or measure
    function = b.one_of(f"sum({measure})", f"max({measure})", "count(*)", "rank()", "dense_rank()")
    order = f" ORDER BY {measure}" if function.endswith("()") or b.choices.chance(0.5) else ""
    shape, over = b.choices.pick(
        [
            ("window by the key", key),
            ("window by the key and more", f"{group}, {key}"),
            ("window by another column", group),
            ("window without partitions", ""),
            ("window by a function of the key", None),
        ]
    )
    b.note(shape, body.tables)
    over = derived(b, key) if over is None else over
    partition = f"PARTITION BY {over}" if over else ""
    columns = [
        named(key, b.key),
        named(group, b.group),
        f"{function} OVER ({(partition + order).strip()}) AS {b.measure}",
    ]
    if b.choices.chance(0.25):
        b.note("two windows", body.tables)
        columns.append(f"count(*) OVER (PARTITION BY {b.one_of(key, f'{key}, {measure}')}) AS {b.name('n')}")
    return _select(b, body, columns)


def numbered(b: Builder, body: Body) -> Relation:
    """Return rows that follow from the order of others; some of these tie."""
    key, group, measure = body.key, body.group, body.measure
    of_key, of_group = "numbered by the key", "numbered by another column"
    shape, partition, order = b.choices.pick(
        [(of_key, key, group), (of_key, key, measure), (of_group, group, key), (of_group, group, measure)]
    )
    b.note(shape, body.tables)
    over = f"PARTITION BY {partition} ORDER BY {order}{b.one_of('', ' DESC', ' NULLS LAST')}"
    listed = [named(key, b.key), named(group, b.group)]
    if b.choices.chance(0.3):
        value = b.one_of(f"lag({measure}) OVER ({over})", f"count({measure}) OVER ({over} ROWS 1 PRECEDING)")
        return _select(b, body, [*listed, f"{value} AS {b.measure}"])
    number, name = b.name("n"), b.name("q")
    below = _select(b, body, [*listed, named(measure, b.measure), f"row_number() OVER ({over}) AS {number}"])
    columns = ", ".join(b.columns)
    return Relation(f"SELECT {columns} FROM ({below.sql}) {name} WHERE {number} = 1", below.tables)


def exploded(b: Builder, body: Body) -> Relation:
    columns = [named(body.key, b.key), named(body.group, b.group)]
    if b.choices.chance(0.5):
        b.note("explode in the select list", body.tables)
        return _select(b, body, [*columns, f"explode(array({body.measure}, 5)) AS {b.measure}"])
    b.note("lateral view explode", body.tables)
    name, column = b.name("e"), b.name("n")
    text = f"{body.text} LATERAL VIEW explode(array({body.measure}, 5)) {name} AS {column}"
    select = f"SELECT {', '.join(columns)}, {name}.{column} AS {b.measure} FROM {text}{body.where}"
    return Relation(select, body.tables)


def pivoted(b: Builder, body: Body) -> Relation:
    b.note("pivot", body.tables)
    columns = [named(e, c) for e, c in zip((body.key, body.group, body.measure), b.columns, strict=True)]
    inner = _select(b, body, columns).sql
    first, second = (f"{b.literal(b.group)}", "7" if b.group == "id" else "'zz'")
    name = b.name("n")
    pivot = f"PIVOT (sum({b.measure}) FOR {b.group} IN ({first} AS {b.measure}, {second} AS {name}))"
    null = "CAST(NULL AS int)" if b.group == "id" else "'-'"
    text = f"SELECT {b.key}, {null} AS {b.group}, {b.measure}, {name} FROM ({inner}) {pivot}"
    return Relation(text, body.tables)


def limited(b: Builder, body: Body) -> Relation:
    b.note("limit", body.tables)
    columns = [named(e, c) for e, c in zip((body.key, body.group, body.measure), b.columns, strict=True)]
    return _select(b, body, columns, " ORDER BY 1, 2, 3 LIMIT 2")


def global_aggregate(b: Builder, body: Body) -> Relation:
    b.note("global aggregate", body.tables)
    columns = [f"max({body.key}) AS {b.key}", f"min({body.group}) AS {b.group}"]
    having = " HAVING count(*) > 1" if b.choices.chance(0.2) else ""
    return _select(b, body, [*columns, f"{b.aggregate(body.measure)} AS {b.measure}"], having)


def merged(b: Builder, body: Body) -> Relation:
    """Return one aggregate of all rows, or by a column, of functions whose results can be merged."""
    counted = _counted(b, body)
    kind = b.one_of("{0}", "{0}", "2 * {0} + count(*)", "{0} - min({1})", "max({1})", "least(sum({1}), {0})")
    measure = f"{kind.format(counted, body.measure)} AS {b.measure}"
    extreme = b.one_of("min", "max")
    if b.choices.chance(0.2):
        b.note("merged total of values that differ", body.tables)
        values = b.one_of(body.measure, body.key, body.group)
        more = f", count(DISTINCT {body.measure}) AS {b.name('n')}" if b.choices.chance(0.2) else ""
        others = f"CAST(sum({body.measure}) AS string)" if b.group == "region" else f"sum({body.measure})"
        counted = f"count(DISTINCT {values}) AS {b.measure}{more}"
        return _select(b, body, [f"{extreme}({body.key}) AS {b.key}", f"{others} AS {b.group}", counted])
    if b.choices.chance(0.4):
        b.note("merged total", body.tables)
        return _select(b, body, [f"{extreme}({body.key}) AS {b.key}", f"min({body.group}) AS {b.group}", measure])
    b.note("merged groups", body.tables)
    columns = [f"{extreme}({body.key}) AS {b.key}", named(body.group, b.group), measure]
    return _select(b, body, columns, f" GROUP BY {b.one_of('2', 'ALL', body.group)}")


def _counted(b: Builder, body: Body) -> str:
    """Return an aggregate that can be merged, perhaps of an expression, perhaps of some rows only."""
    key, group, measure = body.key, body.group, body.measure
    of = measure
    if b.choices.chance(0.3):
        b.note("merged expression", body.tables)
        of = b.one_of(f"CASE WHEN {measure} > 0 THEN {measure} END", f"coalesce({measure}, 0)", f"{measure} + 1")
    call = b.one_of("count(*)", f"count({of})", f"sum({of})", f"avg({of})", f"count(nullif({of}, 3))")
    if not b.choices.chance(0.25):
        return call
    b.note("merged with FILTER", body.tables)
    return f"{call} FILTER (WHERE {b.one_of(f'{measure} > 0', f'{key} IS NOT NULL', f'NOT ({group} IS NULL)')})"


def merged_sets(b: Builder, body: Body) -> Relation:
    """Return groups of several grouping sets, or ranks of groups, whose aggregates can be merged.

    None of the sets is empty: over no rows such a one has a row in DuckDB, and in Spark it has none.
    """
    key, group, measure = body.key, body.group, body.measure
    shape, columns, sets = b.choices.pick(
        [
            ("merged grouping sets", (group, measure), f"GROUPING SETS (({group}, {measure}), ({group}), ({measure}))"),
            ("merged grouping sets", (group, measure), f"GROUPING SETS (({group}), ({measure}))"),
            ("merged cube beside a column", (group, measure), f"{group}, CUBE({measure})"),
            ("merged rollup beside a column", (group, measure), f"{measure}, ROLLUP({group})"),
            ("merged groups, ranked", (group,), group),
        ]
    )
    b.note(shape, body.tables)
    level = " + ".join(f"grouping({c})" for c in columns) if len(columns) > 1 else "1"
    total = b.one_of("count(*)", f"sum({measure}) / count(*)", f"count({measure}) - count(*)")
    within = b.one_of("", f", {group}" if len(columns) > 1 else "", f", CASE WHEN {level} = 1 THEN {columns[-1]} END")
    rank = f"{b.one_of('rank', 'dense_rank')}() OVER (PARTITION BY {level}{within} ORDER BY {total} DESC)"
    shown = named(measure, b.measure) if len(columns) > 1 else f"{total} AS {b.measure}"
    more = f", {level} AS {b.name('n')}" if len(columns) > 1 and b.choices.chance(0.5) else ""
    ranked = f"{rank} AS {b.name('n')}{more}"
    items = [f"{b.one_of('min', 'max')}({key}) AS {b.key}", named(group, b.group), shown, ranked]
    return _select(b, body, items, f" GROUP BY {sets}")


def merged_rows(b: Builder, depth: int) -> Relation:
    """Return the same over rows that a query makes."""
    relation = b.query(depth - 1)
    b.note("merged over a query", relation.tables)
    source = b.item(relation)
    key, group, measure = (f"{source.alias}.{c}" for c in b.columns)
    make = b.choices.pick([merged, merged, merged_sets])
    return make(b, Body(key, group, measure, source.text, b.where(source.alias, 0.3), source.tables))
