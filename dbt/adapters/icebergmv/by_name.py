"""Materialized views by their names, from a PySpark job or a notebook: what the operations of dbt do, without dbt.

What a model would say comes from what the last run recorded of its view. Names have three parts, in backticks where
needed; a session is a classic one or one of Spark Connect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, naming
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.expiry import snapshots_read
from dbt.adapters.icebergmv.maintenance.operations.rollback import RolledBack, rollback
from dbt.adapters.icebergmv.maintenance.operations.upkeep import DAY, Upkeep, UpkeepOptions, upkeep
from dbt.adapters.icebergmv.maintenance.operations.versions import Version, versions_of
from dbt.adapters.icebergmv.maintenance.refresh.refresh import refresh
from dbt.adapters.icebergmv.maintenance.refresh.result import RefreshResult
from dbt.adapters.icebergmv.maintenance.reports.explanation import Explanation, explain
from dbt.adapters.icebergmv.maintenance.reports.one_run import status
from dbt.adapters.icebergmv.maintenance.reports.view_status import Recorded, ViewStatus
from dbt.adapters.icebergmv.maintenance.sql.names import show
from dbt.adapters.icebergmv.maintenance.status.configured.refresh_request import recorded_request
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import RefreshPolicy
from dbt.adapters.icebergmv.maintenance.status.configured.view_config import refresh_policy as known_policy
from dbt.adapters.icebergmv.maintenance.status.inspection import inspect
from dbt.adapters.icebergmv.maintenance.status.session.clock import utc_now
from dbt.adapters.icebergmv.maintenance.stitching.read_behavior import read_plan
from dbt.adapters.icebergmv.session_lake import check_no_cache, on_lake, parsed_view, settings_of_refresh
from dbt.adapters.icebergmv.spark.release import release_of

if TYPE_CHECKING:
    from dbt.adapters.icebergmv.session_lake import Session


def refresh_materialized_view(
    spark: Session, name: str, *, full_refresh: bool = False, refresh_policy: RefreshPolicy = "auto"
) -> RefreshResult:
    """Bring a view up to date with the SELECT and the configuration of its last run; return what was done.

    While it works, the session has the settings of that run (time zone, ANSI mode and the like). `target_lag` and
    `refresh_on_run` hold back runs of dbt, not this call. Raises MaintenanceError; readers see the last refresh then.
    """
    view = parsed_view(name)

    def work(lake: Lake) -> RefreshResult:
        request = recorded_request(lake.catalog, view)
        request = replace(
            request,
            config=replace(
                request.config,
                refresh_policy=known_policy(refresh_policy),
                spark_release=release_of(spark.version),
            ),
            rebuild="full_refresh" if full_refresh else None,
            is_run=False,
        )
        with settings_of_refresh(spark, request.config.settings):
            inspection = inspect(lake.catalog, request)
            return refresh(lake, inspection, read_plan(inspection))

    with naming("refresh", show(view)):
        check_no_cache(spark, view[0])
        return on_lake(spark, view[0], work)


def materialized_view_status(spark: Session, *names: str) -> tuple[ViewStatus, ...]:
    """Return the status of each view, in the order given. What is wrong with one is in its `error`.

    `next` is what a refresh with the recorded SELECT would do. Raises InvalidConfig where no view is named: which views
    belong together is known by dbt alone.
    """
    if not names:
        raise InvalidConfig("no view is named. Name each as catalog.schema.view.", subject="Cannot show a status")
    views = [parsed_view(name) for name in names]
    found: dict[str, ViewStatus] = {}
    for catalog in dict.fromkeys(view[0] for view in views):
        subjects = [Recorded(view) for view in views if view[0] == catalog]
        found |= {one.name: one for one in on_lake(spark, catalog, partial(_status, subjects))}
    return tuple(found[show(view)] for view in views)


def _status(subjects: Sequence[Recorded], lake: Lake) -> tuple[ViewStatus, ...]:
    return status(lake.catalog, subjects)


def explain_materialized_view(spark: Session, name: str) -> Explanation:
    """Return why a view is refreshed as it is: which column follows which table, and the plan of the next refresh."""
    view = parsed_view(name)
    return on_lake(spark, view[0], lambda lake: explain(lake.catalog, Recorded(view)))


def maintain_materialized_view(spark: Session, name: str, *, older_than: int = DAY, dry_run: bool = False) -> Upkeep:
    """Compact the storage of a view where that pays, then expire what neither it nor another view of the catalog needs.

    Views that are tables (`layout: table`) are not looked for: that would open each table of the catalog.
    Snapshots that readers got within the last `older_than` seconds stay. What could not be done is in the result.
    """
    view, options = parsed_view(name), UpkeepOptions(older_than=older_than, dry_run=dry_run)

    def work(lake: Lake) -> Upkeep:
        every = [
            (lake.catalog.name, schema, entry.name)
            for schema in lake.catalog.namespaces()
            for entry in lake.catalog.entries(schema)
            if entry.kind == "view"
        ]
        return upkeep(lake, view, options, utc_now(), snapshots_read(lake.catalog, every))

    with naming("maintain", show(view)):
        check_no_cache(spark, view[0])
        return on_lake(spark, view[0], work)


def materialized_view_versions(spark: Session, name: str) -> tuple[Version, ...]:
    """Return the versions that a view keeps, the newest first, and whether it can be put back to each."""
    view = parsed_view(name)
    with naming("read", show(view)):
        return on_lake(spark, view[0], lambda lake: tuple(versions_of(lake.catalog, view).versions))


def rollback_materialized_view(spark: Session, name: str, to: int) -> RolledBack:
    """Put a view back to the rows of a version, given by its id or by the storage snapshot that it reads.

    The next refresh brings it to now again. Raises MaintenanceError; nothing was changed for readers then.
    """
    view = parsed_view(name)
    with naming("roll back", show(view)):
        check_no_cache(spark, view[0])
        return on_lake(spark, view[0], lambda lake: rollback(lake, view, to))
