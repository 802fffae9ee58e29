"""The SQL of the next refresh, as far as it is known without asking Spark."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.planning.plan import Full
from dbt.adapters.icebergmv.maintenance.planning.queries.spark_columns import pinned_definition
from dbt.adapters.icebergmv.maintenance.planning.settle import Settled
from dbt.adapters.icebergmv.maintenance.planning.write import distribution_of, write_of
from dbt.adapters.icebergmv.maintenance.refresh.statements import write_rows
from dbt.adapters.icebergmv.maintenance.reports.next_refresh import Outlook
from dbt.adapters.icebergmv.maintenance.status.inspection import Inspection, RefreshedView

_BRANCH = "next_refresh"


@dataclass(frozen=True)
class NextSql:
    """The statements of the next refresh; `note` says what they are."""

    statements: tuple[str, ...]
    note: str


def next_sql(view: Inspection, ahead: Outlook) -> NextSql:
    """Return the SQL of a refresh whose outlook is given, each base table at the snapshot that the catalog shows."""
    settled = ahead.settled
    if ahead.next.kinds == ("none",):
        return NextSql((), "nothing is computed")
    if not isinstance(view, RefreshedView) or settled is None or isinstance(settled.plan, Full):
        note = "the rows of the SELECT are computed anew"
        if ahead.next.questions:
            note = "what is computed at the most; the answers of Spark name the rows that are needed"
        return NextSql((pinned_definition(view if settled is None else settled.view),), note)
    return NextSql(_writing(view, settled), _NOTE if not ahead.next.questions else _PERHAPS)


_NOTE = "on a branch of the storage table, which becomes its main branch; then the view is published"
_PERHAPS = "if the answers of Spark allow it; on a branch of the storage table, which becomes its main branch"


def _writing(view: RefreshedView, settled: Settled) -> tuple[str, ...]:
    storage, start = view.request.config.storage_table, view.stored
    options = {"snapshot-property.refresh-state": "...", **distribution_of(settled, start)}
    return tuple(write_rows(storage, _BRANCH, write_of(settled, start), options))
