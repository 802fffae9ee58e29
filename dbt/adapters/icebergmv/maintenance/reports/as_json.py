"""Reports as JSON: every field of their dataclasses, under its own name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def as_json(reports: Sequence[DataclassInstance]) -> str:
    """Return a JSON list of reports."""
    return json.dumps([asdict(report) for report in reports], indent=2, ensure_ascii=False)
