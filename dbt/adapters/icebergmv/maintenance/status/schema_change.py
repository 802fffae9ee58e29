"""Does a changed schema of a base table change what the SELECT means, although no row changed?"""

from __future__ import annotations

from collections.abc import Set

from pyiceberg.schema import Schema
from sqlglot import exp


def reads_by_shape(query: exp.Expr) -> bool:
    """Return whether a column that the SELECT does not name may still matter, by its place or by being there.

    NATURAL JOIN and PIVOT look at every column, and so does `*` that is compared, made one value or renamed by place.
    """
    if query.find(exp.Pivot) or any(str(j.args.get("method")).upper() == "NATURAL" for j in query.find_all(exp.Join)):
        return True
    renamed = [a for a in query.find_all(exp.TableAlias) if a.columns]
    if any(isinstance(a.parent, exp.Table) for a in renamed):
        return True
    stars = [s for s in query.find_all(exp.Star) if not isinstance(s.parent, exp.Count)]
    if any(not isinstance(s.parent, (exp.Select, exp.Column)) for s in stars):
        return True
    if any(isinstance(s.parent, exp.Column) and not isinstance(s.parent.parent, exp.Select) for s in stars):
        return True
    distinct = any(select.args.get("distinct") for select in query.find_all(exp.Select))
    return bool(stars) and bool(renamed or distinct or query.find(exp.SetOperation))


def changed_meaning(before: Schema, now: Schema, mentions: Set[str], by_shape: bool) -> str | None:
    """Return why the SELECT, whose words are `mentions` (lower case), may mean something else now; None if it cannot.

    A name that the SELECT mentions and that stands for another field, or for another type, gives other values. A new
    column of a name that it mentions may catch a name that meant an alias. `*` is told by the columns of the result,
    unless the SELECT reads `by_shape`.
    """
    if by_shape and [f.field_id for f in before.fields] != [f.field_id for f in now.fields]:
        return "gained, lost or moved a column, and the SELECT looks at all of them"
    every_column = "*" in mentions
    had = {f.name.lower(): f for f in before.fields}
    for field in now.fields:
        name = field.name.lower()
        old = had.get(name)
        if old is None:
            if name in mentions:
                return f"has a new column {field.name}, a name that the SELECT mentions"
        elif (name in mentions or every_column) and old.field_id != field.field_id:
            return f"has another column behind the name {field.name}"
        elif (name in mentions or every_column) and old.field_type != field.field_type:
            return f"has another type for its column {field.name}"
    return None
