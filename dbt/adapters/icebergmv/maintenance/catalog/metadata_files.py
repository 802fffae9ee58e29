"""Tables and views by the location of their metadata file, for catalogs that know a name and a location alone."""

from __future__ import annotations

from urllib.parse import urlsplit

from pyiceberg.catalog import Catalog
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata

from dbt.adapters.icebergmv.maintenance.catalog.reader import ViewInfo
from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered
from dbt.adapters.icebergmv.maintenance.catalog.view_metadata import read_view_metadata, view_info

_MOST_SNAPSHOTS = 20_000
"""Of all remembered metadata files together; a snapshot takes about 5 kB of memory."""


class MetadataFiles:
    """The metadata files of one catalog, read with its properties. A table's file is immutable: read once, it is known.

    What a file system or a parser raises goes to the caller.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._readers: dict[str, FileIO] = {}
        self._tables: Remembered[TableMetadata] = Remembered(_MOST_SNAPSHOTS, lambda m: 1 + len(m.snapshots))

    def table(self, name: tuple[str, ...], location: str) -> Table:
        """Return the table of that name with the metadata in the file."""

        def read() -> TableMetadata:
            return FromInputFile.table_metadata(self._reader(location).new_input(location))

        metadata = self._tables.get(location, read)
        io = load_file_io({**self._catalog.properties, **metadata.properties}, location)
        return Table(name, metadata, location, io, self._catalog)

    def view(self, namespace: str, name: str, location: str) -> ViewInfo:
        """Return the view of that name with the metadata in the file."""
        return view_info(namespace, name, read_view_metadata(self._reader(location), location))

    def _reader(self, location: str) -> FileIO:
        """Return what reads metadata files of the kind of a location; it connects once."""
        scheme = urlsplit(location).scheme
        if scheme not in self._readers:
            self._readers[scheme] = load_file_io(self._catalog.properties, location)
        return self._readers[scheme]
