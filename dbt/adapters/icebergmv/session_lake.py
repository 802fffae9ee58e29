"""A PySpark session, classic or Connect, as the lake that the engine works on. Needs no dbt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar, Union

from dbt.adapters.icebergmv.catalog_properties import CatalogSettings, catalog_settings
from dbt.adapters.icebergmv.catalog_readers import reader_for
from dbt.adapters.icebergmv.maintenance.catalog.over_spark.reader import SparkReader
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, InvalidConfig, NotReadable
from dbt.adapters.icebergmv.maintenance.lake import Lake
from dbt.adapters.icebergmv.maintenance.sql.names import TableName, parse_name
from dbt.adapters.icebergmv.maintenance.sql.queries import SHOW_SETTINGS
from dbt.adapters.icebergmv.maintenance.status.session.session_settings import meaning_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.session import SparkSession as ConnectSession

Session: TypeAlias = Union["SparkSession", "ConnectSession"]
Result = TypeVar("Result")


def parsed_view(name: str) -> TableName:
    """Return the three parts of a view's name, which is in backticks where needed. Raises NotReadable."""
    try:
        return parse_name(name)
    except ValueError as error:
        raise NotReadable(f"{error}. Name the view as catalog.schema.view.", subject="Cannot find the view") from error


def on_lake(spark: Session, catalog: str, work: Callable[[Lake], Result]) -> Result:
    """Return what some work on a catalog of the session gives.

    The catalog is opened with the session's own settings; where this process cannot read it, a session that keeps no
    tables in a cache reads it instead. Raises CatalogUnavailable, and what the work raises.
    """

    def run(sql: str) -> Sequence[Sequence[object]]:
        return spark.sql(sql).collect()

    try:
        return work(Lake(reader_for(_settings(spark, catalog)), run))
    except CatalogUnavailable:
        # With a cache, what is read through the session would be as old as that.
        if _keeps_tables(spark, catalog):
            raise
        return work(Lake(SparkReader(catalog, run), run))


def check_no_cache(spark: Session, catalog: str) -> None:
    """Refuse to write through a session that may know only former versions of a table. Raises InvalidConfig."""
    if _keeps_tables(spark, catalog):
        key = _cache_key(catalog)
        raise InvalidConfig(f"the session keeps the tables of {catalog} in a cache. Make it with {key} = false.")


@contextmanager
def settings_of_refresh(spark: Session, wanted: Mapping[str, str]) -> Iterator[None]:
    """Give the session the settings that a view is refreshed with, as far as they change what SQL means."""
    had = meaning_settings({str(row[0]): str(row[1]) for row in spark.sql(SHOW_SETTINGS).collect()})
    others = sorted(key for key in had.keys() | wanted.keys() if had.get(key) != wanted.get(key))
    try:
        for key in others:
            _set(spark, key, wanted.get(key))
        yield
    finally:
        for key in others:
            _set(spark, key, had.get(key))


def _set(spark: Session, key: str, value: str | None) -> None:
    if value is None:
        spark.conf.unset(key)
    else:
        spark.conf.set(key, value)


def _keeps_tables(spark: Session, catalog: str) -> bool:
    return str(spark.conf.get(_cache_key(catalog), None)).lower() != "false"


def _cache_key(catalog: str) -> str:
    return f"spark.sql.catalog.{catalog}.cache-enabled"


def _settings(spark: Session, catalog: str) -> CatalogSettings:
    """Return the catalog as the session is configured for it.

    SET lists the keys but hides secret values; the configuration itself has them in a classic session. A Connect
    server keeps them, so PyIceberg's own configuration (PYICEBERG_CATALOG__<NAME>__<KEY>) has to have them.
    """
    prefix = f"spark.sql.catalog.{catalog}."
    keys = [str(row[0]) for row in spark.sql(SHOW_SETTINGS).collect()]
    found = {key.removeprefix(prefix): spark.conf.get(key, None) for key in keys if key.startswith(prefix)}
    properties = {key: value for key, value in found.items() if value is not None}
    if not properties:
        raise CatalogUnavailable(
            f"this session has no settings {prefix}*. "
            "Name the view as catalog.schema.view, with a catalog of this session.",
            subject=f"Cannot read the catalog `{catalog}`",
        )
    return catalog_settings(catalog, None, properties, str(Path.cwd()))
