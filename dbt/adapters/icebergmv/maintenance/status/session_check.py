"""Is the Spark session the one that the profile describes?"""

from __future__ import annotations

from collections.abc import Mapping

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig
from dbt.adapters.icebergmv.maintenance.planning import pinned_queries as render
from dbt.adapters.icebergmv.maintenance.refresh.storage_commit import Lake
from dbt.adapters.icebergmv.maintenance.status.session_settings import meaning_settings


def check_session(lake: Lake, settings: Mapping[str, str]) -> None:
    """Refuse to compute under other session settings than the profile's, which the state records."""
    actual = meaning_settings({str(row[0]): str(row[1]) for row in lake.spark(render.SHOW_SETTINGS)})
    for key in sorted(actual.keys() | settings.keys()):
        if actual.get(key) != settings.get(key):
            raise InvalidConfig(
                f"the Spark session has {key} = {actual.get(key, 'its default')} and the profile "
                f"{settings.get(key, 'its default')}. Set it in server_side_parameters, not in a hook or a notebook."
            )
