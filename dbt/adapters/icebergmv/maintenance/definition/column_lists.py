"""Does a SELECT read columns that it does not name?"""

from __future__ import annotations

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


def reads_every_column(query: exp.Expr) -> bool:
    """Return whether a value of a column that the SELECT does not name may matter."""
    return reads_by_shape(query) or any(not isinstance(s.parent, exp.Count) for s in query.find_all(exp.Star))
