"""What every catalog reader promises: absent is empty or None, failures are CatalogUnavailable, threads share it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, CatalogReader, ColumnInfo
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, TableNotUnderstood
from tests.support.lake_views import SCHEMA, add_view, view_metadata

THREADS = 8
NAMES = ["plain", "a b", "é'`x"]
Opener = Callable[[Path], AbstractContextManager[CatalogReader]]
"""Opens a reader over the SQL catalog whose SQLite file is given."""


@dataclass(frozen=True)
class Lake:
    """A catalog with the namespaces `ns` (a table and a view under each of NAMES) and `empty`, and its reader."""

    reader: CatalogReader
    catalog: SqlCatalog
    database: Path
    folder: Path
    view_files: dict[str, Path]


@contextmanager
def filled_lake(folder: Path, opened: Opener) -> Iterator[Lake]:
    """Give a lake in a folder, read with the reader that is opened over its database."""
    database = folder / "catalog.db"
    catalog = SqlCatalog("lake", uri=f"sqlite:///{database}", warehouse=folder.as_uri())
    files: dict[str, Path] = {}
    for namespace in ("ns", "empty"):
        catalog.create_namespace(namespace)
    for number, name in enumerate(NAMES):
        # A folder of its own: file systems take no name, however odd.
        location = (folder / f"t{number}").as_uri()
        catalog.create_table(("ns", name), SCHEMA, location=location, properties={"p": name})
        metadata = view_metadata(["select 1", f"select id from `{name}`"], properties={"comment": name, "q": "1"})
        files[name] = add_view(catalog, ("ns", f"{name} view"), metadata, folder)
    with opened(database) as reader:
        yield Lake(reader, catalog, database, folder, files)
    catalog.close()


CALLS: dict[str, Callable[[CatalogReader], object]] = {
    "namespaces": lambda reader: reader.namespaces(),
    "entries": lambda reader: reader.entries("ns"),
    "table": lambda reader: reader.table("ns", "plain"),
    "view": lambda reader: reader.view("ns", "plain view"),
}


def give_type(lake: Lake, name: str, iceberg_type: str) -> None:
    """Give the columns of a table another type, which only tables of format 3 have."""
    file = Path(unquote(urlsplit(lake.catalog.load_table(("ns", name)).metadata_location).path))
    metadata = json.loads(file.read_text()) | {"format-version": 3, "next-row-id": 0}
    for schema in metadata["schemas"]:
        for field in schema["fields"]:
            field["type"] = iceberg_type
    file.write_text(json.dumps(metadata))


VIEW_TYPES: dict[str, object] = {
    "variant": "variant",
    "struct<a:variant>": {"type": "struct", "fields": [{"id": 2, "name": "a", "required": False, "type": "variant"}]},
}
"""Types in Spark's words that PyIceberg does not know, and how metadata hold them."""


class ReaderContract:
    """The tests of the contract; a subclass has a fixture `lake`, whose reader is the one to test."""

    def test_what_is_there(self, lake: Lake) -> None:
        reader = lake.reader
        assert reader.name == "lake"
        assert reader.namespaces() == ["empty", "ns"]
        expected = {CatalogEntry(n, "table") for n in NAMES} | {CatalogEntry(f"{n} view", "view") for n in NAMES}
        assert len(reader.entries("ns")) == len(expected)
        assert set(reader.entries("ns")) == expected
        for name in NAMES:
            table, view = reader.table("ns", name), reader.view("ns", f"{name} view")
            assert table is not None
            assert table.properties == {"p": name}
            assert view is not None
            assert (view.namespace, view.name, view.comment) == ("ns", f"{name} view", name)
            sql = f"select id from `{name}`"
            assert (view.sql, [version.sql for version in view.versions]) == (sql, ["select 1", sql])
            assert view.columns == (ColumnInfo("id", "bigint", "the key"),)
            assert view.types == ("bigint",)
            assert view.properties == {"comment": name, "q": "1"}
            assert (view.version_id, view.default_catalog, view.default_namespace) == (2, None, ("ns",))

    def test_what_is_absent_is_empty_or_none(self, lake: Lake) -> None:
        reader = lake.reader
        assert reader.entries("empty") == reader.entries("nowhere") == []
        for namespace in ("ns", "empty", "nowhere"):
            assert reader.table(namespace, "absent") is None
            assert reader.view(namespace, "absent") is None
        # A name of the other kind.
        assert reader.view("ns", "plain") is None
        assert reader.table("ns", "absent view") is None

    def test_another_dialect_is_no_sql(self, lake: Lake) -> None:
        add_view(lake.catalog, ("ns", "theirs"), view_metadata(["select 1"], dialect="trino"), lake.folder)
        view = lake.reader.view("ns", "theirs")
        assert view is not None
        assert (view.sql, [version.sql for version in view.versions]) == ("", [""])

    def test_answers_are_of_the_moment(self, lake: Lake) -> None:
        reader = lake.reader
        before = reader.table("ns", "plain")
        with lake.catalog.load_table(("ns", "plain")).transaction() as change:
            change.set_properties(new="1")
        after = reader.table("ns", "plain")
        assert before is not None
        assert after is not None
        assert ("new" in before.properties, "new" in after.properties) == (False, True)
        lake.catalog.drop_table(("ns", "plain"))
        assert reader.table("ns", "plain") is None

    @pytest.mark.parametrize("content", [None, b"", b"{}", b"no json"], ids=["gone", "empty", "no_view", "no_json"])
    def test_a_broken_file_is_an_error(self, lake: Lake, content: bytes | None) -> None:
        table = lake.catalog.load_table(("ns", "plain"))
        for file in (lake.view_files["plain"], Path(unquote(urlsplit(table.metadata_location).path))):
            if content is None:
                file.unlink()
            else:
                file.write_bytes(content)
        with pytest.raises(CatalogUnavailable, match="Cannot read the catalog `lake`: "):
            lake.reader.view("ns", "plain view")
        with pytest.raises(CatalogUnavailable, match="Cannot read the catalog `lake`: "):
            lake.reader.table("ns", "plain")

    @pytest.mark.parametrize("unknown", ["variant", "geometry(srid:3857)"])
    def test_a_table_that_pyiceberg_does_not_understand(self, lake: Lake, unknown: str) -> None:
        give_type(lake, "plain", unknown)
        with pytest.raises(
            TableNotUnderstood, match=r"^Cannot read the table lake\.ns\.plain: PyIceberg does not know"
        ):
            lake.reader.table("ns", "plain")

    @pytest.mark.parametrize("unknown", ["variant", "struct<a:variant>"])
    def test_a_view_of_a_type_that_pyiceberg_does_not_know(self, lake: Lake, unknown: str) -> None:
        shown = VIEW_TYPES[unknown]
        file = lake.view_files["plain"]
        metadata = json.loads(gzip.decompress(file.read_bytes()))
        metadata["schemas"][0]["fields"][0]["type"] = shown
        file.write_bytes(gzip.compress(json.dumps(metadata).encode()))
        view = lake.reader.view("ns", "plain view")
        assert view is not None
        assert (view.sql, view.comment) == ("select id from `plain`", "plain")
        assert view.columns == (ColumnInfo("id", unknown, "the key"),)

    @pytest.mark.parametrize("call", CALLS)
    def test_a_broken_catalog_is_an_error(self, lake: Lake, call: str) -> None:
        # In place: connections that are open see it too.
        lake.database.write_bytes(b"this was a database" * 10_000)
        with pytest.raises(CatalogUnavailable, match=r"Cannot read the catalog `lake`: .*\. (Check|Look at) "):
            CALLS[call](lake.reader)

    def test_threads_share_a_reader(self, lake: Lake) -> None:
        def looks(_: int) -> list[object]:
            views = [lake.reader.view("ns", f"{name} view") for name in NAMES]
            tables = [lake.reader.table("ns", name) for name in NAMES]
            locations = [table and table.metadata_location for table in tables]
            return [lake.reader.namespaces(), lake.reader.entries("ns"), views, locations]

        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(looks, range(THREADS * 4)))
        assert all(answer == found[0] for answer in found)
        assert found[0] == looks(0)
        assert None not in found[0][2]  # type: ignore[operator]
