"""Names of models that people give to operations."""

from __future__ import annotations

import pytest

from dbt.adapters.icebergmv.project_models import like

MODELS = [("revenue_by_day", "analytics.revenue_by_day"), ("customers", "analytics.customers")]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("revenue_by_dya", ", such as revenue_by_day"),
        ("analytics.custmers", ", such as analytics.customers"),
        ("orders", ""),
    ],
)
def test_a_name_that_is_written_nearly_so(name: str, words: str) -> None:
    assert like(MODELS, name) == words
