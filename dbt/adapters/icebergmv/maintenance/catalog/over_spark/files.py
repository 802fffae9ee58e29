"""Files that only Spark can reach. Its `binaryFile` source, in SQL, works over every kind of connection."""

from __future__ import annotations

import base64
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice

from pyiceberg.io import FileIO, InputFile, InputStream, OutputFile

from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, first_line
from dbt.adapters.icebergmv.maintenance.sql.rendering import string_literal

Run = Callable[[str], Sequence[Sequence[object]]]
"""Runs one statement and returns its rows; the statements of a thread run in one session."""

_FILES_AT_ONCE = 64
_BYTES_AT_ONCE = 32 * 2**20
_BYTES_HELD = 64 * 2**20
_LOCATION = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?)?)/*(.*)\Z", re.DOTALL)
_OF_PATTERNS = re.compile(r"[{}\[\]*?\\]")
_ESCAPED = re.compile(r"([{}\[\]*?\\,])")


@dataclass(frozen=True)
class ListedFile:
    """A file in a folder, as the storage lists it. `modified` is in milliseconds."""

    location: str
    length: int
    modified: int


class SparkFiles:
    """Reads and lists files through Spark. Failures are CatalogUnavailable."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def read(self, locations: Iterable[str]) -> dict[str, bytes]:
        """Return the content of each file; all files of one storage come together."""
        by_root: dict[str, dict[str, str]] = {}
        for location in locations:
            root, path = _root_and_path(location)
            by_root.setdefault(root, {})[path] = location
        found: dict[str, bytes] = {}
        for root, paths in by_root.items():
            for pattern in _patterns(list(paths)):
                for name, content in self._asked("path, base64(content)", root, pattern):
                    wanted = paths.get(_root_and_path(str(name))[1])
                    if wanted is not None:
                        found[wanted] = base64.b64decode(str(content))
            missing = sorted(set(paths.values()) - found.keys())
            if missing:
                raise CatalogUnavailable(f"Spark finds no file {missing[0]}. {_mend(root)}")
        return found

    def list(self, folder: str) -> list[ListedFile]:
        """Return the files of a folder."""
        root, path = _root_and_path(folder)
        (pattern,) = _patterns([path])
        rows = self._asked("path, length, unix_millis(modificationTime)", root, pattern)
        return [ListedFile(str(name), int(str(length)), int(str(modified))) for name, length, modified in rows]

    def _asked(self, columns: str, root: str, pattern: str) -> Sequence[Sequence[object]]:
        # As a temporary view, for which no catalog is asked. That FROM binaryFile.`<path>` is no table is known only
        # when the catalog said so, and a REST server may refuse a name with slashes.
        view = f"icebergmv_{uuid.uuid4().hex}"
        path = string_literal(f"{root}/{pattern}")
        try:
            self._run(f"CREATE TEMPORARY VIEW {view} USING binaryFile OPTIONS (path {path})")
            try:
                return self._run(f"SELECT {columns} FROM {view}")
            finally:
                self._run(f"DROP VIEW IF EXISTS {view}")
        except Exception as error:
            # Whoever gives `run` chooses what it raises.
            raise CatalogUnavailable(f"Spark cannot read its files ({first_line(error)}). {_mend(root)}") from error


class SparkFileIO(FileIO):
    """PyIceberg's way to the files of a table, through Spark; it writes nothing. Files are taken to be immutable."""

    def __init__(self, files: SparkFiles) -> None:
        super().__init__()
        self._files = files
        self._held: Remembered[bytes] = Remembered(_BYTES_HELD, len)

    def fetch(self, lengths: Mapping[str, int]) -> None:
        """Fetch many files, given with about how long they are, so that each is at hand when it is opened.

        What would not fit beside each other is left to be fetched when it is opened.
        """
        unknown = {f: n for f, n in lengths.items() if not self._held.knows(f)}
        for some in islice(_portions(unknown), _BYTES_HELD // _BYTES_AT_ONCE):
            for location, content in self._files.read(some).items():
                self._held.get(location, lambda content=content: content)  # type: ignore[misc]

    def content(self, location: str) -> bytes:
        """Return the content of a file."""
        return self._held.get(location, lambda: self._files.read([location])[location])

    def new_input(self, location: str) -> InputFile:
        """Return a file to read."""
        return _SparkInput(location, self)

    def new_output(self, location: str) -> OutputFile:
        """Refuse: nobody writes a table through it. Raises TypeError."""
        raise TypeError(f"{location} is read through Spark, and cannot be written")

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Refuse: nobody deletes a file through it. Raises TypeError."""
        raise TypeError(f"{location} is read through Spark, and cannot be deleted")


class _SparkInput(InputFile):
    def __init__(self, location: str, io: SparkFileIO) -> None:
        super().__init__(location)
        self._io = io

    def __len__(self) -> int:
        return len(self._io.content(self.location))

    def exists(self) -> bool:
        """Return True; a file that cannot be read is an error, since Spark does not always say why."""
        self._io.content(self.location)
        return True

    def open(self, seekable: bool = True) -> InputStream:  # noqa: ARG002 - PyIceberg's signature
        return BytesIO(self._io.content(self.location))


def _root_and_path(location: str) -> tuple[str, str]:
    """Return the storage of a location and the path on it without its first slash, as Hadoop normalises it."""
    found = _LOCATION.match(location)
    root, path = found.groups() if found else ("", location)
    # file:/x and file:///x are one storage.
    return root.removesuffix("//"), re.sub("/+", "/", path).rstrip("/")


def _patterns(paths: list[str]) -> Iterator[str]:
    """Yield what `binaryFile` is asked for: one pattern for all plain paths, and one for each of the others.

    Hadoop takes alternatives with slashes in them apart before anything else, so no folder is listed; it unescapes them
    too early for a path that has other characters of patterns.
    """
    plain = [path for path in paths if not _OF_PATTERNS.search(path)]
    if len(plain) == 1:
        yield plain[0]
    elif plain:
        yield "{" + ",".join(_ESCAPED.sub(r"\\\1", path) for path in plain) + "}"
    for path in paths:
        if _OF_PATTERNS.search(path):
            yield _ESCAPED.sub(r"\\\1", path)


def _portions(lengths: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield the files in portions that one answer of Spark can carry."""
    portion: list[str] = []
    size = 0
    for location, length in lengths.items():
        if portion and (len(portion) == _FILES_AT_ONCE or size + length > _BYTES_AT_ONCE):
            yield portion
            portion, size = [], 0
        portion.append(location)
        size += length
    if portion:
        yield portion


def _mend(root: str) -> str:
    scheme = root.split(":", 1)[0] or "file"
    if scheme in {"s3", "gs", "abfss", "wasbs"}:
        return (
            f"Spark's own sources read {scheme}:// through Hadoop: give Spark Hadoop's file system for it and the "
            f"setting `spark.hadoop.fs.{scheme}.impl`, or let dbt read the catalog itself (`catalog_reader: direct`)."
        )
    return "Check that the user of this Spark may read the folder of the table."
