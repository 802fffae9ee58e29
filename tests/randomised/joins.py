"""Productions over two or three relations side by side: joins of every kind."""

from __future__ import annotations

from tests.randomised.grammar import Body, Builder, Relation, Source
from tests.randomised.keys import DERIVED
from tests.randomised.selects import distinct, ending, grouped, projection, window

_CAST_OF_KEY = {
    "d": "date_trunc('month', {0})",
    "ts": "CAST({0} AS date)",
    "region": "substr({0}, 1, 1)",
    "id": "{0} % 2",
    "v": "{0} div 10",
    "x": "{0}",
}
_OTHER_TYPE = {"d": "ts", "ts": "d", "region": "region", "id": "w", "v": "x", "x": "id"}


def two_sources(b: Builder, depth: int) -> tuple[Source, Source]:
    """Return two relations: any two, or one twice (a base table or a CTE)."""
    if not b.choices.chance(0.25):
        return b.source(depth - 1), b.source(depth - 1)
    once = b.relation(depth - 1)
    if once.named:
        b.note("self join", once.tables)
    else:
        b.note("cte used twice", once.tables)
        once = b.cte(once)
    return b.item(once), b.item(once)


def equal(b: Builder, left: Source, right: Source, shape: str) -> str:
    """Return a join condition; most equate the keys."""
    kind = b.choices.weighted(
        [(6, "key"), (2, "more"), (1, "null-safe"), (1, "derived"), (1, "one-sided"), (1, "or"), (1, "other")]
    )
    if left.is_table and right.is_table and b.choices.chance(0.1):
        kind = "other type"
    key = f"{left.alias}.{b.key} = {right.alias}.{b.key}"
    other = f"{left.alias}.{b.group} = {right.alias}.{b.group}"
    if kind not in ("key", "more"):
        b.note(f"{shape}, {kind} condition", left.tables | right.tables)
    match kind:
        case "key":
            return key
        case "more":
            extra = b.one_of(other, b.predicate(left.alias), b.predicate(right.alias))
            return f"{b.one_of(key, f'{right.alias}.{b.key} = {left.alias}.{b.key}')} AND ({extra})"
        case "null-safe":
            return f"{left.alias}.{b.key} <=> {right.alias}.{b.key}"
        case "derived":
            function = _CAST_OF_KEY[b.key]
            return f"{function.format(f'{left.alias}.{b.key}')} = {function.format(f'{right.alias}.{b.key}')}"
        case "one-sided":
            # The other side has values that the function never gives, which match nothing.
            function = b.choices.pick(DERIVED[b.key_type])[1]
            given, plain = b.choices.pick([(left, right), (right, left)])
            return f"{function.format(f'{given.alias}.{b.key}')} = {plain.alias}.{b.key}"
        case "other type":
            return f"{left.alias}.{b.key} = {right.alias}.{_OTHER_TYPE[b.key]}"
        case "or":
            return f"{key} OR {other}"
        case _:
            return b.one_of(other, f"{left.alias}.{b.key} < {right.alias}.{b.key}", "true")


def _body(b: Builder, left: Source, right: Source, key: str, text: str, where: str = "") -> Body:
    """Return a join as the body of a SELECT with the given expression as the key."""
    side = b.choices.pick([left, right])
    other = b.choices.pick([right, left])
    measure = b.one_of(
        f"{other.alias}.{b.measure}",
        f"coalesce({right.alias}.{b.measure}, 0)",
        f"coalesce({left.alias}.{b.measure}, 0) + coalesce({right.alias}.{b.measure}, 0)",
    )
    extra = (f"{right.alias}.{b.key} AS {b.name('k')}",) if b.choices.chance(0.15) else ()
    return Body(key, f"{side.alias}.{b.group}", measure, text, where, left.tables | right.tables, extra)


def inner_join(b: Builder, depth: int) -> Relation:
    left, right = two_sources(b, depth)
    tables = left.tables | right.tables
    condition = equal(b, left, right, "inner join")
    key = f"{b.choices.pick([left, right]).alias}.{b.key}"
    if b.choices.chance(0.3):
        b.note("comma join with WHERE", tables)
        return ending(b, _body(b, left, right, key, f"{left.text}, {right.text}", f" WHERE {condition}"))
    b.note("inner join", tables)
    text = f"{left.text} {b.one_of('JOIN', 'INNER JOIN')} {right.text} ON {condition}"
    return ending(b, _body(b, left, right, key, text, b.where(b.choices.pick([left, right]).alias)))


def equated_inside(b: Builder, depth: int) -> Relation:
    """Return a join with groups or window partitions, where a column of these must equal one of the other side."""
    left, right = two_sources(b, depth)
    alias, columns = b.name("g"), ", ".join(f"{right.alias}.{c}" for c in b.columns)
    kind = b.one_of("group", "window")
    if kind == "group":
        key_and_group = f"{right.alias}.{b.key}, {right.alias}.{b.group}"
        value = f"{b.one_of('max', 'min')}({right.alias}.{b.measure}) AS {b.measure}, count(*) AS n"
        inner = f"(SELECT {key_and_group}, {value} FROM {right.text} GROUP BY {key_and_group}) {alias}"
    else:
        value = f"count(*) OVER (PARTITION BY {right.alias}.{b.group}) AS n"
        inner = f"(SELECT {columns}, {value} FROM {right.text}) {alias}"
    b.note(f"a {kind} that WHERE equates", left.tables | right.tables)
    b.note(f"a {kind} that WHERE equates, its side changed", right.tables - left.tables)
    where = f" WHERE {left.alias}.{b.measure} = {alias}.{b.measure}{b.one_of('', f' AND {b.predicate(left.alias)}')}"
    within = Source(inner, alias, right.tables)
    text = f"{left.text} JOIN {inner} ON {left.alias}.{b.group} = {alias}.{b.group}"
    body = _body(b, left, within, f"{b.choices.pick([left, within]).alias}.{b.key}", text, where)
    return ending(b, body._replace(extra=(*body.extra, f"{alias}.n AS {b.name('k')}")))


def shared_expression(b: Builder, depth: int) -> Relation:
    """Return groups, or rows of a join, joined with themselves, as one period is with the one before it.

    What is in front of the expression may be read beside it too.
    """
    head = b.cte(b.query(depth - 2)) if b.choices.chance(0.4) else None
    inner = b.choices.weighted([(3, grouped), (2, window), (1, distinct), (2, projection)])
    simple = head is None and b.choices.chance(0.5)
    body = b.body(depth - 1) if simple else _joined_on_another(b, depth - 1, head)
    once = b.cte(inner(b, body))
    b.note("expression joined with itself", once.tables)
    left, right = b.item(once), b.item(once)
    condition = f"{left.alias}.{b.key} {b.one_of('=', '=', '<=>')} {right.alias}.{b.key}"
    if b.choices.chance(0.4):
        condition += f" AND {left.alias}.{b.group} = {right.alias}.{b.group}"
    text = f"{left.text} {b.one_of('JOIN', 'JOIN', 'LEFT JOIN', 'FULL JOIN')} {right.text} ON {condition}"
    if head is not None and b.choices.chance(0.7):
        beside = b.item(head)
        text += (
            f" {b.one_of('JOIN', 'LEFT JOIN')} {beside.text} ON {left.alias}.{b.measure} = {beside.alias}.{b.measure}"
        )
    key = f"{b.choices.pick([left, left, right]).alias}.{b.key}"
    return ending(b, _body(b, left, right, key, text, b.where(left.alias)))


def _joined_on_another(b: Builder, depth: int, other: Relation | None) -> Body:
    """Return the body of a join in which the columns of one side are shown, and the other one is found by a column."""
    left = b.source(depth - 1)
    right = b.source(depth - 1) if other is None else b.item(other)
    on = f"{left.alias}.{b.measure} = {right.alias}.{b.measure}"
    key, group, measure = (f"{left.alias}.{c}" for c in b.columns)
    text = f"{left.text} {b.one_of('JOIN', 'JOIN', 'LEFT JOIN')} {right.text} ON {on}"
    return Body(key, group, measure, text, "", left.tables | right.tables)


def three_joined(b: Builder, depth: int) -> Relation:
    one, two, three = b.source(depth - 2), b.source(depth - 2), b.source(depth - 2)
    tables = one.tables | two.tables | three.tables
    kinds = [b.one_of("JOIN", "LEFT JOIN"), b.one_of("JOIN", "LEFT JOIN", "LEFT ANTI JOIN", "FULL JOIN")]
    b.note("three tables joined", tables)
    on = f"{b.choices.pick([one, two]).alias}.{b.key} = {three.alias}.{b.key}"
    key = f"{one.alias}.{b.key}"
    if kinds[1] == "FULL JOIN":
        key = f"coalesce({key}, {three.alias}.{b.key})"
    first = f"{one.text} {kinds[0]} {two.text} ON {one.alias}.{b.key} = {two.alias}.{b.key}"
    body = _body(b, one, two, key, f"{first} {kinds[1]} {three.text} ON {on}")
    return ending(b, body._replace(tables=tables))


def using_join(b: Builder, depth: int) -> Relation:
    left, right = two_sources(b, depth)
    kind = b.one_of("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
    tables = left.tables | right.tables
    b.note(f"{kind.lower()} using", tables)
    names = b.one_of(b.key, f"{b.key}, {b.group}")
    key = b.one_of(b.key, b.key, f"{left.alias}.{b.key}", f"{right.alias}.{b.key}")
    body = _body(b, left, right, key, f"{left.text} {kind} {right.text} USING ({names})")
    return ending(b, body._replace(group=b.group) if ", " in names else body)


def natural_join(b: Builder, depth: int) -> Relation:
    left, right = two_sources(b, depth)
    tables = left.tables | right.tables
    kind = b.one_of("", "LEFT ", "RIGHT ", "FULL ")
    b.note(f"natural {kind.lower()}join", tables)
    one, two = b.name("s"), b.name("s")
    mine = f"(SELECT {left.alias}.{b.key}, {left.alias}.{b.group} FROM {left.text}) {one}"
    theirs = f"(SELECT {right.alias}.{b.key}, {right.alias}.{b.measure} FROM {right.text}) {two}"
    return ending(b, Body(*b.columns, f"{mine} NATURAL {kind}JOIN {theirs}", "", tables))


def left_join(b: Builder, depth: int) -> Relation:
    left, right = two_sources(b, depth)
    tables = left.tables | right.tables
    is_left = not b.choices.chance(0.35)
    preserved, other = (left, right) if is_left else (right, left)
    shape = "left join" if is_left else "right join"
    condition = equal(b, left, right, shape)
    b.note(shape, tables)
    b.note(f"{shape}, null-supplying side changed", other.tables - preserved.tables)
    key = f"{preserved.alias}.{b.key}"
    if b.choices.chance(0.15):
        b.note(f"{shape}, key of the null-supplying side", tables)
        key = f"{other.alias}.{b.key}"
    elif b.choices.chance(0.1):
        key = f"coalesce({preserved.alias}.{b.key}, {other.alias}.{b.key})"
    where = b.choices.pick(["", b.where(preserved.alias), b.where(other.alias)])
    words = b.one_of(shape.upper(), shape.upper().replace(" ", " OUTER "))
    return ending(b, _body(b, left, right, key, f"{left.text} {words} {right.text} ON {condition}", where))


def full_join(b: Builder, depth: int) -> Relation:
    left, right = two_sources(b, depth)
    tables = left.tables | right.tables
    condition = equal(b, left, right, "full join")
    shape, key = b.choices.weighted(
        [
            (5, ("full join, coalesced key", f"coalesce({left.alias}.{b.key}, {right.alias}.{b.key})")),
            (2, ("full join, coalesced key", f"coalesce({right.alias}.{b.key}, {left.alias}.{b.key})")),
            (1, ("full join, key of one side", f"{left.alias}.{b.key}")),
            (1, ("full join, key of one side", f"{right.alias}.{b.key}")),
        ]
    )
    b.note(shape, tables)
    where = b.where(b.choices.pick([left, right]).alias, 0.2)
    return ending(b, _body(b, left, right, key, f"{left.text} FULL JOIN {right.text} ON {condition}", where))


def cross_join(b: Builder, depth: int) -> Relation:
    left, right = two_sources(b, depth)
    b.note("cross join, kept side changed", left.tables - right.tables)
    b.note("cross join, other side changed", right.tables - left.tables)
    return ending(b, _body(b, left, right, f"{left.alias}.{b.key}", f"{left.text} CROSS JOIN {right.text}"))


def values_join(b: Builder, depth: int) -> Relation:
    source = b.source(depth - 1)
    name = b.name("x")
    b.note("join with VALUES", source.tables)
    values = f"(VALUES ({b.literal(b.key)}, 1), ({b.literal(b.key)}, 2)) AS {name}(k, n)"
    kind = b.one_of("JOIN", "LEFT JOIN")
    text = f"{source.text} {kind} {values} ON {source.alias}.{b.key} = {name}.k"
    key, group = f"{source.alias}.{b.key}", f"{source.alias}.{b.group}"
    return ending(b, Body(key, group, f"{name}.n", text, "", source.tables))


def semi_join(b: Builder, depth: int) -> Relation:
    left, right = two_sources(b, depth)
    tables = left.tables | right.tables
    shape = b.one_of("left semi join", "left anti join")
    condition = equal(b, left, right, shape)
    b.note(shape, tables)
    b.note(f"{shape}, right side changed", right.tables - left.tables)
    key, group, measure = (f"{left.alias}.{c}" for c in b.columns)
    text = f"{left.text} {shape.upper()} {right.text} ON {condition}"
    return ending(b, Body(key, group, measure, text, b.where(left.alias), tables))
