"""Values that are rounded on the way: of sums and averages of floats the last digit depends on the order of rows.

Which of them is shown matters to nobody. But a condition on one (`WHERE total > 0.6`, the ON of a join) may be true of
the stored row and false of the one that a question computes again. So it is no condition of a question, as none is on
what ties decide (order_of_rows.py).
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.icebergmv.maintenance.definition.syntax.nodes import own_nodes
from dbt.adapters.icebergmv.maintenance.definition.syntax.spark_functions import written_name
from dbt.adapters.icebergmv.maintenance.definition.tracking.exactness import kind_of
from dbt.adapters.icebergmv.maintenance.definition.tracking.projection import Names

SUMS = frozenset(["sum", "avg", "mean", "try_sum", "try_avg"])
"""They give one value of whole numbers and decimals."""

MOMENTS = frozenset(
    [
        *("std", "stddev", "stddev_pop", "stddev_samp", "var_pop", "var_samp", "variance", "skewness", "kurtosis"),
        *("corr", "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_intercept", "regr_r2", "regr_slope"),
        *("regr_sxx", "regr_sxy", "regr_syy"),
    ]
)
"""They are computed with doubles, whatever they are of."""


def is_rounded(expression: exp.Expr, names: Names) -> bool:
    """Return whether an expression has such an aggregate, also over a window, outside subqueries."""
    calls = [node for node in own_nodes(expression) if isinstance(node, exp.Func)]
    return any(_rounds(call, written_name(call, names.scope.sql), names) for call in calls)


def _rounds(call: exp.Func, name: str, names: Names) -> bool:
    if name in MOMENTS:
        return True
    summed = call.this.expressions[0] if isinstance(call.this, exp.Distinct) else call.this
    return name in SUMS and kind_of(summed, names) != "number"
