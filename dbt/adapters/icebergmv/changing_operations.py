"""The adapter's side of the operations that change something: the project in, one line a table or view out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal

from dbt.adapters.base import available
from dbt.adapters.base.meta import AdapterMeta
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.icebergmv.maintenance.errors import MaintenanceError
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.orphans import LooseStorage, drop_orphans, loose_storage
from dbt.adapters.icebergmv.maintenance.operations.orphans_text import orphans_text
from dbt.adapters.icebergmv.maintenance.reports.as_json import as_json
from dbt.adapters.icebergmv.maintenance.status.config_words import one_of, true_or_false
from dbt.adapters.icebergmv.maintenance.status.time_spans import seconds_of
from dbt.adapters.icebergmv.project_models import storage_schemas_of

if TYPE_CHECKING:
    from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader

Format = Literal["table", "json"]
_FORMATS: tuple[Format, ...] = ("table", "json")


class ChangingOperationsMixin(metaclass=AdapterMeta):
    """Methods that the macros in macros/operations call, and that run statements."""

    if TYPE_CHECKING:
        connections: Any

        def catalog_reader_of(self, database: str | None) -> CatalogReader:
            """Return the reader of a catalog."""

        def get_macro_resolver(self) -> Any:
            """Return the manifest."""

    @available.parse(lambda *_, **__: "")
    def drop_orphaned_storage_tables(
        self,
        dry_run: object = True,
        older_than: object = "1 day",
        format: object = "table",  # noqa: A002
    ) -> str:
        """Return the storage tables in the schemas of the project that no view reads; drop them without `dry_run`.

        `older_than` is how long nothing was written to them, `format` is table or json.
        """
        with _for_dbt("drop orphaned storage tables"):
            words, is_dry = one_of(_FORMATS, "format", format), true_or_false("dry_run", dry_run, True)
            age, now = seconds_of("older_than", older_than), datetime.now(timezone.utc)
            found: list[LooseStorage] = []
            for catalog, schemas in sorted(storage_schemas_of(self.get_macro_resolver()).items()):
                lake = self._lake(catalog)
                loose = loose_storage(lake.catalog, schemas, age, now)
                found += loose if is_dry else drop_orphans(lake, loose)
        return as_json(found) if words == "json" else orphans_text(found)

    def _lake(self, catalog: str) -> Lake:
        """Return the ways to the tables of a catalog."""

        def spark(sql: str) -> Sequence[Sequence[object]]:
            _, cursor = self.connections.add_query(self.connections._add_query_comment(sql), auto_begin=False)
            return [tuple(row) for row in cursor.fetchall()]

        return Lake(self.catalog_reader_of(catalog), spark)


@contextmanager
def _for_dbt(what: str) -> Iterator[None]:
    try:
        yield
    except MaintenanceError as error:
        raise DbtRuntimeError(f"Cannot {what}: {error.cause}") from error
