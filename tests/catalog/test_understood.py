"""Metadata that hold more than PyIceberg knows are no failure of the catalog; broken ones are."""

from __future__ import annotations

from collections.abc import Callable

import pydantic
import pyiceberg.exceptions
import pytest
from pyiceberg.table.metadata import TableMetadataV2

from dbt.adapters.icebergmv.maintenance.catalog.understood import understanding, understood_table
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, TableNotUnderstood
from tests.support.stub_catalog import StubCatalog

NAME = ("lake", "ns", "t")
FIELD = {"id": 1, "name": "j", "required": False, "type": "variant"}
METADATA = {
    "format-version": 2,
    "location": "/t",
    "last-column-id": 1,
    "schemas": [{"type": "struct", "schema-id": 0, "fields": [FIELD]}],
    "partition-specs": [],
}


def read_unknown_type() -> None:
    TableMetadataV2.model_validate(METADATA)


def read_broken_file() -> None:
    TableMetadataV2.model_validate_json('{"format-version": 2, "loc')


def parse_type() -> None:
    raise pyiceberg.exceptions.ValidationError("Could not parse geometry(srid:1) into a type")


def lose_the_catalog() -> None:
    raise OSError("connection refused")


@pytest.mark.parametrize(
    ("read", "raised"),
    [
        (read_unknown_type, TableNotUnderstood),
        (parse_type, TableNotUnderstood),
        (read_broken_file, CatalogUnavailable),
        (lose_the_catalog, CatalogUnavailable),
    ],
)
def test_what_is_unknown_and_what_is_broken(read: Callable[[], None], raised: type[Exception]) -> None:
    with pytest.raises((TableNotUnderstood, CatalogUnavailable)) as found, understanding("table", NAME):
        try:
            read()
        except (pydantic.ValidationError, pyiceberg.exceptions.ValidationError, OSError) as error:
            raise CatalogUnavailable("The catalog cannot be read.") from error
    assert type(found.value) is raised


def test_a_table_that_is_not_understood_is_none_for_who_can_do_without() -> None:
    class Newer(StubCatalog):
        def table(self, namespace: str, name: str) -> None:
            raise TableNotUnderstood("a newer type")

    assert understood_table(Newer({}, {}), "ns", "t") is None
    assert understood_table(StubCatalog({}, {}), "ns", "absent") is None
