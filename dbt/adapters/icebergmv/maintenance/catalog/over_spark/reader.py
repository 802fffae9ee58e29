"""A catalog reader that needs nothing but a function that runs SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TypeVar

from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.table import Table
from pyiceberg.view.metadata import ViewMetadata

from dbt.adapters.icebergmv.maintenance.catalog.over_spark.current_table import current_metadata
from dbt.adapters.icebergmv.maintenance.catalog.over_spark.current_view import ShownView, current_view, fits
from dbt.adapters.icebergmv.maintenance.catalog.over_spark.files import (
    ListedFile,
    Run,
    SparkFileIO,
    SparkFiles,
)
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogEntry, ViewInfo, spellings
from dbt.adapters.icebergmv.maintenance.catalog.remembered import Remembered
from dbt.adapters.icebergmv.maintenance.catalog.secrets import hide
from dbt.adapters.icebergmv.maintenance.catalog.understood import understanding
from dbt.adapters.icebergmv.maintenance.catalog.view_metadata import parsed_view, view_info
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, first_line
from dbt.adapters.icebergmv.maintenance.sql.names import split_name
from dbt.adapters.icebergmv.maintenance.sql.rendering import identifier, qualified

Answer = TypeVar("Answer")
_MOST_SNAPSHOTS = 20_000
_MOST_VIEW_FILES = 2_000
_VIEW_FILES_AT_ONCE = 16
_ATTEMPTS = 3
# The last is what Spark says of the views of a catalog that can have none.
_ABSENT = (
    "TABLE_OR_VIEW_NOT_FOUND",
    "SCHEMA_NOT_FOUND",
    "NoSuchNamespaceException",
    "MISSING_CATALOG_ABILITY.VIEWS",
)
# Spark Connect has `(…NoSuchNamespaceException) Namespace …`, the others `…NoSuchNamespaceException: Namespace …`.
_NO_FOLDER = re.compile(r"NoSuchNamespaceException\W+Namespace does not exist")
_UNSET = "<undefined>"
_SESSION_CATALOG = "spark_catalog"
_WITHOUT_VIEWS = {"hadoop", "glue", "dynamodb", "snowflake"}
_IMPLEMENTATIONS_WITHOUT_VIEWS = {"HadoopCatalog", "GlueCatalog", "DynamoDbCatalog", "SnowflakeCatalog"}


class _Unproven(Exception):
    """What was read belongs to no single state: a commit came in between, or Spark shows too little."""


@contextmanager
def _which_may_be_gone() -> Iterator[None]:
    """Look again when files cannot be read: a commit may have removed one that was the current one."""
    try:
        yield
    except CatalogUnavailable as error:
        raise _Unproven(str(error)) from error


class SparkReader:
    """Reads the catalog `name` of a Spark with the statements that `run` runs, from any number of threads at once.

    What metadata files hold is parsed as everywhere; Spark only brings their bytes and says which are current.
    """

    def __init__(self, name: str, run: Run) -> None:
        self._name = name
        self._run = run
        self._files = SparkFiles(run)
        self._io = SparkFileIO(self._files)
        self._tables: Remembered[tuple[str, Table]] = Remembered(
            _MOST_SNAPSHOTS, lambda found: 1 + len(found[1].metadata.snapshots)
        )
        self._views: Remembered[ViewMetadata | None] = Remembered(_MOST_VIEW_FILES)

    @property
    def name(self) -> str:
        """Return the name of the catalog in Spark."""
        return self._name

    @cached_property
    def is_there(self) -> bool:
        """Return whether Spark has a catalog of this name. Another name would be a namespace of its default one."""
        return self._name == _SESSION_CATALOG or self._setting() != _UNSET

    @cached_property
    def has_views(self) -> bool:
        """Return whether the catalog can keep views, as far as the settings of Spark say it; they stay as they are."""
        if self._setting("type").lower() in _WITHOUT_VIEWS:
            return False
        return self._setting("catalog-impl").rpartition(".")[2] not in _IMPLEMENTATIONS_WITHOUT_VIEWS

    @cached_property
    def shows_all_views(self) -> bool:
        """Return whether Spark lists all views: of a REST server that does not announce its views, it lists none."""
        implementation = self._setting("catalog-impl")
        is_known = implementation == _UNSET or implementation.startswith("org.apache.iceberg.")
        is_rest = self._setting("type").lower() == "rest" or implementation.endswith(".RESTCatalog")
        return self.has_views and is_known and not is_rest

    def namespaces(self) -> list[str]:
        """Return all namespaces, dotted and sorted."""
        return sorted(".".join(parts) for parts in self._ask(lambda: list(self._below(()))))

    def entries(self, namespace: str) -> list[CatalogEntry]:
        """Return the tables and views of a namespace."""
        for parts in spellings(namespace):
            place = qualified(self._name, *parts)
            tables = self._listed(f"SHOW TABLES IN {place}")
            if tables is None:
                continue
            views = set(self._listed(f"SHOW VIEWS IN {place}") or ())
            # The session catalog shows its views among the tables, too.
            found = [CatalogEntry(name, "table") for name in tables if name not in views]
            return [*found, *(CatalogEntry(name, "view") for name in sorted(views))]
        return []

    def table(self, namespace: str, name: str) -> Table | None:
        """Return a table with its current metadata. Raises TableNotUnderstood where these are beyond PyIceberg."""
        with understanding("table", (self._name, namespace, name)):
            return self._settled(namespace, name, self._table)

    def view(self, namespace: str, name: str) -> ViewInfo | None:
        """Return the current metadata of a view."""
        return self._settled(namespace, name, self._view)

    def _settled(
        self, namespace: str, name: str, look: Callable[[tuple[str, ...], str], Answer | None]
    ) -> Answer | None:
        """Look again when what was seen belongs to no single state, which a commit in between explains."""

        def attempts() -> Answer | None:
            for left in reversed(range(_ATTEMPTS)):
                try:
                    return next((x for p in spellings(namespace) if (x := look(p, name)) is not None), None)
                except _Unproven as error:
                    if not left:
                        raise CatalogUnavailable(str(error)) from error
            return None

        return self._ask(attempts)

    def _table(self, namespace: tuple[str, ...], name: str) -> Table | None:
        place = qualified(self._name, *namespace, name)
        rows = self._rows(f"SELECT file, unix_millis(timestamp) FROM {place}.metadata_log_entries")
        if rows is None:
            return None
        entries = tuple((str(file), int(str(written))) for file, written in rows)

        def find_out() -> tuple[str, Table]:
            with _which_may_be_gone():
                found = current_metadata(entries, lambda location: self._files.read([location])[location])
            if found is None:
                raise _Unproven(
                    f"no file in the metadata log of {place} is the current one. "
                    "Check that no other process writes into the folder of the table"
                )
            location, metadata = found
            return location, Table((*namespace, name), metadata, location, self._io, NoopCatalog(self._name))

        # A Hadoop catalog numbers its files, so a table that was made anew has the old names.
        return self._tables.get((place, entries), find_out)[1]

    def _view(self, namespace: tuple[str, ...], name: str) -> ViewInfo | None:
        place = qualified(self._name, *namespace, name)
        shown = self._shown(place)
        if shown is None:
            return None
        folder = shown.properties.get("write.metadata.path") or f"{shown.properties['location']}/metadata"
        with _which_may_be_gone():
            listed = [f for f in self._files.list(folder) if f.location.endswith(".metadata.json")]
        files = sorted(listed, key=lambda f: f.modified, reverse=True)
        # The current one is among the newest, unless more commits failed than are looked at.
        for start in range(0, len(files), _VIEW_FILES_AT_ONCE):
            fitting = [m for m in self._metadata_of(files[start : start + _VIEW_FILES_AT_ONCE]) if fits(m, shown)]
            found = current_view(fitting)
            if found is not None:
                return view_info(".".join(namespace), name, found)
            if fitting:
                break
        raise _Unproven(
            f"Spark does not say which of the metadata files in {folder} is the current one of the view {place}, and "
            f"none is proven to be. Run `ALTER VIEW {place} SET TBLPROPERTIES ('touched' = '1')`, each time with "
            "another value"
        )

    def _shown(self, place: str) -> ShownView | None:
        """Return what Spark shows of a view; None when there is none."""
        created = self._rows(f"SHOW CREATE TABLE {place}")
        if not created or not str(created[0][0]).startswith("CREATE VIEW "):
            return None
        shown = self._rows(f"SHOW TBLPROPERTIES {place}")
        described = self._rows(f"DESCRIBE TABLE EXTENDED {place}")
        if shown is None or described is None:
            raise _Unproven(f"the view {place} was dropped while it was read. Run again")
        properties = {str(key): str(value) for key, value, *_ in shown}
        if "location" not in properties:
            return None
        rows = [tuple("" if value is None else str(value) for value in row) for row in described]
        columns = rows[: next((n for n, row in enumerate(rows) if not row[0] or row[0].startswith("#")), len(rows))]
        details = {row[0]: row[1] for row in rows[len(columns) :]}
        return ShownView(
            created=str(created[0][0]),
            properties=properties,
            columns=tuple((name, kind, comment) for name, kind, comment, *_ in columns),
            comment=details.get("Comment", ""),
        )

    def _metadata_of(self, files: Sequence[ListedFile]) -> list[ViewMetadata]:
        unknown = [f.location for f in files if not self._views.knows(f)]
        with _which_may_be_gone():
            contents = self._files.read(unknown)

        def read(file: ListedFile) -> ViewMetadata | None:
            content = contents.get(file.location) or self._files.read([file.location])[file.location]
            try:
                return parsed_view(content)
            except (ValueError, OSError):
                # A table may have had the name, and the folder, before; and a file may be half written.
                return None

        found = [self._views.get(file, lambda file=file: read(file)) for file in files]  # type: ignore[misc]
        return [metadata for metadata in found if metadata is not None]

    def _setting(self, *key: str) -> str:
        setting = identifier(".".join(("spark.sql.catalog", self._name, *key)))
        return self._ask(lambda: str(self._run(f"SET {setting}")[0][1]))

    def _below(self, parent: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        try:
            rows = self._run(f"SHOW NAMESPACES IN {qualified(self._name, *parent)}")
        except Exception as error:
            # Whoever gives `run` chooses what it raises. A Hadoop catalog without anything has no folder yet.
            if parent or not _NO_FOLDER.search(str(error)):
                raise
            return
        for row in rows:
            parts = split_name(str(row[0]))
            yield parts
            yield from self._below(parts)

    def _listed(self, statement: str) -> list[str] | None:
        rows = self._ask(lambda: self._rows(statement))
        # The session catalog shows temporary views everywhere.
        return None if rows is None else sorted(str(row[1]) for row in rows if str(row[2]).lower() != "true")

    def _rows(self, statement: str) -> Sequence[Sequence[object]] | None:
        """Run a statement on a table, view or namespace; None when that is absent."""
        try:
            return self._run(statement)
        except Exception as error:
            # Whoever gives `run` chooses what it raises.
            if any(word in str(error) for word in _ABSENT):
                return None
            raise

    def _ask(self, question: Callable[[], Answer]) -> Answer:
        """Answer a question; whatever goes wrong is CatalogUnavailable with the name of the catalog."""
        try:
            return question()
        except CatalogUnavailable as error:
            error.subject = error.subject or f"Cannot read the catalog `{self._name}`"
            raise
        except Exception as error:
            # Spark, and parsers of what it brings, fail in kinds that no library lists.
            raise CatalogUnavailable(
                f"{hide(first_line(error), ())}. Check `catalog` in the profile, and that Spark reaches the catalog.",
                subject=f"Cannot read the catalog `{self._name}`",
            ) from error
