"""A catalog that could not be opened says why, whatever it is asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.catalog.unreadable import UnreadableCatalog
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable

DOWN = "Cannot open the catalog `other`: nothing answers. Start the server."


@pytest.mark.parametrize(
    "question",
    [
        lambda reader: reader.has_views,
        lambda reader: reader.shows_all_views,
        lambda reader: reader.namespaces(),
        lambda reader: reader.entries("ns"),
        lambda reader: reader.view("ns", "v"),
        lambda reader: reader.table("ns", "t"),
    ],
)
def test_every_question_is_answered_with_what_is_wrong(question: Callable[[CatalogReader], object]) -> None:
    reader = UnreadableCatalog("other", DOWN)
    assert reader.name == "other"
    with pytest.raises(CatalogUnavailable) as raised:
        question(reader)
    assert str(raised.value) == DOWN
