"""Which way a catalog is read, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from dbt.adapters.icebergmv.maintenance.catalog.opening import open_catalog
from dbt.adapters.icebergmv.maintenance.catalog.reader import CatalogReader
from dbt.adapters.icebergmv.maintenance.errors import CatalogUnavailable, InvalidCatalog, TableNotUnderstood
from dbt.adapters.icebergmv.reader_choice import ChosenReader, Ways, chosen_reader
from tests.support.lake_views import SCHEMA
from tests.support.stub_catalog import StubCatalog


@dataclass
class Unreachable(StubCatalog):
    """A catalog that can be opened, and not read."""

    asked: list[str] = field(default_factory=list)

    def namespaces(self) -> list[str]:
        self.asked.append("namespaces")
        raise CatalogUnavailable("Spark is down. Start it.", subject="Cannot read the catalog `lake`")


@dataclass(frozen=True)
class Disk:
    catalog: SqlCatalog
    reader: CatalogReader

    def table(self, namespace: str, name: str = "t") -> Path:
        """Make a table and return its metadata file."""
        self.catalog.create_namespace_if_not_exists(namespace)
        table = self.catalog.create_table((namespace, name), SCHEMA)
        return Path(unquote(urlsplit(table.metadata_location).path))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    uri = f"sqlite:///{tmp_path}/catalog.db"
    catalog = SqlCatalog("lake", uri=uri, warehouse=tmp_path.as_uri())
    yield Disk(catalog, open_catalog("lake", {"type": "sql", "uri": uri}))
    catalog.close()


SPARK = StubCatalog()


def over_spark() -> CatalogReader:
    return SPARK


def choose(
    wanted: str,
    direct: Callable[[], CatalogReader],
    through_spark: Callable[[], CatalogReader] = over_spark,
    elsewhere: bool = True,
) -> ChosenReader:
    return chosen_reader(wanted, Ways(direct, through_spark, elsewhere), "ns")


def failing(error: CatalogUnavailable) -> Callable[[], CatalogReader]:
    def direct() -> CatalogReader:
        raise error

    return direct


def undescribed() -> InvalidCatalog:
    return InvalidCatalog("the profile says nothing. Say it.", subject="Cannot open the catalog `lake`")


@pytest.mark.parametrize("wanted", ["auto", "direct"])
def test_what_this_process_can_read_is_read_directly(disk: Disk, wanted: str) -> None:
    for namespace in ("other", "ns"):
        disk.table(namespace)
        chosen = choose(wanted, lambda: disk.reader)
        assert (chosen.reader, chosen.how, chosen.unread) == (disk.reader, "direct (PyIceberg, jdbc)", None)


def test_an_empty_catalog_is_read_directly(disk: Disk) -> None:
    assert choose("auto", lambda: disk.reader).reader is disk.reader


@pytest.mark.parametrize("namespace", ["ns", "other"])
def test_files_out_of_reach_are_read_through_spark(disk: Disk, namespace: str) -> None:
    disk.table(namespace).unlink()
    chosen = choose("auto", lambda: disk.reader)
    assert chosen.reader is SPARK
    assert chosen.how.startswith("spark (Cannot read the catalog `lake`: ")
    assert chosen.unread is not None
    assert chosen.unread in chosen.how
    assert choose("direct", lambda: disk.reader).reader is disk.reader


def test_a_table_that_pyiceberg_does_not_understand_is_no_reason(disk: Disk) -> None:
    file = disk.table("ns")
    file.write_text(file.read_text().replace('"type":"long"', '"type":"variant"'))
    with pytest.raises(TableNotUnderstood):
        disk.reader.table("ns", "t")
    assert choose("auto", lambda: disk.reader).reader is disk.reader


def test_one_broken_table_is_no_reason(disk: Disk) -> None:
    disk.table("ns", "a").unlink()
    disk.table("ns", "b")
    assert choose("auto", lambda: disk.reader).reader is disk.reader


@pytest.mark.parametrize("error", [CatalogUnavailable("no way. Go.", subject="Cannot open it"), undescribed()])
def test_what_cannot_be_opened_is_read_through_spark_or_is_an_error(error: CatalogUnavailable) -> None:
    chosen = choose("auto", failing(error))
    assert (chosen.reader, chosen.how) == (SPARK, f"spark ({error})")
    assert chosen.unread == (None if isinstance(error, InvalidCatalog) else str(error))
    with pytest.raises(CatalogUnavailable, match=str(error)):
        choose("direct", failing(error))


def test_a_catalog_that_refuses_this_process_is_not_tried_with_a_spark_in_it() -> None:
    with pytest.raises(CatalogUnavailable, match="wrong password"):
        choose("auto", failing(CatalogUnavailable("wrong password")), elsewhere=False)
    with pytest.raises(CatalogUnavailable, match="Spark is down"):
        choose("auto", Unreachable, elsewhere=False)
    assert choose("auto", failing(undescribed()), elsewhere=False).reader is SPARK


def test_files_that_only_a_spark_in_this_process_can_read_are_read_with_it(disk: Disk) -> None:
    disk.table("ns").unlink()
    assert choose("auto", lambda: disk.reader, elsewhere=False).reader is SPARK


def test_asked_for_spark_nothing_is_opened() -> None:
    chosen = choose("spark", failing(undescribed()), Unreachable)
    assert chosen.how == "spark (`catalog_reader: spark` in the profile)"
    assert isinstance(chosen.reader, Unreachable)
    assert chosen.reader.asked == []


def test_when_neither_way_leads_there_the_better_reason_is_given() -> None:
    """A catalog that is described is best known to who opens it; of one that is not, only Spark knows."""
    with pytest.raises(CatalogUnavailable, match="no such host"):
        choose("auto", failing(CatalogUnavailable("no such host")), Unreachable)
    with pytest.raises(CatalogUnavailable, match="Spark is down"):
        choose("auto", failing(undescribed()), Unreachable)
