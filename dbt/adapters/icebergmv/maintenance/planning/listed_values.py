"""Lists the values that the changed rows of small tables hold, before anything is planned.

Beside tables so large that to read them is dear, the changed rows of a small one are read first. The values that they
hold describe the change from then on, instead of its files: output columns follow them, and from an equality of a join
Spark infers them for the other side, so that large tables are not read beyond them either.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from dbt.adapters.icebergmv.maintenance.catalog.table_changes import StaleDataConstraints
from dbt.adapters.icebergmv.maintenance.definition.definition import ViewDefinition
from dbt.adapters.icebergmv.maintenance.lake import Spark
from dbt.adapters.icebergmv.maintenance.planning.key_queries import values_of_columns
from dbt.adapters.icebergmv.maintenance.planning.row_changes import changed_rows, columns_read
from dbt.adapters.icebergmv.maintenance.predicates.domain import ColumnKey, TupleDomain
from dbt.adapters.icebergmv.maintenance.sql.rendering import Dialect, identifier
from dbt.adapters.icebergmv.maintenance.sql.spark_types import internal_form
from dbt.adapters.icebergmv.maintenance.status.status import BaseTableStatus, MaterializedViewStatus


def with_listed_values(
    definition: ViewDefinition,
    status: MaterializedViewStatus,
    references: Collection[int],
    catalog_name: str,
    run: Spark,
) -> MaterializedViewStatus:
    """Return the status in which these references say which values their changed rows hold, where these are few.

    Without a changed row they say that no row can be affected.
    """
    dialect = Dialect(catalog_name, pushable=False)
    tables = (
        _listed(definition, base, dialect, run) if base in status.stale and base.is_among(references) else base
        for base in status.base_tables
    )
    return replace(status, base_tables=tuple(tables))


def _listed(definition: ViewDefinition, base: BaseTableStatus, dialect: Dialect, run: Spark) -> BaseTableStatus:
    source, reference = base.base.source, definition.references[base.occurrences[0]]
    changed = None if source is None else changed_rows(definition, reference, base, source, dialect)
    if source is None or changed is None:
        return base
    types = columns_read(definition, source, base.occurrences)
    columns = {c.name: types[identifier(c.name)] for c in source.table_schema.fields if identifier(c.name) in types}
    forms = {name: form for name, of in columns.items() if (form := internal_form(of, identifier(name))) is not None}
    values = values_of_columns(changed, tuple(forms.values()), run) if forms else None
    if values is None:
        return base
    rows = TupleDomain.where({ColumnKey(name): domain for name, domain in zip(forms, values, strict=True)})
    constraints = StaleDataConstraints(() if rows.is_none else (rows,))
    return replace(base, change=replace(base.change, constraints=constraints, is_listed=True))
