"""The target of a profile as dbt gives it to the adapter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.adapters.icebergmv.credentials import IcebergMVCredentials


def credentials_of(target: Mapping[str, Any]) -> IcebergMVCredentials:
    """Return the credentials of a target without `type` and `threads`; None stands for a key that is not there."""
    given = {key: value for key, value in target.items() if value is not None}
    data = IcebergMVCredentials.translate_aliases(given)
    IcebergMVCredentials.validate(data)
    return IcebergMVCredentials.from_dict(data)
