"""Values that are one wherever they are equal, and expressions that give equal values for equal ones.

Spark puts 0.0 and -0.0 into one group, one window partition and one pair of a join, and shows either as a text of its
own. So a row that changed does not say by such a text which rows it reaches; nor may a predicate on it be pushed below
what takes the two for one, as Spark does. Texts of a collation are alike: of a SELECT that names one, nothing is asked.
"""

from __future__ import annotations

import re

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.parsing import DIALECT
from dbt.adapters.icebergmv.maintenance.definition.rules.projection import Names
from dbt.adapters.icebergmv.maintenance.definition.spark_functions import known_of, written_name
from dbt.adapters.icebergmv.maintenance.sql.spark_types import is_exact

_NESTED = re.compile(r"(struct|array|map)<(?!.*\b(float|double|variant)\b)", re.DOTALL)
_FLOATS = frozenset(["float", "double"])
_TEXTS = frozenset(["string", "binary"])

_COMPARE = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.Between, exp.Is, exp.Not)
_CHOOSE = (exp.Case, exp.If, exp.Coalesce, exp.Nullif)
_COMPUTE = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Abs, exp.Floor, exp.Ceil, exp.Round)
_KEEP = (exp.Paren, exp.Alias, exp.Connector, exp.Dot, exp.Bracket, *_COMPARE, *_CHOOSE, *_COMPUTE)
"""What gives equal values for equal ones, whatever their type. Not IN: a long list is looked up by the bits."""

_EXACT = (
    *(exp.Predicate, exp.Connector, exp.Not, exp.Boolean, exp.Null),
    *(exp.Count, exp.CountIf, exp.IntDiv, exp.Floor, exp.Ceil, exp.DPipe),
)
_SAME = (exp.Paren, exp.Alias, exp.Neg, exp.Abs, exp.Filter, exp.Window, exp.Max, exp.Min, exp.Sum, exp.Round)
_OF_BOTH = (exp.Add, exp.Sub, exp.Mul, exp.Mod)
_GIVE_WHOLE = frozenset(
    [
        *("year", "quarter", "month", "week", "weekofyear", "day", "dayofmonth", "dayofweek", "dayofyear", "weekday"),
        *("hour", "minute", "second", "datediff", "date_diff", "unix_date", "unix_micros", "unix_millis"),
        *("unix_seconds", "unix_timestamp", "to_unix_timestamp", "length", "char_length", "character_length"),
        *("octet_length", "bit_length", "ascii", "instr", "locate", "position", "levenshtein", "cardinality", "size"),
        *("row_number", "rank", "dense_rank", "ntile", "grouping", "grouping_id", "crc32"),
    ]
)
"""Functions that give a whole number, whatever they are called with."""


def is_exact_type(spark_type: str | None) -> bool:
    """Return whether equal values of a type cannot be told apart; nested types hold no floats either."""
    return spark_type is not None and (is_exact(spark_type) or _NESTED.match(spark_type) is not None)


def is_exact_value(expression: exp.Expr, names: Names) -> bool:
    """Return whether it is known that equal values of an expression cannot be told apart."""
    match expression:
        case exp.Column():
            slot = names.sources.resolve(expression)
            return slot is not None and names.sources.slots[slot].column.exact
        case exp.Literal():
            return expression.is_string or expression.this.replace(".", "", 1).isdigit()
        case exp.Cast():
            return is_exact_type(expression.to.sql(dialect=DIALECT).lower())
        case exp.Case():
            values = [*(branch.args.get("true") for branch in expression.args["ifs"]), expression.args.get("default")]
            return all(value is None or is_exact_value(value, names) for value in values)
        case exp.If():
            values = [expression.args.get("true"), expression.args.get("false")]
            return all(value is None or is_exact_value(value, names) for value in values)
        case exp.Coalesce() | exp.Greatest() | exp.Least():
            return all(is_exact_value(value, names) for value in (expression.this, *expression.expressions))
    if isinstance(expression, _EXACT):
        return True
    if isinstance(expression, (*_OF_BOTH, exp.Nullif)):
        return is_exact_value(expression.this, names) and is_exact_value(expression.expression, names)
    if isinstance(expression, _SAME):
        return is_exact_value(expression.this, names)
    if not isinstance(expression, exp.Func):
        return False
    name = written_name(expression)
    return known_of(name).gives_text or known_of(name).gives_time or name in _GIVE_WHOLE


def keeps_equal(expression: exp.Expr, names: Names) -> bool:
    """Return whether rows with equal values in the columns of FROM that an expression reads have equal values of it.

    Columns of a query around it have one value for all of them.
    """
    if isinstance(expression, exp.Column):
        return True
    if isinstance(expression, _KEEP) or (isinstance(expression, exp.Cast) and _keeps(expression)):
        return all(keeps_equal(part, names) for part in expression.iter_expressions())
    found = (names.sources.resolve(column) for column in expression.find_all(exp.Column))
    return all(slot is None or names.sources.slots[slot].column.exact for slot in found)


def _keeps(cast: exp.Cast) -> bool:
    """Return whether a cast makes no texts."""
    to = cast.to.sql(dialect=DIALECT).lower()
    return to in _FLOATS or (is_exact(to) and to not in _TEXTS)
