"""The adapter's side of the operations that change something: the project in, one line a table or view out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from dbt.adapters.base import available
from dbt.adapters.base.meta import AdapterMeta

from dbt.adapters.icebergmv.maintenance.errors import InvalidConfig, naming
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.operations.expiry import snapshots_read
from dbt.adapters.icebergmv.maintenance.operations.orphans import drop_orphans, loose_storage
from dbt.adapters.icebergmv.maintenance.operations.orphans_text import orphans_text
from dbt.adapters.icebergmv.maintenance.operations.rollback import rollback
from dbt.adapters.icebergmv.maintenance.operations.upkeep import UpkeepOptions, upkeep
from dbt.adapters.icebergmv.maintenance.operations.upkeep_text import upkeep_text
from dbt.adapters.icebergmv.maintenance.operations.versions import versions_of
from dbt.adapters.icebergmv.maintenance.operations.versions_text import rolled_back_text, versions_text
from dbt.adapters.icebergmv.maintenance.reports.as_json import as_json
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, show
from dbt.adapters.icebergmv.maintenance.status.configured.config_words import one_of, true_or_false
from dbt.adapters.icebergmv.maintenance.status.configured.time_spans import seconds_of
from dbt.adapters.icebergmv.project_models import (
    MATERIALIZED_VIEW,
    is_wanted,
    like,
    models_of,
    storage_schemas_of,
    unmatched,
    wanted_names,
)
from dbt.adapters.icebergmv.run_operation import FORMATS, operation

if TYPE_CHECKING:
    from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader


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
        with operation("drop orphaned storage tables"):
            words, is_dry = one_of(FORMATS, "format", format), true_or_false("dry_run", dry_run, True)
            age, now = seconds_of("older_than", older_than), datetime.now(timezone.utc)
            # A catalog that cannot be read is an error before anything is dropped.
            loose = [
                (lake := self._lake(catalog), loose_storage(lake.catalog, schemas, age, now))
                for catalog, schemas in sorted(storage_schemas_of(self.get_macro_resolver()).items())
            ]
            found = [one for lake, some in loose for one in (some if is_dry else drop_orphans(lake, some))]
        return as_json(found) if words == "json" else orphans_text(found)

    @available.parse(lambda *_, **__: "")
    def maintain_materialized_views(
        self,
        select: object = None,
        dry_run: object = False,
        older_than: object = "1 day",
        format: object = "table",  # noqa: A002
    ) -> str:
        """Compact the storage of the project's views, drop and expire what they do not read; return what was done.

        `select` names some of them. Snapshots that readers got within `older_than` stay. `format` is table or json.
        """
        with operation("maintain materialized views"):
            words, is_dry = one_of(FORMATS, "format", format), true_or_false("dry_run", dry_run, False)
            options = UpkeepOptions(seconds_of("older_than", older_than), dry_run=is_dry)
            now, views, every = datetime.now(timezone.utc), self._views(select), self._views(None)
            lakes = {catalog: self._lake(catalog) for catalog in dict.fromkeys(view[0] for view in views)}
            needed = {c: snapshots_read(lake.catalog, (v for v in every if v[0] == c)) for c, lake in lakes.items()}
            found = [upkeep(lakes[view[0]], view, options, now, needed[view[0]]) for view in views]
        return as_json(found) if words == "json" else upkeep_text(found, dry_run=is_dry)

    @available.parse(lambda *_, **__: "")
    def rollback_materialized_view(self, model: object = None, to: object = None, format: object = "table") -> str:  # noqa: A002
        """Put the view of a model back to the rows of a version; without `to`, return the versions that it keeps.

        `to` is the id of a version, or of the snapshot that it reads. `format` is table or json.
        """
        with operation("roll back a materialized view"):
            words = one_of(FORMATS, "format", format)
            views = self._views(model) if isinstance(model, str) and model else []
            if len(views) != 1:
                raise InvalidConfig(f"model is {model!r}. Name one materialized view of the project.")
            lake = self._lake(views[0][0])
            if to is None:
                with naming("roll back", show(views[0])):
                    versions = versions_of(lake.catalog, views[0]).versions
                return as_json(versions) if words == "json" else versions_text(versions)
            if isinstance(to, str) and to.isascii() and to.isdecimal():
                to = int(to)
            if isinstance(to, bool) or not isinstance(to, int):
                raise InvalidConfig(f"to is {to!r}. Give the number of a version. Leave `to` out to see them.")
            done = rollback(lake, views[0], to)
        return as_json([done]) if words == "json" else rolled_back_text(done)

    def _views(self, select: object) -> list[TableName]:
        """Return the materialized views of the project that are wanted. Raises InvalidConfig for names of none."""
        wanted = wanted_names(select)
        models = [m for m in models_of(self.get_macro_resolver()) if m.materialized == MATERIALIZED_VIEW]
        names = [m.names for m in models]
        for name in unmatched(names, wanted):
            raise InvalidConfig(
                f"{name!r} is no materialized view of the project. Name another one{like(names, name)}."
            )
        return [m.relation for m in models if is_wanted(m.names, wanted)]

    def _lake(self, catalog: str) -> Lake:
        """Return the ways to the tables of a catalog."""

        def spark(sql: str) -> Sequence[Sequence[object]]:
            _, cursor = self.connections.add_query(self.connections._add_query_comment(sql), auto_begin=False)
            return [tuple(row) for row in cursor.fetchall()]

        return Lake(self.catalog_reader_of(catalog), spark)
