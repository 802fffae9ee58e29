"""Productions over one relation: projections, filters, derived keys, grouping, windows, generators."""

from __future__ import annotations

from .grammar import Builder, Relation

DERIVED: dict[str, list[tuple[str, str]]] = {
    # (name of the shape, expression); the type stays, so that the result can still be joined.
    "date": [
        ("derived key: trunc", "trunc({0}, 'MM')"),
        ("derived key: trunc", "trunc({0}, 'YEAR')"),
        ("derived key: trunc", "trunc({0}, 'WEEK')"),
        ("derived key: cast", "CAST(date_trunc('quarter', {0}) AS date)"),
        ("derived key: arithmetic", "date_add({0}, 1)"),
        ("derived key: other function", "last_day({0})"),
        ("derived key: coalesce", "coalesce({0}, DATE '2024-01-01')"),
        ("derived key: case", "CASE WHEN {0} > DATE '2024-01-01' THEN DATE '2024-02-29' ELSE {0} END"),
    ],
    "timestamp": [
        ("derived key: date_trunc", "date_trunc('day', {0})"),
        ("derived key: date_trunc", "date_trunc('hour', {0})"),
        ("derived key: date_trunc", "date_trunc('month', {0})"),
        ("derived key: date_trunc", "date_trunc('week', {0})"),
        ("derived key: cast", "CAST(CAST({0} AS date) AS timestamp)"),
        ("derived key: coalesce", "coalesce({0}, TIMESTAMP '2024-01-01 00:00:00Z')"),
    ],
    "string": [
        ("derived key: substr", "substr({0}, 1, 1)"),
        ("derived key: substr", "substr({0}, 2, 1)"),
        ("derived key: other function", "upper({0})"),
        ("derived key: other function", "concat({0}, 'x')"),
        ("derived key: coalesce", "coalesce({0}, 'a')"),
        ("derived key: case", "CASE WHEN {0} = 'a' THEN 'b' ELSE {0} END"),
        ("derived key: case", "CASE {0} WHEN 'a' THEN 'z' WHEN 'b' THEN NULL ELSE 'y' END"),
    ],
    "int": [
        ("derived key: arithmetic", "{0} % 3"),
        ("derived key: arithmetic", "{0} + 1"),
        ("derived key: arithmetic", "-{0}"),
        ("derived key: arithmetic", "{0} div 10"),
        ("derived key: arithmetic", "{0} * {0}"),
        ("derived key: other function", "abs({0})"),
        ("derived key: cast", "CAST(CAST({0} AS string) AS int)"),
        ("derived key: coalesce", "coalesce({0}, 0)"),
        ("derived key: case", "CASE WHEN {0} > 0 THEN 1 WHEN {0} IS NULL THEN NULL ELSE 0 END"),
    ],
    "double": [("derived key: coalesce", "coalesce({0}, 0.5D)")],
}
OTHER_TYPES: dict[str, list[tuple[str, str]]] = {
    "date": [
        ("derived key: year", "year({0})"),
        ("derived key: other function", "month({0})"),
        ("derived key: cast", "CAST({0} AS string)"),
        ("derived key: cast", "CAST({0} AS timestamp)"),
        ("derived key: date_trunc", "date_trunc('month', {0})"),
    ],
    "timestamp": [
        ("derived key: cast", "CAST({0} AS date)"),
        ("derived key: year", "year({0})"),
        ("derived key: other function", "hour({0})"),
    ],
    "string": [
        ("derived key: other function", "length({0})"),
        ("derived key: case", "CASE WHEN {0} > 'a' THEN 1 ELSE 0 END"),
    ],
    "int": [
        ("derived key: cast", "CAST({0} AS string)"),
        ("derived key: case", "CASE WHEN {0} > 0 THEN 'p' ELSE 'n' END"),
    ],
    "double": [("derived key: cast", "CAST({0} AS string)")],
}


def derived(b: Builder, column: str) -> str:
    """Return a function of the key that keeps its type."""
    shape, text = b.choices.pick(DERIVED[b.key_type])
    b.note(shape, ALL)
    return text.format(column)


ALL: frozenset[str] = frozenset(["*"])
"""Stands for whatever tables the view reads."""


def projection(b: Builder, depth: int) -> Relation:
    source = b.source(depth - 1)
    b.note("projection and filter", source.tables)
    columns = [f"{source.alias}.{c}" for c in b.columns]
    if b.choices.chance(0.3):
        columns[2] = f"{columns[2]} + 1 AS {b.measure}"
    if b.choices.chance(0.2):
        columns.append(f"{columns[0]} AS {b.name('k')}")
    return Relation(f"SELECT {', '.join(columns)} FROM {source.text}{b.where(source.alias, 0.7)}", source.tables)


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


def derived_key(b: Builder, depth: int) -> Relation:
    source = b.source(depth - 1)
    columns = [f"{source.alias}.{c}" for c in b.columns]
    columns[0] = f"{derived(b, columns[0])} AS {b.key}"
    return Relation(f"SELECT {', '.join(columns)} FROM {source.text}{b.where(source.alias)}", source.tables)


def grouped(b: Builder, depth: int) -> Relation:
    source = b.source(depth - 1)
    key, group, measure = (f"{source.alias}.{c}" for c in b.columns)
    result = f"{b.aggregate(measure)} AS {b.measure}"
    if b.choices.chance(0.25):
        b.note("group by derived key", source.tables)
        key = derived(b, key)
        selected = f"{key} AS {b.key}"
    else:
        selected = key
    kind = b.choices.pick(["key", "key and group", "ordinals", "all", "other column", "alias"])
    by = {"key": key, "key and group": f"{group}, {key}", "ordinals": "1", "all": "ALL", "other column": group}.get(
        kind
    )
    second = group if kind in ("key and group", "all", "other column") else f"min({group}) AS {b.group}"
    if kind == "other column":
        selected = f"max({key}) AS {b.key}"
    elif kind == "alias":
        by = alias = b.name("k")
        # The alias is grouped by inside, so that the outer relation has its usual columns.
        text = f"SELECT {key} AS {alias}, {second}, {result} FROM {source.text}{b.where(source.alias)} GROUP BY {by}"
        b.note("group by alias", source.tables)
        return Relation(f"SELECT {alias} AS {b.key}, {b.group}, {b.measure} FROM ({text}) {b.name('s')}", source.tables)
    b.note(f"group by {kind}", source.tables)
    having = ""
    if b.choices.chance(0.3):
        b.note("having", source.tables)
        having = " HAVING " + b.one_of("count(*) > 1", f"max({measure}) > 0", f"count({group}) = 1")
    text = f"SELECT {selected}, {second}, {result} FROM {source.text}{b.where(source.alias)} GROUP BY {by}{having}"
    return Relation(text, source.tables)


def distinct(b: Builder, depth: int) -> Relation:
    source = b.source(depth - 1)
    b.note("distinct", source.tables)
    measure = b.one_of(f"{source.alias}.{b.measure}", f"{source.alias}.{b.measure} > 0 AS {b.measure}")
    if measure.endswith(f" AS {b.measure}"):
        measure = f"CASE WHEN {source.alias}.{b.measure} > 0 THEN 1 ELSE 0 END AS {b.measure}"
    columns = f"{source.alias}.{b.key}, {source.alias}.{b.group}, {measure}"
    return Relation(f"SELECT DISTINCT {columns} FROM {source.text}{b.where(source.alias)}", source.tables)


def grouping_sets(b: Builder, depth: int) -> Relation:
    source = b.source(depth - 1)
    key, group, measure = (f"{source.alias}.{c}" for c in b.columns)
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
    b.note(shape, source.tables)
    text = f"SELECT {key}, {group}, {b.aggregate(measure)} AS {b.measure} FROM {source.text}{b.where(source.alias)}"
    return Relation(f"{text} GROUP BY {by}", source.tables)


def window(b: Builder, depth: int) -> Relation:
    source = b.source(depth - 1)
    key, group, measure = (f"{source.alias}.{c}" for c in b.columns)
    function = b.one_of(f"sum({measure})", f"max({measure})", "count(*)", "rank()", "dense_rank()")
    order = f" ORDER BY {measure}" if function.endswith("()") or b.choices.chance(0.5) else ""
    shape, over = b.choices.pick(
        [
            ("window by the key", key),
            ("window by the key and more", f"{group}, {key}"),
            ("window by another column", group),
            ("window without partitions", ""),
        ]
    )
    b.note(shape, source.tables)
    partition = f"PARTITION BY {over}" if over else ""
    windows = f"{function} OVER ({(partition + order).strip()}) AS {b.measure}"
    if b.choices.chance(0.25):
        b.note("two windows", source.tables)
        windows += f", count(*) OVER (PARTITION BY {b.one_of(key, f'{key}, {measure}')}) AS {b.name('n')}"
    return Relation(f"SELECT {key}, {group}, {windows} FROM {source.text}{b.where(source.alias)}", source.tables)


def exploded(b: Builder, depth: int) -> Relation:
    source = b.source(depth - 1)
    key, group, measure = (f"{source.alias}.{c}" for c in b.columns)
    if b.choices.chance(0.5):
        b.note("explode in the select list", source.tables)
        text = f"SELECT {key}, {group}, explode(array({measure}, 5)) AS {b.measure} FROM {source.text}"
        return Relation(f"{text}{b.where(source.alias)}", source.tables)
    b.note("lateral view explode", source.tables)
    name, column = b.name("e"), b.name("n")
    text = f"SELECT {key}, {group}, {name}.{column} AS {b.measure} FROM {source.text}"
    return Relation(
        f"{text} LATERAL VIEW explode(array({measure}, 5)) {name} AS {column}{b.where(source.alias)}", source.tables
    )


def pivoted(b: Builder, depth: int) -> Relation:
    source = b.source(depth - 1)
    b.note("pivot", source.tables)
    inner = f"SELECT {', '.join(f'{source.alias}.{c}' for c in b.columns)} FROM {source.text}{b.where(source.alias)}"
    first, second = (f"{b.literal(b.group)}", "7" if b.group == "id" else "'zz'")
    name = b.name("n")
    pivot = f"PIVOT (sum({b.measure}) FOR {b.group} IN ({first} AS {b.measure}, {second} AS {name}))"
    null = "CAST(NULL AS int)" if b.group == "id" else "'-'"
    return Relation(f"SELECT {b.key}, {null} AS {b.group}, {b.measure}, {name} FROM ({inner}) {pivot}", source.tables)


def limited(b: Builder, depth: int) -> Relation:
    source = b.source(depth - 1)
    b.note("limit", source.tables)
    columns = ", ".join(f"{source.alias}.{c}" for c in b.columns)
    return Relation(f"SELECT {columns} FROM {source.text} ORDER BY {columns} LIMIT 2", source.tables)


def global_aggregate(b: Builder, depth: int) -> Relation:
    source = b.source(depth - 1)
    b.note("global aggregate", source.tables)
    key, group, measure = (f"{source.alias}.{c}" for c in b.columns)
    columns = f"max({key}) AS {b.key}, min({group}) AS {b.group}, {b.aggregate(measure)} AS {b.measure}"
    having = " HAVING count(*) > 1" if b.choices.chance(0.2) else ""
    return Relation(f"SELECT {columns} FROM {source.text}{b.where(source.alias)}{having}", source.tables)
