"""The current rows of a view as one query, planned at this moment: literals select the changed rows.

Every table is read at a snapshot. So the result is consistent, however long the query waits.
"""

from __future__ import annotations

from typing_extensions import assert_never

from dbt.adapters.icebergmv.maintenance.planning.plan import Append, Full, Merge, Overwrite
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.planning.write import added_query, outside_in_query, query_of, region_in_query
from dbt.adapters.icebergmv.maintenance.sql.complement import outside
from dbt.adapters.icebergmv.maintenance.sql.queries import select_from
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier
from dbt.adapters.icebergmv.maintenance.sql.spark_types import reader_type
from dbt.adapters.icebergmv.maintenance.status.recorded.stored_rows import StoredRows


def stitched_query(settled: Settled, stored: StoredRows) -> str:
    """Return the SELECT of the view's current rows, every table at a snapshot.

    append: the stored rows, and those that came (the RFC's filter-based mode). overwrite: the stored rows outside the
    region, and the definition inside it (partition-based). full: the definition. The stored columns must be able to
    hold the definition's; they give names, order and types.
    """
    plan, computed = settled.plan, in_stored_types(query_of(settled), stored)
    match plan:
        case Append():
            return f"{stored.query}\nUNION ALL\n{computed}"
        case Overwrite():
            kept, stale = _outside_and_inside(settled, plan, stored)
            arms = [f"{stored.query} WHERE {kept}", f"{computed} WHERE {stale}"]
            if plan.added:
                added, beyond = added_query(settled, plan), outside_in_query(settled, plan, stored.types)
                arms.append(f"{in_stored_types(added, stored)} WHERE {beyond}")
            return "\nUNION ALL\n".join(arms)
        case Full() | Merge():
            return computed
        case _:
            assert_never(plan)


def in_stored_types(query: str, stored: StoredRows) -> str:
    """Return the SELECT of a query's rows in the types of the storage, so that these are the types of the union."""
    items = ", ".join(
        f"CAST({identifier(f.name)} AS {reader_type(f.field_type)}) AS {identifier(f.name)}"
        for f in stored.schema.fields
    )
    return select_from(query, items)


def _outside_and_inside(settled: Settled, plan: Overwrite, stored: StoredRows) -> tuple[str, str]:
    """Return the predicate of the stored rows outside the region, and that of computed rows inside it."""
    types = stored.types
    dialect = stored.dialect_of(settled.view.bases.catalog_name, plan.region)
    return outside(plan.region, types, dialect), region_in_query(settled, plan, types)
