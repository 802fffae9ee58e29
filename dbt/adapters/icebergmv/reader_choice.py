"""Which way the catalog is read: directly, with PyIceberg in this process, or through Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.catalog.secrets import hide
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, InvalidCatalog, TableNotUnderstood

_MOST_SCHEMAS = 8
_MOST_TABLES = 3


@dataclass(frozen=True)
class ChosenReader:
    """A catalog reader; `how` says for people which it is and why.

    `unread` is why a catalog that the profile describes is not read as it says.
    """

    reader: CatalogReader
    how: str
    unread: str | None = None


@dataclass(frozen=True)
class Ways:
    """The two ways to a catalog; `elsewhere`: Spark runs on other machines, which may reach more than this one."""

    direct: Callable[[], CatalogReader]
    over_spark: Callable[[], CatalogReader]
    elsewhere: bool


def chosen_reader(wanted: str, ways: Ways, schema: str) -> ChosenReader:
    """Return the reader that the profile wants: `direct`, `spark`, or `auto`.

    `auto` is direct where this process can open the catalog and a file of one of its tables, in `schema` if there is
    one. Raises CatalogUnavailable when the catalog cannot be read in a way that is wanted.
    """
    if wanted == "spark":
        return ChosenReader(ways.over_spark(), "spark (`catalog_reader: spark` in the profile)")
    try:
        reader = ways.direct()
        namespaces = reader.namespaces() if wanted == "auto" else []
    except CatalogUnavailable as error:
        # A server that refuses PyIceberg refuses a Spark in the same process, too.
        if wanted == "direct" or not (ways.elsewhere or isinstance(error, InvalidCatalog)):
            raise
        return _over_spark_instead(ways.over_spark(), error)
    try:
        if wanted == "auto":
            _open_a_file(reader, [schema, *(name for name in namespaces if name != schema)])
    except CatalogUnavailable as error:
        return _over_spark_instead(ways.over_spark(), error)
    # Readers are one module a kind of catalog.
    return ChosenReader(reader, f"direct (PyIceberg, {type(reader).__module__.rsplit('.', 1)[-1]})")


def _over_spark_instead(reader: CatalogReader, why: CatalogUnavailable) -> ChosenReader:
    try:
        reader.namespaces()
    except CatalogUnavailable as error:
        # What is wrong with a catalog that is described is better said by who opens it than by Spark.
        raise (error if isinstance(why, InvalidCatalog) else why) from error
    return ChosenReader(reader, f"spark ({why})", None if isinstance(why, InvalidCatalog) else str(why))


def _open_a_file(reader: CatalogReader, namespaces: Sequence[str]) -> None:
    """Read a file of a table, in the first namespace that has one.

    Raises CatalogUnavailable when there are tables, and the file of none can be read.
    """
    failure: CatalogUnavailable | None = None
    tried = 0
    for namespace in namespaces[:_MOST_SCHEMAS]:
        for entry in reader.entries(namespace):
            if entry.kind == "view" or tried == _MOST_TABLES:
                continue
            tried += 1
            try:
                _open_file_of(reader, namespace, entry.name)
            except TableNotUnderstood:
                # Its metadata were read.
                continue
            except CatalogUnavailable as error:
                failure = failure or error
            else:
                return
    if failure is not None:
        raise failure


def _open_file_of(reader: CatalogReader, namespace: str, name: str) -> None:
    table = reader.table(namespace, name)
    if table is None:
        return
    snapshot = table.current_snapshot()
    location = (snapshot and snapshot.manifest_list) or table.metadata_location
    try:
        with table.io.new_input(location).open() as stream:
            stream.read(1)
    except Exception as error:
        # Each file system fails in kinds of its own, and so does a missing package for one.
        why = hide(str(error), ())[:300]
        raise CatalogUnavailable(
            f"this process cannot read {location} ({why}). Give it access, or let Spark read it.",
            subject=f"Cannot read the catalog `{reader.name}`",
        ) from error
